/** The process between a shell and the server, on versions of Node that cannot become the server. */

import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createHome, type Home } from "../../setup/child.ts";

setDefaultTimeout(60_000);

const root = join(import.meta.dir, "../../..");
const launch = `process.execve = undefined;
  import(${JSON.stringify(join(root, "scripts/run.mjs"))}).then(({ run }) =>
    run(process.argv[1], ["--no-env-file", ${JSON.stringify(join(root, "src/main.ts"))}, "serve"]))`;

let home: Home;
beforeEach(() => {
  home = createHome();
});
afterEach(() => home.remove());

const ownerPath = () => join(home.dataDir, "owner.json");
const serverPid = (): number => JSON.parse(readFileSync(ownerPath(), "utf8")).pid;

/** By this command; ready when its text ends here. */
async function start(command: readonly string[]) {
  const child = Bun.spawn([...command], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: {
      PATH: process.env["PATH"] ?? "",
      SVC_DATA_DIR: home.dataDir,
      SVC_PORT: "0",
      SVC_PLATFORM_PORT: "0",
      SVC_ENGINE: "off",
      LAUNCH: launch,
      BUN: process.execPath,
    },
  });
  const reader = child.stdout.getReader();
  let text = "";
  while (!text.includes("Ctrl-C stops the server")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(await new Response(child.stderr).text());
    text += new TextDecoder().decode(value);
  }
  /** The server has the same pipes: they end with it. */
  const ended = async () => {
    while (!(await reader.read()).done);
    return new Response(child.stderr).text();
  };
  return { child, ended, text };
}

test("a server whose launcher is killed stops, and leaves its data directory in order", async () => {
  const { child, ended } = await start(["node", "-e", launch, process.execPath]);
  expect(serverPid()).not.toBe(child.pid);
  child.kill("SIGKILL");
  const log = await ended();
  expect(log).toContain("the process that started the server was killed");
  expect(log).toContain("waiting for calls in flight to finish");
  expect(existsSync(ownerPath())).toBe(false);
});

test("a server goes on when the shell that started it has ended, and its launcher stops it", async () => {
  const shell = 'node -e "$LAUNCH" "$BUN" & echo "launcher $!"';
  const { child, ended, text } = await start(["sh", "-c", shell]);
  const [, launcher = ""] = /launcher (\d+)/.exec(text) ?? [];
  const [, gateway = ""] = /gateway {3}(\S+)\/v1/.exec(text) ?? [];
  expect(await child.exited).toBe(0);
  const seenMs = Date.now();
  // Several looks at the launcher.
  let status = 0;
  do ({ status } = await fetch(`${gateway}/healthz`));
  while (status === 200 && Date.now() - seenMs < 1_500);
  expect(status).toBe(200);
  process.kill(Number(launcher), "SIGTERM");
  const log = await ended();
  expect(log).not.toContain("was killed");
  expect(existsSync(ownerPath())).toBe(false);
});
