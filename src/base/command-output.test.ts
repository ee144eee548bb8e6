import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandOptions, commandOutput } from "./command-output.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-command-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = { PATH: process.env["PATH"] ?? "" };
let count = 0;

function script(body: string): string {
  const path = join(folder, `script-${(count += 1)}`);
  writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o700 });
  return path;
}
const run = (body: string, more: Partial<CommandOptions> = {}) =>
  commandOutput({ words: [script(body)], environment, ...more });

test("returns what a command prints, trimmed, and gives it no input", async () => {
  expect(await run("cat; printf '\\n key-one \\n\\n'; echo noise >&2")).toBe("key-one");
});

test("words are arguments, and nothing of them is run", async () => {
  const touched = join(folder, "touched");
  const words = [script('printf "%s/" "$@"'), ";", "touch", touched, "*", "&&", "false"];
  expect(await commandOutput({ words, environment })).toBe(`;/touch/${touched}/*/&&/false/`);
  expect(existsSync(touched)).toBe(false);
});

test.each([
  ["exit 3", "ended with exit code 3"],
  ["echo key; exit 1", "ended with exit code 1"],
  ["kill -9 $$", "was ended by SIGKILL"],
  ["echo; echo ' '", "printed nothing"],
  ["head -c 65537 /dev/zero | tr '\\0' k", "printed more than 64 KiB"],
  ["yes", "printed more than 64 KiB"],
])("%s: %s", async (body, problem) => {
  await expect(run(body)).rejects.toThrow(problem);
});

test("64 KiB are printed as a whole", async () => {
  expect(await run("head -c 65536 /dev/zero | tr '\\0' k")).toBe("k".repeat(65_536));
});

test("says why a command cannot be started, without its words", async () => {
  const plain = join(folder, "plain");
  writeFileSync(plain, "#!/bin/sh\n");
  chmodSync(plain, 0o600);
  for (const [path, problem] of [
    [join(folder, "missing"), "does not exist, or the interpreter in its first line does not"],
    [plain, "is not executable by this user"],
    [folder, "is not executable by this user"],
  ] as const)
    await expect(commandOutput({ words: [path, "secret"], environment })).rejects.toThrow(
      new RegExp(`^${problem}$`),
    );
});

/** Its writer leaves it open until it is killed: reading it ends exactly then. */
async function untilKilled(body: (pipe: string) => string, more: Partial<CommandOptions>) {
  const pipe = join(folder, `pipe-${(count += 1)}`);
  Bun.spawnSync(["mkfifo", pipe]);
  const held = Bun.spawn(["cat", pipe], { stdout: "pipe" });
  const outcome = run(body(pipe), more).then(
    (text) => text,
    (error: unknown) => (error instanceof Error ? error.message : "?"),
  );
  await held.exited;
  return outcome;
}

test("a timeout kills the whole process group", async () => {
  const body = (pipe: string) => `exec 3>${pipe}; sleep 600 & sleep 600`;
  expect(await untilKilled(body, { timeoutMs: 2_000 })).toBe(
    "did not end within 2 s and was killed",
  );
});

test("what a command leaves behind is killed when it ends", async () => {
  const body = (pipe: string) => `exec 3>${pipe}; sleep 600 & echo key-two`;
  expect(await untilKilled(body, {})).toBe("key-two");
});

test("a process outside of the group that keeps the output open is not waited for", async () => {
  const [ready, open] = [join(folder, "left"), join(folder, "open")];
  Bun.spawnSync(["mkfifo", ready, open]);
  // The processes end when the test does: nothing is ever written to their input.
  const holding = openSync(open, "r+");
  const body = (code: number) =>
    `setsid sh -c 'echo >${ready}; exec cat ${open}' & echo key-three; cat ${ready}; exit ${code}`;
  expect(await run(body(0))).toBe("key-three");
  await expect(run(body(4))).rejects.toThrow("ended with exit code 4");
  closeSync(holding);
});

test("an end of the gateway ends its commands", async () => {
  const ending = new AbortController();
  const pipe = join(folder, "ready");
  Bun.spawnSync(["mkfifo", pipe]);
  const reader = Bun.spawn(["head", "-c", "1", pipe], { stdout: "pipe" });
  const outcome = run(`echo started >${pipe}; sleep 600`, { signal: ending.signal });
  await reader.exited;
  ending.abort();
  await expect(outcome).rejects.toThrow("was stopped with the gateway");
  await expect(run("sleep 600", { signal: ending.signal })).rejects.toThrow("was stopped");
});
