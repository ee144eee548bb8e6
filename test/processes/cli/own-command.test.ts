/** Hints name the command that works where they are read. */

import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = realpathSync(join(import.meta.dir, "../../.."));
const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-command-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** PATH without any svc. */
const bare = (process.env["PATH"] ?? "")
  .split(":")
  .filter((one) => Bun.which("svc", { PATH: one }) === null)
  .join(":");

function commandName(isClone: boolean, cwd: string, more = ""): string {
  const script = `import(${JSON.stringify(join(root, "scripts/start.mjs"))}).then(({ commandName }) =>
    console.log(commandName(${JSON.stringify({ root, isClone })})))`;
  const { stdout } = Bun.spawnSync(["node", "-e", script], {
    cwd,
    env: { PATH: `${more}:${bare}` },
  });
  return stdout.toString().trim();
}

test("the name of the command is the one that works in the current folder", () => {
  const bin = join(folder, "bin");
  const local = join(folder, "node_modules/.bin");
  const empty = join(folder, "empty");
  for (const one of [bin, local, empty]) mkdirSync(one, { recursive: true });
  for (const one of [bin, local]) symlinkSync(join(root, "svc"), join(one, "svc"));
  expect(commandName(true, root)).toBe("./svc");
  expect(commandName(true, empty)).toBe(join(root, "svc"));
  expect(commandName(true, root, bin)).toBe("svc");
  // npx and npm put this folder into PATH, for a moment.
  expect(commandName(false, folder, local)).toBe("npx svc");
  expect(commandName(false, empty, local)).toBe("svc");
  // A program of somebody else.
  const other = join(folder, "other");
  mkdirSync(other);
  writeFileSync(join(other, "svc"), "", { mode: 0o755 });
  expect(commandName(true, root, other)).toBe("./svc");
});

test("in a clone, a hint names ./svc; JSON and the process's children stay as they are", () => {
  const svc = (...words: string[]) =>
    Bun.spawnSync(["node", "scripts/svc.mjs", ...words], { cwd: root, env: { PATH: bare } });
  expect(svc("account", "nothing").stderr.toString()).toContain("Try: ./svc account --help");
  expect(svc("account", "nothing", "--json").stderr.toString()).toContain(
    '"command":"account --help"',
  );
});
