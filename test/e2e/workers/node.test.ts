import { afterEach, beforeEach, expect, test } from "bun:test";
import { EventEmitter, once } from "node:events";
import type { Opened } from "../../../src/app/opened.ts";
import { openStore } from "../../../src/app/store.ts";
import { toTargetSubject } from "../../../src/catalog/health.ts";
import type { FleetStore, TickReply } from "../../../src/fleet/store.ts";
import { chatAnswers, failures } from "../../fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";

const chat = { model: "svc-3-flash", messages: [{ role: "user", content: "Hi" }] };

/** What the other nodes say; a test changes it. */
let reply: TickReply;
const ticks = new EventEmitter();
let news: string[];
let gateway: TestGateway;

const refuse = () => Promise.reject(new Error("not part of this test"));
const fleet: FleetStore = {
  async tick() {
    ticks.emit("tick");
    return reply;
  },
  join: refuse,
  leave: refuse,
  recover: refuse,
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
        const told = news
          .splice(0)
          .map((subject) => ({ sequence, topic: "targets", subject }) as const);
        return changes && [...changes, ...told];
      },
    },
  };
  const gateways = {
    health: async () => [],
    resetHealth: async () => 0,
    forgetServed: async () => {},
    issueTemporaryKey: refuse,
    endTemporaryKeys: async () => {},
  };
  const live = { watchers: new Set<never>(), rejectionWatchers: new Set<never>() };
  return { ...opened, store, shared: { fleet, gateways, live } };
}

beforeEach(async () => {
  reply = { isOpen: true, isDraining: false, sequence: 0, nodes: 1, recalls: [], reports: 0 };
  news = [];
  gateway = await startTestGateway({ open: openShared, environment: { SVC_BREAKERS: "on" } });
  gateway.upstream.replyWith(chatAnswers.plain());
});
afterEach(() => gateway.stop());

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
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(503);
  expect((await fetch(`${gateway.origin}/healthz`)).status).toBe(200);
  reply = { ...reply, isDraining: false };
  await nextTick();
  expect((await gateway.call("/chat/completions", chat)).status).toBe(200);
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
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
  news.push(toTargetSubject({ kind: "reset", provider: "fake" }));
  reply = { ...reply, sequence: reply.sequence + 1 };
  await nextTick();
  expect(await state()).toBe("0");
});
