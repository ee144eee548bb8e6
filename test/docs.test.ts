import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { vendorPages } from "../scripts/vendor-pages.ts";
import { type ErrorKind, errorKinds } from "../src/base/errors.ts";
import { areas, type Scope, scopes } from "../src/people/role.ts";
import { accesses } from "../src/platform/http/route.ts";
import { routes } from "../src/platform/routes.ts";

const docs = join(import.meta.dir, "../docs");
const text = readFileSync(join(docs, "errors.md"), "utf8");
const rows = [...text.matchAll(/^\| (\d{3}) \| (\w+) \| (\w+) \| (.+) \| (.+) \|$/gm)].map(
  ([, status, type, code]) => `${status} ${type} ${code}`,
);

const inCode = Object.entries<ErrorKind>(errorKinds).flatMap(
  ([code, { status, type, statusOffChat }]) => [
    `${status} ${type} ${code}`,
    ...(statusOffChat === undefined ? [] : [`${statusOffChat} invalid_request_error ${code}`]),
  ],
);

test("docs/errors.md has every error of the code, with its status and type", () => {
  expect(inCode.filter((row) => !rows.includes(row))).toEqual([]);
});

test("docs/errors.md has no error that the code does not have, and none twice", () => {
  expect(rows.filter((row) => !inCode.includes(row))).toEqual([]);
  expect(new Set(rows).size).toBe(rows.length);
});

test("docs/providers is what the code knows: npm run providers:docs writes it", async () => {
  const folder = join(docs, "providers");
  const written = readdirSync(folder)
    .toSorted()
    .map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  expect(written).toEqual([...(await vendorPages())].toSorted(([a], [b]) => (a < b ? -1 : 1)));
});

const decisionsFolder = join(docs, "decisions");
const decisionFiles = readdirSync(decisionsFolder).filter((name) => name !== "README.md");

interface Decision {
  readonly number: string;
  readonly row: string;
}

/** Undefined where something is missing. */
function readDecision(file: string): Decision | undefined {
  const text = readFileSync(join(decisionsFolder, file), "utf8");
  const head =
    /^# (\d{4})\. (.+)\n\n- Date: (\d{4}-\d{2}-\d{2})\n- Status: (accepted|superseded by \[(\d{4})\]\(\5-[a-z0-9-]+\.md\))\n/.exec(
      text,
    );
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  if (head === null || headings.join() !== "Context,Decision,Consequences") return undefined;
  const [, number = "", title, date, status] = head;
  return file.startsWith(`${number}-`)
    ? { number, row: `| ${number} | [${title}](${file}) | ${date} | ${status} |` }
    : undefined;
}

test("every decision has a number, a date and a status, and is in the index with them", () => {
  const decisions = decisionFiles.toSorted().map((file) => ({ file, read: readDecision(file) }));
  expect(decisions.filter(({ read }) => read === undefined).map(({ file }) => file)).toEqual([]);
  // Work side by side reserves ranges, so numbers may be missing. None is there twice.
  const numbers = decisions.map(({ read }) => Number(read?.number));
  expect(numbers).toEqual([...new Set(numbers)]);
  const index = readFileSync(join(decisionsFolder, "README.md"), "utf8");
  const listed = index.split("\n").filter((line) => /^\| \d/.test(line));
  expect(listed).toEqual(decisions.map(({ read }) => read?.row ?? ""));
});

const place = String.raw`(?:src|test|bench|docs|scripts|console|engine)/[\w./-]*[\w/-]`;

/** What the examples of new files import. */
function importsOf(recipe: string): readonly string[] {
  const files = [...recipe.matchAll(/^ *```\w+\n *\/\/ (\S+) \(new\)\n([\s\S]*?)^ *```$/gm)];
  return files.flatMap(([, path = "", code = ""]) =>
    [...code.matchAll(/ from "(\..+)";$/gm)].map(([, to = ""]) => join(dirname(path), to)),
  );
}

/** What a recipe names: in its sentences, above its examples, and in its commands. */
function pathsOf(recipe: string) {
  const fences = [...recipe.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm)];
  const prose = fences.reduce((left, [fence]) => left.replace(fence, ""), recipe);
  const heads = fences.flatMap(([, , code = ""]) => [
    ...code.matchAll(new RegExp(`^ *(?://|#) (${place})( \\(new\\))?`, "gm")),
  ]);
  const commands = fences.flatMap(([, language, code = ""]) =>
    language === "sh" ? [...code.matchAll(new RegExp(`(?<= )${place}`, "g"))] : [],
  );
  return {
    created: heads.flatMap(([, path = "", mark]) => (mark === undefined ? [] : [path])),
    named: [
      ...heads.flatMap(([, path = "", mark]) => (mark === undefined ? [path] : [])),
      ...[...prose.matchAll(new RegExp(`\`(${place})\``, "g"))].map(([, path = ""]) => path),
      ...commands.map(([path]) => path),
      ...importsOf(recipe),
    ],
  };
}

test("every file that docs/contributing names exists, or is created by the recipe", () => {
  const folder = join(docs, "contributing");
  const isThere = (path: string) => existsSync(join(docs, "..", path));
  for (const file of readdirSync(folder)) {
    const { named, created } = pathsOf(readFileSync(join(folder, file), "utf8"));
    const missing = named.filter(
      (path) => !isThere(path) && !created.some((one) => one.startsWith(path)),
    );
    expect([file, missing]).toEqual([file, []]);
    expect(named.length).toBeGreaterThan(3);
  }
});

/** The rows of the table in docs/security.md whose first cell is a name of the code. */
function securityRows(first: "role" | "scope"): readonly (readonly string[])[] {
  const [, table = ""] =
    readFileSync(join(docs, "security.md"), "utf8").split(`\n| ${first} | `, 2) ?? [];
  return (table.split("\n\n", 1)[0] ?? "").split("\n").flatMap((line) => {
    const cells = line.split("|").map((cell) => cell.trim());
    return /^`[\w:]+`$/.test(cells[1] ?? "") ? [cells.slice(1, -1)] : [];
  });
}

/** The roles that the requests of a scope need. */
function rolesOf(scope: Scope): string {
  // Served beside the table of routes.
  if (scope === "metrics:read") return "operator";
  const own = routes.filter(
    (route) =>
      "area" in route &&
      scope === `${route.area}:${route.name.startsWith("GET ") ? "read" : "write"}`,
  );
  const found = accesses.filter((access) => own.some((route) => route.access === access));
  return found.join(", ") || "none";
}

test("docs/security.md has every role and scope, and what needs it as the code does", () => {
  expect(securityRows("role").map(([role]) => role)).toEqual(accesses.map((one) => `\`${one}\``));
  expect(securityRows("scope").map(([scope, role]) => `${scope} ${role}`)).toEqual(
    scopes.map((scope) => `\`${scope}\` ${rolesOf(scope)}`),
  );
  for (const row of [...securityRows("role"), ...securityRows("scope")])
    expect([row[0], row.length, row.includes("")]).toEqual([
      row[0],
      row[0]?.includes(":") ? 6 : 5,
      false,
    ]);
});

test("a token that asks for a scope without a row in docs/security.md does not exist", () => {
  const used = new Set(routes.flatMap((route) => ("area" in route ? [route.area] : [])));
  expect([...used, "metrics"].toSorted()).toEqual(areas.toSorted());
});
