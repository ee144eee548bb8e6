import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NotReady, runChecklist, type Step, sourceSteps } from "./checklist.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "svc-release-"));
  for (const folder of ["engine", "console", "docs/api"])
    mkdirSync(join(root, folder), { recursive: true });
  write("package.json", '{"version":"1.2.0"}');
  write("engine/package.json", '{"version":"1.2.0"}');
  write("console/package.json", '{"version":"1.2.0"}');
  write("CHANGELOG.md", "# Changelog\n\n## 1.2.0\n\n## 1.1.0\n");
  write("docs/openapi.json", "{}");
  write("docs/api/v1-2026-01-01.json", "{}");
  git("init", "--quiet");
  commit();
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (path: string, text: string) => writeFileSync(join(root, path), text);
function git(...words: readonly string[]): void {
  const identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
  const { exitCode } = Bun.spawnSync(["git", ...identity, ...words], { cwd: root });
  expect(exitCode).toBe(0);
}
function commit(): void {
  git("add", "--all");
  git("commit", "--quiet", "--message", "all");
}

async function check(steps: readonly Step[] = sourceSteps(root), isDryRun = false) {
  const lines: string[] = [];
  const isReady = await runChecklist(steps, { isDryRun, write: (line) => void lines.push(line) });
  return { isReady, last: lines.at(-1) ?? "", lines };
}

test("a clean tree with one version and the API's snapshot is ready", async () => {
  const { isReady, lines } = await check();
  expect([isReady, lines.length]).toEqual([true, 3]);
  expect(lines[1]).toBe("[2/3] version: 1.2.0");
});

test("a file that is not committed stops the release", async () => {
  write("note", "");
  const { isReady, lines, last } = await check();
  expect([isReady, lines.length]).toEqual([false, 1]);
  expect(last).toBe(
    "[1/3] clean tree: FAILED. 1 file is not committed.\nCommit or stash them: git status lists them.",
  );
});

test("a version that is unreleased, differs or exists stops the release", async () => {
  write("CHANGELOG.md", "## 1.2.0 (unreleased)\n");
  commit();
  expect((await check()).last).toContain('CHANGELOG.md begins with "1.2.0 (unreleased)"');
  write("CHANGELOG.md", "## 1.2.0\n");
  write("engine/package.json", '{"version":"1.1.0"}');
  commit();
  expect((await check()).last).toContain("engine/package.json has version 1.1.0");
  write("engine/package.json", '{"version":"1.2.0"}');
  commit();
  git("tag", "v1.2.0");
  expect((await check()).last).toContain("The tag v1.2.0 exists already.");
});

test("an API that has no snapshot stops the release", async () => {
  write("docs/openapi.json", '{"a":1}');
  commit();
  expect((await check()).last).toContain("cp docs/openapi.json docs/api/v1-");
});

test("nothing runs after a failure, and a dry run does no work", async () => {
  const ran: string[] = [];
  const step = (name: string, run: () => string, work?: string): Step => ({
    name,
    ...(work === undefined ? {} : { work }),
    run: () => {
      ran.push(name);
      return run();
    },
  });
  const fail = () => {
    throw new NotReady("It is broken.", "Fix it.");
  };
  const steps = [step("look", () => "fine"), step("build", () => "built", "build it")];
  expect((await check(steps, true)).last).toBe("[2/2] build: would build it");
  expect(ran).toEqual(["look"]);
  expect((await check([step("first", fail), ...steps])).isReady).toBe(false);
  expect(ran).toEqual(["look", "first"]);
});
