import { afterEach, beforeEach, expect, test } from "bun:test";
import { EventEmitter, once } from "node:events";
import type { Opened } from "../../../src/app/opened.ts";
import { openStore } from "../../../src/app/store.ts";
import { toTargetSubject } from "../../../src/catalog/health.ts";
import { FleetClock } from "../../../src/fleet/clock.ts";
import type { FleetStore, TickReply } from "../../../src/fleet/store.ts";
import { chatAnswers, failures } from "../../fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";

const chat = { model: "svc-3-flash", messages: [{ role: "user", content: "Hi" }] };

/** What the other nodes say; a test changes it. */
let reply: TickReply;
const ticks = new EventEmitter();
let news: { readonly topic: "targets" | "temporary-keys"; readonly subject: string }[];
let ended: Map<string, number>;
let gateway: TestGateway;
let lines: string[];

const refuse = () => Promise.reject(new Error("not part of this test"));
const fleet: FleetStore = {
  async tick() {
    ticks.emit("tick");
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
  const shared = { fleet, clock, targets, endedOwners, live, firstStart };
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
  news = [];
  ended = new Map();
  lines = [];
  gateway = await startTestGateway({
    open: openShared,
    environment: { SVC_BREAKERS: "on", SVC_LOG_LEVEL: "info" },
    writeLog: (line) => void lines.push(line),
  });
  gateway.upstream.replyWith(chatAnswers.plain());
});
afterEach(() => gateway.stop());

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

test("a node that drains takes no new calls and is not ready, until it is let back in", async () => {
  expect((await gateway.call("/chat/completions", chat)).status).toBe(200);
  reply = { ...reply, isDraining: true };
  await nextTick();
  const refused = await gateway.call("/chat/completions", chat);
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({
    error: {
      code: "shutting_down",
      message:
        "This gateway is being drained and takes no new calls. Try again: another one will answer.",
    },
  });
  const ready = await fetch(`${gateway.origin}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toEqual({ status: "draining" });
  const metrics = await (await fetch(`${gateway.platformUrl}/metrics`)).text();
  expect(metrics).toMatch(/svc_requests_total\{[^}]*outcome="draining",fault=""[^}]*\} 1/);
  expect(metrics).not.toContain('fault="gateway"');
  expect((await fetch(`${gateway.origin}/healthz`)).status).toBe(200);
  reply = { ...reply, isDraining: false };
  await nextTick();
  expect((await gateway.call("/chat/completions", chat)).status).toBe(200);
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
  // One line for each change; none for a rejected call.
  expect(logged(["draining;", "resumed;", "request"])).toEqual([
    "draining; calls in flight may finish and new ones are rejected",
    "resumed; new calls are accepted",
  ]);
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
