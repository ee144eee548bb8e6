import { afterEach, beforeEach, expect, test } from "bun:test";
import { EventEmitter, once } from "node:events";
import type { Opened } from "../../../src/app/opened.ts";
import { openStore } from "../../../src/app/store.ts";
import { toTargetSubject } from "../../../src/catalog/health.ts";
import { FleetClock } from "../../../src/fleet/clock.ts";
import type { FleetStore, TickReply } from "../../../src/fleet/store.ts";
import { chatAnswers, chatStreams, failures } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";

const chat = { model: "svc-3-flash", messages: [{ role: "user", content: "Hi" }] };

/** What the other nodes say; a test changes it. */
let reply: TickReply;
let isAway: boolean;
const ticks = new EventEmitter();
let news: { readonly topic: "targets" | "temporary-keys"; readonly subject: string }[];
let ended: Map<string, number>;
let gateway: TestGateway;
let lines: string[];

const refuse = () => Promise.reject(new Error("not part of this test"));
const fleet: FleetStore = {
  async tick() {
    ticks.emit("tick");
    if (isAway) throw new Error("the database does not answer");
    return reply;
  },
  join: refuse,
  whenHeard: async () => {},
  leave: refuse,
  recover: refuse,
  wantReports: refuse,
  reportsDone: refuse,
  nodes: refuse,
  setDraining: refuse,
};

async function openShared(configuration: Parameters<typeof openStore>[0]): Promise<Opened> {
  const opened = await openStore(configuration);
  const { feed } = opened.store;
  const store = {
    ...opened.store,
    feed: {
      latest: () => feed.latest(),
      newest: () => feed.newest(),
      async since(sequence: number) {
        const changes = await feed.since(sequence);
        const told = news.splice(0).map((one) => ({ sequence, ...one }));
        return changes && [...changes, ...told];
      },
    },
  };
  const targets = {
    health: async () => [],
    resetHealth: async () => 0,
    forgetServed: async () => {},
  };
  const endedOwners = {
    end: async (owner: string, atMs: number) => void ended.set(owner, atMs),
    ended: async () => new Map(ended),
  };
  const live = { watchers: new Set<never>(), rejectionWatchers: new Set<never>() };
  const clock = new FleetClock();
  const firstStart = <T>(work: () => Promise<T>) => work();
  const readClock = async () => {};
  const shared = { fleet, clock, readClock, targets, endedOwners, live, firstStart };
  return { ...opened, store, shared };
}

beforeEach(async () => {
  reply = {
    isOpen: true,
    isDraining: false,
    sequence: 0,
    nodes: 1,
    recalls: [],
    reports: 0,
    nowMs: Date.now(),
  };
  isAway = false;
  news = [];
  ended = new Map();
  lines = [];
  await start();
});
afterEach(() => gateway.stop());

async function start(environment: Record<string, string> = {}): Promise<void> {
  gateway = await startTestGateway({
    open: openShared,
    environment: { SVC_BREAKERS: "on", SVC_LOG_LEVEL: "info", ...environment },
    writeLog: (line) => void lines.push(line),
  });
  gateway.upstream.replyWith(chatAnswers.plain());
}

/** Messages in the log that begin with one of these. */
const logged = (starts: readonly string[]) =>
  lines
    .map((line): string => JSON.parse(line).message)
    .filter((message) => starts.some((start) => message.startsWith(start)));

/** One tick asks, and when the next one begins, what was said to it has been done. */
async function nextTick(): Promise<void> {
  await once(ticks, "tick");
  await once(ticks, "tick");
}

test("without its database, a node takes no calls and is not ready, but it is alive", async () => {
  isAway = true;
  const statusOf = async (path: string) => (await fetch(`${gateway.origin}${path}`)).status;
  await waitUntil("calls to be refused", async () => {
    const refused = await gateway.call("/chat/completions", chat);
    return refused.status === 503 && refused.headers.get("retry-after") === "1";
  });
  for (const path of ["/healthz", "/health"]) expect(await statusOf(path)).toBe(200);
  expect(await statusOf("/readyz")).toBe(503);
  isAway = false;
  await nextTick();
  expect(await statusOf("/readyz")).toBe(200);
});

