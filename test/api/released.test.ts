import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Change, readChanges } from "../../src/wire/changes.ts";
import { toOpenApi } from "../../src/wire/v1/openapi/openapi.ts";
import { breakingChanges } from "./compare.ts";
import { isSchema, type Schema } from "./schema-tree.ts";

/** `docs/api/v1-DATE.json`: what clients were promised on that day. The newest counts. */
const folder = join(import.meta.dir, "../../docs/api");
const releases = readdirSync(folder).flatMap((name) => {
  const date = /^v1-(\d{4}-\d{2}-\d{2})\.json$/.exec(name)?.[1];
  return date === undefined ? [] : [{ date, name }];
});
const last = releases.toSorted((a, b) => (a.date < b.date ? 1 : -1))[0];
if (last === undefined) throw new Error("docs/api has no release of v1");
const released: Schema = JSON.parse(readFileSync(join(folder, last.name), "utf8"));
const current: Schema = JSON.parse(JSON.stringify(toOpenApi()));
const today = new Date().toISOString().slice(0, 10);

/** Deprecated fields and operations, by the names that changes.yaml calls them. */
function deprecations(document: Schema): readonly { readonly name: string; readonly of: Schema }[] {
  const schemas = inside(document, "components", "schemas");
  const operations = Object.values(inside(document, "paths")).flatMap((methods) =>
    Object.values(isSchema(methods) ? methods : {}).filter(isSchema),
  );
  return [
    ...Object.entries(schemas).flatMap(([schema, content]) =>
      Object.entries(isSchema(content) ? inside(content, "properties") : {}).map(([field, of]) => ({
        name: `${schema}.${field}`,
        of: isSchema(of) ? of : {},
      })),
    ),
    ...operations.map((of) => ({ name: String(of["operationId"]), of })),
  ].filter(({ of }) => of["deprecated"] === true);
}

function inside(schema: Schema, ...steps: readonly string[]): Schema {
  return steps.reduce<Schema>((found, step) => {
    const next = found[step];
    return isSchema(next) ? next : {};
  }, schema);
}

/** A deprecation that does not tell, in both places, what to use instead and until when. */
function untold(document: Schema, changes: readonly Change[]): readonly string[] {
  return deprecations(document).flatMap(({ name, of }) => {
    const found: string[] = [];
    if (typeof of["x-replacement"] !== "string") found.push(`${name} has no x-replacement`);
    if (!/^\d{4}-\d{2}-\d{2}$/.test(String(of["x-removal-date"])))
      found.push(`${name} has no x-removal-date`);
    const isPublished = changes.some(
      ({ kind, target, removal_date: removal }) =>
        kind === "deprecated" && target === name && removal === of["x-removal-date"],
    );
    return isPublished ? found : [...found, `${name} is not in changes.yaml with the same date`];
  });
}

/**
 * Where the released description allowed what the server has always refused, or what no provider
 * takes: an assistant message that says nothing, biases that are not numbers from -100 to 100, and
 * an empty text as input (in the two forms that took it: an image and a list of images).
 */
const corrections = {
  "2026-11-15": [
    "POST /chat/completions request.messages[]: a form is not allowed any more, or is new",
    "POST /chat/completions request.logit_bias: additionalProperties",
    "POST /embeddings request.input: a form is not allowed any more, or is new",
    "POST /embeddings request.input: a form is not allowed any more, or is new",
  ],
} as const;

test("version 1 keeps every promise of its last release, but for corrections of the description", () => {
  const known: Readonly<Record<string, readonly string[]>> = corrections;
  expect(breakingChanges({ before: released, after: current, today })).toEqual([
    ...(known[last.date] ?? []),
  ]);
});

/** Changes since a release that nobody was told of. */
function unpublished(options: {
  readonly before: Schema;
  readonly after: Schema;
  readonly releasedOn: string;
  readonly changes: readonly Change[];
}): boolean {
  const { before, after, releasedOn, changes } = options;
  const isTold = changes.some(({ version, date }) => version === "v1" && date > releasedOn);
  return JSON.stringify(before) !== JSON.stringify(after) && !isTold;
}

test("what has changed since then is in docs/api/changes.yaml, with a later date", () => {
  const changes = readChanges();
  const releasedOn = last.date;
  expect(unpublished({ before: released, after: current, releasedOn, changes })).toBe(false);
  const after = { ...current, more: true };
  const entry = (date: string) => [{ date, version: "v1", kind: "added" as const, what: "more" }];
  const told = (date: string) =>
    unpublished({ before: released, after, releasedOn, changes: entry(date) });
  expect([told(releasedOn), told("9999-01-01")]).toEqual([true, false]);
});

test("what is deprecated tells its replacement and its removal date, here and in the changelog", () => {
  expect(untold(current, readChanges())).toEqual([]);
});

describe("the second test would fail", () => {
  const withField = (extra: Schema) => {
    const copy = structuredClone(current);
    const user = inside(
      copy,
      "components",
      "schemas",
      "ChatCompletionRequest",
      "properties",
      "user",
    );
    Object.assign(user, { deprecated: true, ...extra });
    return copy;
  };
  const announced = readChanges(`
- date: "2026-11-20"
  version: v1
  kind: deprecated
  what: user goes
  target: ChatCompletionRequest.user
  replacement: metadata
  removal_date: "2027-05-20"
`);

  test("on a deprecated field that tells nothing, or another date than the changelog", () => {
    expect(untold(withField({}), [])).toHaveLength(3);
    const told = { "x-replacement": "metadata", "x-removal-date": "2027-05-20" };
    expect(untold(withField(told), [])).toHaveLength(1);
    expect(untold(withField({ ...told, "x-removal-date": "2027-06-01" }), announced)).toHaveLength(
      1,
    );
    expect(untold(withField(told), announced)).toEqual([]);
  });

  test("on a deprecated operation that tells nothing", () => {
    const copy = structuredClone(current);
    Object.assign(inside(copy, "paths", "/audio/speech", "post"), { deprecated: true });
    expect(untold(copy, [])).toContain("createSpeech has no x-removal-date");
  });
});
