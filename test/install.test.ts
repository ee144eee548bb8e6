import { afterAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const clone = mkdtempSync(join(tmpdir(), "svc-install-"));
afterAll(() => rmSync(clone, { recursive: true, force: true }));
for (const name of ["package.json", "package-lock.json", ".npmrc", "scripts", "src", "engine"])
  cpSync(join(root, name), join(clone, name), {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
const lockBefore = readFileSync(join(clone, "package-lock.json"), "utf8");

async function run(
  ...words: string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const child = Bun.spawn(["node", ...words], {
    cwd: clone,
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, npm_execpath: "", NODE_ENV: "production" },
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}

const ensureTools =
  'import("./scripts/install.mjs").then((install) => install.ensureInstalled({ withTools: true }))';
const has = (name: string) => existsSync(join(clone, "node_modules", name, "package.json"));
const version = `${JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version}\n`;

test("a fresh checkout installs what it needs by itself, and neither way undoes the other", async () => {
  const first = await Promise.all([
    run("scripts/svc.mjs", "--version"),
    run("scripts/svc.mjs", "--version"),
  ]);
  for (const { code, out } of first) expect([code, out]).toEqual([0, version]);
  expect(first.filter(({ err }) => err.includes("Installing"))).not.toEqual([]);
  expect([has("kysely"), has("openai")]).toEqual([true, false]);

  const tools = await run("-e", ensureTools);
  expect(tools.err).toContain("development tools");
  expect([has("kysely"), has("openai")]).toEqual([true, true]);

  const again = await run("scripts/svc.mjs", "--version");
  expect([again.out, again.err, has("openai")]).toEqual([version, "", true]);

  // A dependency that went missing comes back, and the tools stay although only a start was asked for.
  const installed = join(clone, "node_modules", ".package-lock.json");
  const noted = JSON.parse(readFileSync(installed, "utf8"));
  delete noted.packages["node_modules/kysely"];
  writeFileSync(installed, JSON.stringify(noted));
  rmSync(join(clone, "node_modules", "kysely"), { recursive: true });
  const mended = await run("scripts/svc.mjs", "--version");
  expect([mended.out, has("kysely"), has("openai")]).toEqual([version, true, true]);
  expect(readFileSync(join(clone, "package-lock.json"), "utf8")).toBe(lockBefore);
}, 300_000);

test("a machine that cannot run it is told so in one sentence", async () => {
  const on = (change: string) =>
    run(
      "-e",
      `${change}; import("./scripts/install.mjs").then((install) => install.checkMachine())`,
    );
  const old = await on('Object.defineProperty(process.versions, "node", { value: "18.19.0" })');
  expect([old.code, old.err]).toEqual([
    1,
    "error: svc gateway needs Node 20 or newer for its first step; this is Node 18.19.0.\n",
  ]);
  const windows = await on('Object.defineProperty(process, "platform", { value: "win32" })');
  expect(windows.code).toBe(1);
  expect(windows.err).toMatch(/^error: .*not on win32 .*use WSL\.\n$/);
});
