import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testCacheDir, weightsDir } from "../../engine/test/weights/weights-dir.ts";
import { weightSets } from "../../engine/weights/sets.ts";
import { readyDir } from "../../engine/weights/state.ts";
import { connectControl } from "../../src/platform/control-socket.ts";
import { BodyReader, type ErrorBody, parseStream } from "../replies/event-stream.ts";
import { createHome } from "../setup/child.ts";
import { type EngineHome, type EngineStatus, startEngineHome } from "../setup/engine-home.ts";

setDefaultTimeout(300_000);

let engine: EngineHome | undefined;
afterEach(async () => {
  await engine?.stop();
  engine = undefined;
});

const story = {
  model: "svc-3-flash",
  stream: true,
  messages: [{ role: "user", content: "Write a very long story about the sea." }],
};
/** The processes of an engine whose chat model is loaded: asked for while it tells a story, the story may end first. */
async function withChat({ call, status }: EngineHome): Promise<EngineStatus["engine"]> {
  const body = { ...story, stream: false, max_tokens: 1 };
  expect((await call("/chat/completions", body)).status).toBe(200);
  return (await status()).engine;
}

const chatPid = ({ models }: EngineStatus["engine"]) =>
  models.find(({ name }) => name === "chat")?.pid ?? 0;

/** A process that has ended and waits to be taken note of is dead. */
const isAlive = (pid: number | null) => {
  try {
    process.kill(pid ?? -1, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  try {
    return !existsSync(stat) || !/\) [ZX] /.test(readFileSync(stat, "utf8"));
  } catch {
    // It ended between the two looks.
    return false;
  }
};

describe("an engine", () => {
  let shared: EngineHome;
  beforeAll(async () => {
    shared = await startEngineHome({
      sets: ["chat", "text"],
      environment: { SVC_ENGINE_QUEUE: "1" },
    });
  }, 900_000);
  afterAll(() => shared.home.remove());

  test("refuses requests beyond its queue with 503 and Retry-After, and serves those in it", async () => {
    const embed = (input: unknown) =>
      shared.call("/embeddings", { model: "svc-embedding-2", input });
    await embed("warm");
    const batch = Array.from(
      { length: 100 },
      (_, at) => `A sentence of some length, number ${at}.`,
    );
    const replies = await Promise.all([1, 2, 3, 4, 5].map(() => embed(batch)));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 200, 503, 503, 503]);
    const refused = replies.find((reply) => reply.status === 503);
    expect(refused?.headers.get("retry-after")).toBe("5");
    expect(await refused?.json()).toMatchObject({ error: { code: "upstream_overloaded" } });
  });

  test("whose model is silent for longer than ten seconds within a reply breaks nothing", async () => {
    const pid = chatPid(await withChat(shared));
    const response = await shared.call("/chat/completions", { ...story, max_tokens: 12 });
    const body = new BodyReader(response);
    await body.more();
    process.kill(pid, "SIGSTOP");
    // The runtime's own limit, which nobody tells of before it has passed.
    await Bun.sleep(11_000);
    process.kill(pid, "SIGCONT");
    expect(parseStream(await body.rest())).toMatchObject({ isDone: true, error: undefined });
  });

  test("that dies ends a stream with an error event, and the next request works", async () => {
    const before = await withChat(shared);
    const response = await shared.call("/chat/completions", story);
    const body = new BodyReader(response);
    await body.more();
    process.kill(before.pid, "SIGKILL");
    const { error, isDone } = parseStream(await body.rest());
    expect(isDone).toBe(false);
    expect(error).toMatchObject({ code: "upstream_error" });
    const next = await shared.call("/embeddings", { model: "svc-embedding-2", input: "hello" });
    expect(next.status).toBe(200);
    const after = await shared.status();
    expect(after.engine.state).toBe("running");
    expect(after.engine.pid).not.toBe(before.pid);
    // Its models go with it, as soon as they look up from their work.
    while (before.models.some(({ pid }) => isAlive(pid))) await Bun.sleep(10);
  });

  test("that dies again before it listens keeps a waiting call no longer than its next start", async () => {
    const running = await connectControl(shared.home.dataDir);
    const view = async () => await running?.operations.engine.show({});
    await shared.call("/embeddings", { model: "svc-embedding-2", input: "warm" });
    const first = (await view())?.pid ?? 0;
    process.kill(first, "SIGKILL");
    while (isAlive(first)) await Bun.sleep(1);
    const waiting = shared.call("/embeddings", { model: "svc-embedding-2", input: "hello" });
    for (;;) {
      const now = await view();
      if (now?.pid === first || now?.pid === null || now?.state !== "starting") continue;
      process.kill(now.pid, "SIGKILL");
      break;
    }
    expect((await waiting).status).toBe(200);
  });

  test("ends with the server, and so do its models, when it stops and when it is killed", async () => {
    const killed = await startEngineHome({ sets: ["text"] });
    for (const [own, how] of [
      [shared, "SIGTERM"],
      [killed, "SIGKILL"],
    ] as const) {
      await own.call("/embeddings", { model: "svc-embedding-2", input: "hello" });
      const { engine: state } = await own.status();
      const pids = [state.pid, ...state.models.map(({ pid }) => pid)];
      expect(pids.every(isAlive)).toBe(true);
      own.server.signal(how);
      await own.server.exited;
      while (pids.some(isAlive)) await Bun.sleep(10);
    }
    await killed.home.remove();
  });
});

