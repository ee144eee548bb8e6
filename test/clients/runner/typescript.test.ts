import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checksIn, runTestFiles } from "./typescript.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-suites-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const imports = `import { afterAll, beforeAll, beforeEach, describe, test } from "bun:test";`;
const suites: Readonly<Record<string, string>> = {
  mixed: `
    test('says "a < b" & more', () => {});
    test("throws", () => { throw new Error('no "<b>" & more'); });
    test["skip"]("skipped", () => {});`,
  late: `
    const first = Promise.withResolvers();
    const ended = Promise.withResolvers();
    test("ends late", async () => { await first.promise; setImmediate(ended.resolve); });
    test("in time", async () => { first.resolve(); await ended.promise; });`,
  unprepared: `
    beforeAll(() => { throw new Error("not ready"); });
    test("one", () => {});
    test("two", () => {});`,
  "each unprepared": `
    beforeEach(() => { throw new Error("not ready"); });
    test("one", () => {});`,
  "not stopped": `
    afterAll(() => { throw new Error("still open"); });
    test("one", () => {});`,
};

/** Runs all of them once with the real test runner. */
const run = (async () => {
  for (const [name, code] of Object.entries(suites))
    writeFileSync(
      join(folder, `${name}.test.ts`),
      `${imports}\ndescribe(${JSON.stringify(name)}, () => {${code}});\n`,
    );
  writeFileSync(join(folder, "unloaded.test.ts"), `throw new Error("does not load");\n`);
  const files = [...Object.keys(suites), "unloaded"].map((name) => `${name}.test.ts`);
  return runTestFiles({ files, folder, timeoutMs: 1_000 });
})();

const outcomesOf = async (client: string, earlier: readonly string[] = []) => {
  const { report } = await run;
  return checksIn({ report, client, earlier }).map(({ check, ok }) => [check, ok]);
};

test("a check has passed only if it ran and did not throw", async () => {
  const { code, report } = await run;
  expect(code).toBe(1);
  expect(checksIn({ report, client: "mixed", earlier: ["of an older run"] })).toEqual([
    { check: 'says "a < b" & more', ok: true },
    { check: "throws", ok: false, error: expect.stringContaining('no "<b>" & more') },
    { check: "skipped", ok: false, error: "skipped" },
  ]);
});

test("a check that ends after its time limit has failed", async () => {
  expect(await outcomesOf("late")).toEqual([
    ["ends late", false],
    ["in time", true],
  ]);
});

test("a suite that cannot start fails every check of its last run", async () => {
  expect(await outcomesOf("unprepared", ["one", "two"])).toEqual([
    ["the suite starts and stops", false],
    ["one", false],
    ["two", false],
  ]);
  expect(await outcomesOf("each unprepared", ["one"])).toEqual([["one", false]]);
  expect(await outcomesOf("unloaded", ["one", "two"])).toEqual([
    ["the suite loads", false],
    ["one", false],
    ["two", false],
  ]);
});

test("a suite that does not stop cleanly is reported beside its checks", async () => {
  expect(await outcomesOf("not stopped", ["one"])).toEqual([
    ["one", true],
    ["the suite starts and stops", false],
  ]);
});
