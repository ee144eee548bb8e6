/** The process between a shell and the server, on versions of Node that cannot become the server. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chatStreams } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { type FakeUpstream, startFakeUpstream } from "../../fake/upstream.ts";
import { createHome, type Home } from "../../setup/child.ts";
import { startCollector, type TestCollector } from "../../setup/collector.ts";
import { standardManifest } from "../../setup/harness.ts";
import { hello } from "../../setup/money-home.ts";

const root = join(import.meta.dir, "../../..");
const launch = `process.execve = undefined;
  import(${JSON.stringify(join(root, "scripts/run.mjs"))}).then(({ run }) =>
    run(process.argv[1], ["--no-env-file", ${JSON.stringify(join(root, "src/main.ts"))}, "serve"]))`;

let home: Home;
let upstream: FakeUpstream;
let collector: TestCollector;
beforeEach(async () => {
  home = createHome();
  upstream = await startFakeUpstream();
  collector = startCollector();
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
});
afterEach(async () => {
  // A test that failed has left its server.
  if (existsSync(ownerPath())) process.kill(serverPid(), "SIGKILL");
  await Promise.all([home.remove(), upstream.stop(), collector.stop()]);
});

const ownerPath = () => join(home.dataDir, "owner.json");
const serverPid = (): number => JSON.parse(readFileSync(ownerPath(), "utf8")).pid;

/** By this command; ready when its text ends here. */
async function start(command: readonly string[]) {
  const child = Bun.spawn([...command], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: home.environment({
      // Less often than the server looks at its launcher.
      SVC_OTLP_METRICS_S: "0.6",
      SVC_OTLP_SIGNALS: "metrics",
      SVC_OTLP_URL: collector.url,
      FAKE_KEY: "x",
      LAUNCH: launch,
      BUN: process.execPath,
    }),
  });
  const reader = child.stdout.getReader();
  let text = "";
  while (!text.includes("Ctrl-C stops the server")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(await new Response(child.stderr).text());
    text += new TextDecoder().decode(value);
  }
  const log = child.stderr.getReader();
  let logged = "";
  const readLog = async () => {
    const { value, done } = await log.read();
    logged += new TextDecoder().decode(value);
    return !done;
  };
  return {
    child,
    text,
    async waitForLog(wanted: string) {
      while (!logged.includes(wanted) && (await readLog()));
    },
    /** The server has the same pipes: they end with it. */
    async ended() {
      while (!(await reader.read()).done);
      while (await readLog());
      return logged;
    },
  };
}

/** Resolves when the server has looked at its launcher: another timer of it has run twice. */
function looked(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let sent = 0;
  collector.answer = () => {
    if (++sent === 2) resolve();
    return Response.json({});
  };
  return promise;
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

/** A server behind a launcher, and a call whose reply is held back until `finish`. */
async function startWithCall() {
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  const recording = chatStreams.openai();
  upstream.replyWith(pausedAfter({ recording, parts: 2, until: promise }));
  const server = await start(["node", "-e", launch, process.execPath]);
  const [, gateway = ""] = /gateway {3}(\S+)/.exec(server.text) ?? [];
  const [key = ""] = /sk-svc-\w+/.exec(server.text) ?? [];
  const reply = await fetch(`${gateway}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...hello, stream: true }),
  });
  expect(reply.status).toBe(200);
  return { ...server, reply, finish };
}

test("a launcher that is killed while the server stops cuts off no call", async () => {
  const { child, ended, reply, finish, waitForLog } = await startWithCall();
  child.kill("SIGTERM");
  await waitForLog("stopping");
  await looked();
  child.kill("SIGKILL");
  await child.exited;
  const end = ended();
  await Promise.race([looked(), end]);
  finish();
  expect(await reply.text()).toEndWith("data: [DONE]\n\n");
  expect(await end).not.toContain("was killed");
  expect(existsSync(ownerPath())).toBe(false);
});

test("the first signal after the end of the launcher cuts off no call", async () => {
  const { child, ended, reply, finish, waitForLog } = await startWithCall();
  child.kill("SIGKILL");
  await waitForLog("was killed");
  await looked();
  process.kill(serverPid(), "SIGTERM");
  const end = ended();
  await Promise.race([looked(), end]);
  finish();
  expect(await reply.text()).toEndWith("data: [DONE]\n\n");
  await end;
  expect(existsSync(ownerPath())).toBe(false);
});

test("a server goes on when the shell that started it has ended, and its launcher stops it", async () => {
  const shell = 'node -e "$LAUNCH" "$BUN" & echo "launcher $!"';
  const { child, ended, text, waitForLog } = await start(["sh", "-c", shell]);
  const [, launcher = ""] = /launcher (\d+)/.exec(text) ?? [];
  const [, gateway = ""] = /gateway {3}(\S+)\/v1/.exec(text) ?? [];
  expect(await child.exited).toBe(0);
  await Promise.race([looked(), waitForLog("was killed")]);
  expect((await fetch(`${gateway}/healthz`)).status).toBe(200);
  process.kill(Number(launcher), "SIGTERM");
  const log = await ended();
  expect(log).not.toContain("was killed");
  expect(existsSync(ownerPath())).toBe(false);
});