describe("a dying engine", () => {
  test("as soon as it starts is shown as failed, keeps nobody waiting, and is tried again", async () => {
    await weightsDir("text");
    const home = createHome({ isProcess: true });
    mkdirSync(home.dataDir, { recursive: true, mode: 0o700 });
    // Another one has its place: every start of ours ends at once.
    const other = Bun.serve({
      unix: join(home.dataDir, "engine.sock"),
      fetch: () => Response.json({ models: [] }),
    });
    const server = await home.serve({ SVC_ENGINE: "on", SVC_CACHE_DIR: testCacheDir() });
    const embed = () =>
      fetch(`${server.baseUrl}/embeddings`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "svc-embedding-2", input: "hello" }),
      });
    await server.waitForLog('"in_ms":2000');
    const pauses = [...server.stderr().matchAll(/"in_ms":(\d+)/g)].map((match) => Number(match[1]));
    expect(pauses).toEqual([0, 250, 500, 1000, 2000]);
    const { engine: failed } = await home.json<{ engine: object }>(["engine", "status"]);
    expect(failed).toMatchObject({
      state: "failed",
      problem: expect.stringContaining("exits with 5"),
    });
    const early = await embed();
    expect(early.status).toBe(503);
    expect(((await early.json()) as ErrorBody).error.code).toBe("model_loading");
    await other.stop(true);
    while ((await embed()).status !== 200) await Bun.sleep(50);
    const { engine: mended } = await home.json<{ engine: object }>(["engine", "status"]);
    expect(mended).toMatchObject({ state: "running", problem: null });
    await home.remove();
  });
});

