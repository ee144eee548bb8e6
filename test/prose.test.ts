/** The words that we do not use: in documents, messages, help, log lines and the console. */

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");

const units = "request|minute|call|chunk|second|day|month|hour|week|million";

/** What is written, and what to write in its place. */
const avoided: readonly (readonly [RegExp, string])[] = [
  [/\bunless told\b/i, "default: …"],
  [/\bso (?:many|long)\b(?! as)/i, "the number, or the time"],
  [/\banew\b/i, "again"],
  [/\bunder way\b/i, "in flight, running"],
  [/\bin force\b/i, "active, current"],
  [/\b(?:let|lets|letting) in\b/i, "admitted"],
  [/\btaken? back\b/i, "rolled back, withdrawn"],
  [/\bat the door\b/i, "before admission"],
  [/\baskings?\b/i, "attempt, request"],
  [/\bmend(?:s|ed|ing)?\b/i, "fix"],
  [/\bblanks\b/i, "spaces"],
  [/\b(?:is|are|was|were|be|been) told\b/i, "gets, sees, receives"],
  [/\btells?\b/i, "returns, reports, shows"],
  [/\b(?:nobody|somebody|anybody)\b/i, "no user, another user, anyone"],
  [/\bwhom\b/i, "who, or the noun"],
  [/\bwhoever\b/i, "the noun: the user who …"],
  [/\b(?:is|are|was|were) (?:packed|made)\b(?! (?:of|up|from)\b)/i, "compressed, created"],
  [/\bof that name\b/i, '"X" does not exist'],
  [
    /\b(?:is|are) no (?:number|date|model|text|key|such|whole|valid|vendor|address)\b/i,
    "is not a …",
  ],
  [
    new RegExp(
      `(?<!\\w)(?:lines?|items?|tokens?|requests|calls|cents?|dollars?|USD|µs|ms|bytes) an? (?:${units}|page)\\b`,
      "i",
    ),
    "per",
  ],
  [/\bwho (?:names|leaves|asks|calls|pays)\b/i, "the noun: a caller who …"],
  [/\bwhat lacks\b/i, "the noun"],
  [/\bbook(?:ed|s)? money\b/i, "add credit"],
  [/\bwords? too many\b/i, "unexpected arguments"],
  [
    /\b(?:catalogues?|colours?|behaviours?|licences?|favourites?|recognis\w+|organis\w+)\b/i,
    "American spelling",
  ],
  [/(?<![\w/.])\.\/svc\b/, "svc"],
];

/** What is right as it is: an example of a prompt, and the one place that names the clone's command. */
const allowed = /Tell me a joke|In a clone, the command is \.\/svc/g;
/** Words with their pronunciation. */
const isLexicon = (path: string) => path.endsWith("phonemes/lexicon.ts");

interface Text {
  readonly place: string;
  readonly text: string;
}

function problemsOf({ place, text }: Text): readonly string[] {
  return avoided.flatMap(([pattern, better]) => {
    const found = pattern.exec(text);
    if (found === null) return [];
    const around = text
      .slice(Math.max(0, found.index - 40), found.index + 60)
      .replaceAll("\n", " ");
    return [`${place}: "${found[0]}" (better: ${better}) in: ${around}`];
  });
}

function filesOf(folder: string, pattern: RegExp): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter(
      (path) => pattern.test(path) && !/(^|\/)(node_modules|dist|fixtures|recordings)\//.test(path),
    );
}

/** Paragraphs of a page, without its examples of code. A phrase may begin on one line and end on the next. */
function paragraphsOf(page: string): readonly string[] {
  return page
    .replaceAll(/^( *)```[^]*?^\1```/gm, "")
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/`[^`]*`/g, "`…`").replaceAll(/\s+/g, " "));
}

/**
 * The texts of a source file. The transpiler drops comments and types, and makes strings of the
 * texts between tags. Single lowercase words are texts only as a property or child that is shown.
 */
function textsOf(source: string, loader: "ts" | "tsx"): readonly string[] {
  const code = new Bun.Transpiler({ loader }).transformSync(source);
  const literals =
    code.match(
      /(?:\b(?:children|label|title|description|placeholder|text|message|about): )?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/g,
    ) ?? [];
  return literals
    .filter((literal) => /[a-z] [a-z]|^.[A-Z][a-z]+.$|^\w+: /.test(literal))
    .map((text) => text.replaceAll(allowed, "").replaceAll(/\s+/g, " "));
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

describe("no avoided word is", () => {
  test("in a page", () => {
    const pages = [
      ...readdirSync(root).filter((name) => name.endsWith(".md")),
      ...["docs", "src", "test", "engine", "console", "bench"].flatMap((folder) =>
        filesOf(folder, /\.md$/),
      ),
    ];
    expect(pages.length).toBeGreaterThan(50);
    const texts = pages.flatMap((path) =>
      paragraphsOf(read(path)).map((text) => ({ place: path, text })),
    );
    expect(texts.flatMap(problemsOf)).toEqual([]);
  });

  test("in a message, a help text or the console", () => {
    const files = ["src", "console/src", "engine", "scripts"].flatMap((folder) =>
      filesOf(folder, /(?<!\.test)\.(ts|tsx|mjs)$/).filter(
        (path) => !path.includes("/test/") && !isLexicon(path),
      ),
    );
    expect(files.length).toBeGreaterThan(500);
    const texts = files.flatMap((path) =>
      textsOf(read(path), path.endsWith(".tsx") ? "tsx" : "ts").map((text) => ({
        place: path,
        text,
      })),
    );
    expect(texts.flatMap(problemsOf)).toEqual([]);
  });
});

const isAvoided = (text: string) => problemsOf({ place: "here", text }).length > 0;

describe("the words are found", () => {
  test.each([
    ["The request is under way.", true],
    ["tokens a minute", true],
    ["4 µs a chunk", true],
    ["30 requests a minute", true],
    ["Whom the gateway calls", true],
    ["a request that a minute ago was new", false],
    ["The request is in flight.", false],
    ["tokens per minute", false],
  ])("%s: %p", (text, expected) => {
    expect(isAvoided(text)).toBe(expected);
  });

  test.each([
    ["A call that is under\nway ends.", true],
    ["- one item\n- a price in\n  force", true],
    ["```sh\necho under way\n```", false],
    ["- step:\n\n  ```sh\n  echo colour\n  ```\n\nDone.", false],
    ["- step:\n\n  ```sh\n  true\n  ```\n\nDone colour.", true],
    ["The field `colour` is a boolean.", false],
  ])("in a page: %j: %p", (page, expected) => {
    expect(paragraphsOf(page).some(isAvoided)).toBe(expected);
  });

  test.each([
    ['throw new Error("The call is under way.");', true],
    ["const text = 'the call is under way';", true],
    ["const text = `Call ${id} is\n under way`;", true],
    ["const view = <Text>colour</Text>;", true],
    ['const view = <Text label="colour">{x}</Text>;', true],
    ["const view = <Text>The call is{' '}under way.</Text>;", true],
    ["// The call is under way.\nconst call = 1;", false],
    ['const mode = "colour";', false],
    ["const underWay = calls.size;", false],
  ])("in code: %j: %p", (source, expected) => {
    expect(textsOf(source, "tsx").some(isAvoided)).toBe(expected);
  });
});
