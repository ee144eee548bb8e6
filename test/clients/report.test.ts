import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { devDependencies } from "../../package.json";
import { type ClientResult, readResults, toPage } from "./report.ts";

const read = (path: string) => readFileSync(join(import.meta.dir, path), "utf8");
const results = readResults();
const versionOf = (client: string) => results.find((result) => result.client === client)?.version;

test("docs/compatibility.md is what the clients' runs left, word for word", () => {
  expect(read("../../docs/compatibility.md")).toBe(toPage(results));
});

test("each result is of the version that is pinned now", () => {
  const pinned = (line: RegExp, file: string) => line.exec(read(file))?.[1] ?? "not pinned";
  expect(versionOf("openai")).toBe(devDependencies.openai);
  expect(versionOf("@ai-sdk/openai-compatible")).toBe(
    `${devDependencies["@ai-sdk/openai-compatible"]} in ai ${devDependencies.ai}`,
  );
  expect(versionOf("@langchain/openai")).toBe(devDependencies["@langchain/openai"]);
  expect(versionOf("@llamaindex/openai")).toBe(devDependencies["@llamaindex/openai"]);
  const python = "python/requirements.txt";
  expect(versionOf("openai-python")).toBe(pinned(/^openai==(\S+)/m, python));
  expect(versionOf("langchain-openai")).toBe(pinned(/^langchain-openai==(\S+)/m, python));
  expect(versionOf("openai-go")).toBe(pinned(/openai-go\/v\d+ v(\S+)/, "go/go.mod"));
});

test("a check that failed is told in the table and in the list", () => {
  const result: ClientResult = {
    client: "a",
    version: "1.0.0",
    language: "Go",
    command: "run",
    checks: { chats: "passed", streams: "failed" },
  };
  const page = toPage([result]);
  expect(page).toContain("| a | 1.0.0 | Go | `run` | **1 of 2** |");
  expect(page).toContain("- chats\n- **failed:** streams");
});

/** Suites of their own, run by the real test runner, with results and a page of their own. */
describe("a suite of checks", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-report-"));
  const paths = { results: join(folder, "results.json"), page: join(folder, "page.md") };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs checks written as code, beside an older result in which both had passed. */
  async function outcomesOf(code: string, ...words: readonly string[]) {
    const old = { client: "openai", version: "0", language: "TypeScript", command: "run" };
    const checks = { one: "passed", two: "passed" };
    writeFileSync(paths.results, JSON.stringify([{ ...old, checks }]));
    rmSync(paths.page, { force: true });
    const suite = join(folder, "suite.test.ts");
    const imports = `import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { clientSuite } from ${JSON.stringify(join(import.meta.dir, "report.ts"))};`;
    writeFileSync(
      suite,
      `${imports}\nclientSuite("openai", (check) => {${code}}, { paths: ${JSON.stringify(paths)} });\n`,
    );
    const child = Bun.spawn([process.execPath, "test", ...words, suite], {
      cwd: folder,
      stdout: "ignore",
      stderr: "pipe",
    });
    const [exitCode, told] = await Promise.all([child.exited, new Response(child.stderr).text()]);
    if (!told.includes("Ran ")) throw new Error(`the suite was not run: ${told}`);
    const result = readResults(paths)[0];
    const isSaved = existsSync(paths.page);
    expect(isSaved).toBe(result?.version === devDependencies.openai);
    return { exitCode, isSaved, checks: result?.checks };
  }
  const two = 'check("two", async () => {});';
  const both = `check("one", async () => {}); ${two}`;
  const oneFailed = { one: "failed", two: "passed" } as const;
  const allFailed = { one: "failed", two: "failed" } as const;

  test("that all pass is saved as passed", async () => {
    const checks = { one: "passed", two: "passed" } as const;
    expect(await outcomesOf(both)).toEqual({ exitCode: 0, isSaved: true, checks });
  });

  test("of which one throws is saved so", async () => {
    const code = `check("one", async () => { throw new Error("no"); }); ${two}`;
    expect(await outcomesOf(code)).toEqual({ exitCode: 1, isSaved: true, checks: oneFailed });
  });

  test("of which one is late keeps it failed, though it ends well before the suite does", async () => {
    const late = `
      const first = Promise.withResolvers();
      const ended = Promise.withResolvers();
      check("one", async () => { await first.promise; setImmediate(ended.resolve); });`;
    const beside = `check("two", async () => { first.resolve(); await ended.promise; });`;
    const behind = `${two} afterEach(async () => { first.resolve(); await ended.promise; });`;
    for (const rest of [beside, behind])
      expect(await outcomesOf(late + rest, "--timeout", "200")).toEqual({
        exitCode: 1,
        isSaved: true,
        checks: oneFailed,
      });
  });

  test("that could not be prepared is saved as failed throughout", async () => {
    const failed = { exitCode: 1, isSaved: true, checks: allFailed };
    const broken = (hook: string) => `${hook}(async () => { throw new Error("no"); }); ${both}`;
    expect(await outcomesOf(broken("beforeAll"))).toEqual(failed);
    expect(await outcomesOf(broken("beforeEach"))).toEqual(failed);
    // Nor is it hidden by what then goes wrong behind the checks.
    expect(
      await outcomesOf(`${broken("beforeAll")} ${broken("afterAll").replace(both, "")}`),
    ).toEqual(failed);
  });

  test("of which only some were asked for leaves the old result as it was", async () => {
    const checks = { one: "passed", two: "passed" } as const;
    for (const word of ["one", "two"])
      expect(await outcomesOf(both, "-t", word)).toEqual({ exitCode: 0, isSaved: false, checks });
  });
});