describe("a gateway", () => {
  test("without embedded models does not serve, list or start them", async () => {
    const home = createHome({ isProcess: true });
    const off = await home.serve();
    const reply = await fetch(`${off.baseUrl}/models`, {
      headers: { authorization: `Bearer ${off.key}` },
    });
    expect(await reply.json()).toEqual({ object: "list", data: [] });
    expect(await home.json<unknown>(["engine", "status"])).toMatchObject({ engine: null });
    await home.remove();
  });

  test("with models of its own only starts no engine", async () => {
    engine = await startEngineHome({
      sets: [],
      config: `
providers: { acme: { kind: openai, base_url: "https://api.acme.example/v1" } }
models: { mine: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: acme, model: x }] } }`,
    });
    expect((await engine.status()).engine).toMatchObject({ state: "unused", pid: null });
    expect((await engine.client.models.list()).data.map(({ id }) => id)).toEqual(["mine"]);
  });

  test("that was started with them and is then told off keeps them out of reach", async () => {
    const home = createHome({ isProcess: true });
    const environment = { SVC_ENGINE: "on", SVC_CACHE_DIR: testCacheDir() };
    await weightsDir("text");
    const first = await home.serve(environment);
    await first.stop();
    const second = await home.serve();
    const reply = await fetch(`${second.baseUrl}/embeddings`, {
      method: "POST",
      headers: { authorization: `Bearer ${first.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "svc-embedding-2", input: "hello" }),
    });
    expect(((await reply.json()) as ErrorBody).error.code).toBe("model_not_allowed");
    await home.remove();
  });
});

test("answers from the first second: a model whose weights are not here is 503 with the reason", async () => {
  const cache = mkdtempSync(join(tmpdir(), "svc-cache-"));
  // A registry that nobody answers at: the weights cannot come.
  engine = await startEngineHome({
    sets: [],
    environment: { SVC_CACHE_DIR: cache, npm_config_registry: "http://127.0.0.1:9/" },
  });
  const { data } = await engine.client.models.list();
  expect(data.map(({ id }) => id).sort()).toEqual([
    "multimodal-embedding-1",
    "svc-2.5-flash-tts",
    "svc-2.5-pro-tts",
    "svc-3-flash",
    "svc-embedding-2",
    "svc-transcribe-1",
  ]);
  const body = { model: "svc-embedding-2", input: "hello" };
  const early = await engine.call("/embeddings", body);
  expect(early.status).toBe(503);
  expect(((await early.json()) as ErrorBody).error).toMatchObject({
    code: "model_loading",
    type: "server_error",
  });
  expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(0);
  await engine.server.waitForLog("the weights of text could not be downloaded");
  const late = await engine.call("/embeddings", body);
  expect(late.status).toBe(503);
  expect(((await late.json()) as ErrorBody).error.message).toContain(
    "the download of its weights failed",
  );
  expect(readyDir(cache, "text")).toBeUndefined();
  rmSync(cache, { recursive: true, force: true });
});

test("while weights come, callers and the first screen are told how far they are", async () => {
  const { packages } = weightSets.text;
  const [packed] = packages;
  // Sends three tenths and then nothing more, without an end. A line is said at each tenth: with a
  // share between two, which figure it has would depend on how the bytes come.
  const registry = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch(request): Response {
      const { origin, pathname } = new URL(request.url);
      const { name = "", version = "", integrity = "", bytes = 0 } = packed ?? {};
      if (pathname.endsWith(".tgz"))
        return new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(new Uint8Array(Math.ceil(bytes * 0.3))),
          }),
          { headers: { "content-length": String(bytes) } },
        );
      const dist = { tarball: `${origin}/${name}.tgz`, integrity };
      return Response.json({ name, versions: { [version]: { name, version, dist } } });
    },
  });
  const cache = mkdtempSync(join(tmpdir(), "svc-cache-"));
  engine = await startEngineHome({
    sets: [],
    environment: { SVC_CACHE_DIR: cache, npm_config_registry: registry.url.href },
  });
  await engine.server.waitForOutput("text: downloading, 30%");
  const reply = await engine.call("/embeddings", { model: "svc-embedding-2", input: "hello" });
  expect(reply.status).toBe(503);
  expect(((await reply.json()) as ErrorBody).error.message).toContain(
    "30% of its 17 MB of weights have been downloaded",
  );
  const chat = await engine.call("/chat/completions", story);
  expect(((await chat.json()) as ErrorBody).error.message).toContain("are queued for download");
  await engine.stop();
  engine = undefined;
  await registry.stop(true);
  rmSync(cache, { recursive: true, force: true });
});