test("a drain is announced while every call is still served, and ends when the node is resumed", async () => {
  reply = { ...reply, isDraining: true };
  await nextTick();
  const ready = await fetch(`${gateway.origin}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: "draining" }]);
  expect((await fetch(`${gateway.origin}/healthz`)).status).toBe(200);
  const served = await gateway.call("/chat/completions", chat);
  expect([served.status, served.headers.get("connection")]).toEqual([200, "close"]);
  await served.text();
  reply = { ...reply, isDraining: false };
  await nextTick();
  const next = await gateway.call("/chat/completions", chat);
  expect([next.status, next.headers.get("connection")]).toEqual([200, null]);
  await next.text();
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
  expect(logged(["drain", "resumed;", "request"])).toEqual([
    "draining; calls are served until the port is closed",
    "resumed; new calls are accepted",
  ]);
});

test("after the announcement nothing listens, a stream goes on, and the port opens again", async () => {
  await gateway.stop();
  await start({ SVC_DRAIN_S: "0.001" });
  const { promise, resolve } = Promise.withResolvers<void>();
  gateway.upstream.replyWith(
    pausedAfter({ recording: chatStreams.openai(), parts: 2, until: promise }),
  );
  const stream = await gateway.call("/chat/completions", { ...chat, stream: true });
  reply = { ...reply, isDraining: true };
  await waitUntil("the port to be closed", () => logged(["drained;"]).length === 1);
  await expect(gateway.call("/chat/completions", chat)).rejects.toThrow("ECONNREFUSED");
  resolve();
  expect(await stream.text()).toEndWith("data: [DONE]\n\n");
  // Another program has taken the port: it is tried again with every tick.
  const { port } = new URL(gateway.origin);
  const thief = Bun.listen({ hostname: "127.0.0.1", port: Number(port), socket: { data() {} } });
  reply = { ...reply, isDraining: false };
  await nextTick();
  thief.stop(true);
  await waitUntil("the port to be open", () => logged(["resumed;"]).length === 1);
  gateway.upstream.replyWith(chatAnswers.plain());
  expect((await gateway.call("/chat/completions", chat)).status).toBe(200);
  expect(logged(["cannot resume", "request"])).toEqual([
    "cannot resume, because the port cannot be opened; trying again",
  ]);
});

test("a worker that starts on a drained machine never listens", async () => {
  await gateway.stop();
  reply = { ...reply, isDraining: true };
  await start();
  await waitUntil("the port to be closed", () => logged(["drained;"]).length === 1);
  await expect(fetch(`${gateway.origin}/readyz`)).rejects.toThrow();
});

test("a node whose epoch was closed by others ends by itself", async () => {
  reply = { ...reply, isOpen: false };
  await gateway.server.takenOver;
  expect(await fetch(`${gateway.origin}/healthz`).catch(() => "closed")).toBe("closed");
});

test("breakers that an operator resets anywhere are closed here", async () => {
  gateway.upstream.replyWith(failures.internal());
  const state = async () =>
    (await fetch(`${gateway.platformUrl}/metrics`).then((page) => page.text())).match(
      /svc_breaker_state\{[^}]*upstream-chat[^}]*\} (\d)/,
    )?.[1];
  for (let calls = 0; calls < 5; calls++)
    await (await gateway.call("/chat/completions", chat)).text();
  await waitUntil("the target to be out of service", async () => (await state()) === "2");
  news.push({ topic: "targets", subject: toTargetSubject({ kind: "reset", provider: "fake" }) });
  reply = { ...reply, sequence: reply.sequence + 1 };
  await nextTick();
  expect(await state()).toBe("0");
});

test("a temporary key of any process works here, until its owner's keys end", async () => {
  const models = async (key: string) =>
    (await fetch(`${gateway.baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } }))
      .status;
  const { gateway: gateways } = gateway.server.operations;
  const input = { account: gateway.account, owner: "user_1" };
  const { key } = await gateways.createTemporaryKey(input);
  expect(key).toStartWith("sk-svc-t.");
  const other = await gateways.createTemporaryKey({ ...input, owner: "user_2" });
  expect(await models(key)).toBe(200);
  gateway.upstream.replyWith(chatAnswers.plain());
  const headers = { authorization: `Bearer ${key}` };
  const called = await gateway.call("/chat/completions", chat, { headers });
  expect(called.status).toBe(200);
  await called.text();
  expect(await models(`${key.slice(0, -2)}AA`)).toBe(401);
  ended.set("user_1", Date.now());
  news.push({ topic: "temporary-keys", subject: "user_1" });
  reply = { ...reply, sequence: reply.sequence + 1 };
  await nextTick();
  expect(await models(key)).toBe(401);
  expect(await models(other.key)).toBe(200);
});
