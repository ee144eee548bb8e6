import { afterAll, describe, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What real clients did against the real server. Every suite saves its result here, and
 * `docs/compatibility.md` is written from all of them: by the tests, never by hand.
 */
export interface ClientResult {
  readonly client: string;
  readonly version: string;
  readonly language: "TypeScript" | "Python" | "Go";
  /** The command that runs it. */
  readonly command: string;
  readonly checks: Readonly<Record<string, "passed" | "failed">>;
}

const root = join(import.meta.dir, "..", "..");
const resultsPath = join(import.meta.dir, "results.json");
const pagePath = join(root, "docs", "compatibility.md");

export type Check = (what: string, run: () => Promise<void>) => void;

/** The checks of one npm client: each a test, and a line of the page. `beside`: what it runs in. */
export function clientSuite(
  packageName: string,
  define: (check: Check) => void,
  { beside }: { readonly beside?: string } = {},
): void {
  const checks: Record<string, "passed" | "failed"> = {};
  const defined: string[] = [];
  describe(packageName, () => {
    define((what, run) => {
      if (defined.includes(what)) throw new Error(`two checks are called "${what}"`);
      defined.push(what);
      test(what, async () => {
        checks[what] = "failed";
        await run();
        checks[what] = "passed";
      });
    });
    afterAll(() => {
      // A run of some of the checks says nothing about the others.
      if (defined.every((what) => checks[what] !== undefined))
        saveResult({
          client: packageName,
          version: `${installedVersion(packageName)}${
            beside === undefined ? "" : ` in ${beside} ${installedVersion(beside)}`
          }`,
          language: "TypeScript",
          command: "npm test",
          checks,
        });
    });
  });
}

export function saveResult(result: ClientResult): void {
  const others = readResults().filter(({ client }) => client !== result.client);
  const results = [...others, result].toSorted(
    (a, b) => languages.indexOf(a.language) - languages.indexOf(b.language) || compare(a, b),
  );
  writeChanged(resultsPath, `${JSON.stringify(results, undefined, 2)}\n`);
  writeChanged(pagePath, toPage(results));
}

export function readResults(): readonly ClientResult[] {
  return existsSync(resultsPath) ? JSON.parse(readFileSync(resultsPath, "utf8")) : [];
}

const languages: readonly ClientResult["language"][] = ["TypeScript", "Python", "Go"];
const compare = (a: ClientResult, b: ClientResult) => (a.client < b.client ? -1 : 1);

export function toPage(results: readonly ClientResult[]): string {
  const rows = results.map((result) => {
    const all = Object.values(result.checks);
    const passed = all.filter((outcome) => outcome === "passed").length;
    const said = passed === all.length ? `all ${passed} passed` : `**${passed} of ${all.length}**`;
    return `| ${result.client} | ${result.version} | ${result.language} | \`${result.command}\` | ${said} |`;
  });
  const lists = results.map(({ client, checks }) => {
    const lines = Object.entries(checks).map(
      ([what, outcome]) => `- ${outcome === "passed" ? "" : "**failed:** "}${what}`,
    );
    return `## ${client}\n\n${lines.join("\n")}\n`;
  });
  return `# Clients that work unchanged

Each was pointed at a running gateway with its base URL and a key, and nothing else unless a line says so. Behind
the gateway were the embedded models or, where it matters what a model says, recorded replies of vendors. This page
is written by the tests as they run; a check that fails says so here.

| client | version | language | run by | result |
|---|---|---|---|---|
${rows.join("\n")}

${lists.join("\n")}`;
}

function installedVersion(packageName: string): string {
  const path = join(root, "node_modules", packageName, "package.json");
  return String(JSON.parse(readFileSync(path, "utf8")).version);
}

function writeChanged(path: string, text: string): void {
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}
