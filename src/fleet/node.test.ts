import { expect, test } from "bun:test";
import { FleetClock } from "./clock.ts";
import { FleetNode } from "./node.ts";
import type { TickReply } from "./store.ts";

const load = () => ({ calls: 0, memoryMb: 0, cpuMs: 0 });
const reply: TickReply = {
  isOpen: true,
  isDraining: false,
  sequence: 1,
  nodes: 3,
  recalls: [],
  reports: 0,
  nowMs: 0,
};

function setUp() {
  const time = { ms: 1_000 };
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  const log = { debug: note, info: note, warn: note, error: note };
  const answers: (() => Promise<TickReply>)[] = [];
  const takeIns: Promise<void>[] = [];
  const heard: TickReply[] = [];
  let closed = 0;
  let recovered = 0;
  const elapsedMs = () => time.ms;
  const clock = new FleetClock(elapsedMs, () => time.ms + 5);
  const node = new FleetNode({
    store: {
      tick: () => (answers.shift() ?? (async () => reply))(),
      recover: async () => {
        recovered++;
        return 0;
      },
    },
    load,
    seen: () => 0,
    onTick: async (one) => {
      heard.push(one);
      await takeIns.shift();
    },
    onClosed: () => {
      closed++;
    },
    clock,
    log,
    elapsedMs,
    everyMs: 1e9,
    takeInMs: 5,
    callWaitsMs: 40,
  });
  return {
    time,
    lines,
    answers,
    takeIns,
    heard,
    clock,
    node,
    closed: () => closed,
    recovered: () => recovered,
  };
}

test("a node is up to date for a second after a tick was sent, and then hears first", async () => {
  const { time, node, heard } = setUp();
  expect(node.isFresh()).toBe(false);
  await node.start();
  expect(node.isFresh()).toBe(true);
  expect(node.nodes).toBe(3);
  time.ms += 999;
  expect(node.isFresh()).toBe(true);
  time.ms += 1;
  expect(node.isFresh()).toBe(false);
  await Promise.all([node.refresh(), node.refresh(), node.refresh()]);
  // Those who ask together hear together.
  expect(heard).toHaveLength(2);
  await node.stop();
});

test("an answer to a question from before a pause does not count", async () => {
  const { time, node, answers, heard } = setUp();
  answers.push(async () => {
    time.ms += 60_000;
    return reply;
  });
  await node.refresh();
  expect(heard).toHaveLength(2);
  expect(node.isFresh()).toBe(true);
});

test("without an answer in time from the database, no call is admitted, and the log has one line", async () => {
  const { time, node, answers, lines } = setUp();
  const away = async (): Promise<TickReply> => {
    throw new Error("connection refused");
  };
  answers.push(away, away);
  await expect(node.refresh()).rejects.toThrow("connection refused");
  await expect(node.refresh()).rejects.toThrow("connection refused");
  expect(lines).toEqual(["database is not reachable"]);
  const late = async () => {
    time.ms += 2_000;
    return reply;
  };
  answers.push(late, late);
  await expect(node.refresh()).rejects.toThrow("too late");
  await node.refresh();
  expect(lines).toContain("database is reachable again");
});

test("changes that are never read, or a tick that never ends, keep no call waiting for ever", async () => {
  const { node, answers, takeIns, lines } = setUp();
  const never = new Promise<never>(() => {});
  takeIns.push(never);
  await expect(node.refresh()).rejects.toThrow("changes were not read in time");
  expect(lines).toEqual(["database is not reachable"]);
  await node.refresh();
  expect(lines).toEqual(["database is not reachable", "database is reachable again"]);
  const stuck = setUp();
  stuck.answers.push(() => never);
  await expect(stuck.node.refresh()).rejects.toThrow("too late");
  expect(stuck.lines).toEqual(["database is not reachable"]);
  await stuck.node.refresh();
  expect(stuck.lines).toEqual(["database is not reachable", "database is reachable again"]);
  await stuck.node.stop();
  expect(answers).toEqual([]);
});

test("readiness follows the ticks, and only ticks that no longer end make a node stuck", async () => {
  const { node, time, answers } = setUp();
  expect(node.isReady()).toBe(false);
  await node.refresh();
  expect(node.isReady()).toBe(true);
  time.ms += 2_999;
  expect([node.isFresh(), node.isReady()]).toEqual([false, true]);
  const away = async (): Promise<TickReply> => {
    throw new Error("connection refused");
  };
  // An hour without a database: each tick fails in time.
  for (let at = 0; at < 36; at++) {
    time.ms += 100_000;
    answers.push(away);
    await expect(node.refresh()).rejects.toThrow("connection refused");
    expect([node.isReady(), node.isStuck()]).toEqual([false, false]);
  }
  time.ms += 180_001;
  expect(node.isStuck()).toBe(true);
  await node.refresh();
  expect([node.isReady(), node.isStuck()]).toEqual([true, false]);
});

test("after the database was away, others get time to come back before they are closed", async () => {
  const { time, node, answers, recovered } = setUp();
  await node.refresh();
  expect(recovered()).toBe(1);
  time.ms += 60_000;
  answers.push(async () => {
    throw new Error("connection refused");
  });
  await expect(node.refresh()).rejects.toThrow("connection refused");
  await node.refresh();
  expect(recovered()).toBe(1);
  time.ms += 5_000;
  await node.refresh();
  expect(recovered()).toBe(2);
});

test("a node whose epoch was closed stops, and is never up to date again", async () => {
  const { node, answers, closed } = setUp();
  answers.push(
    async () => ({ ...reply, isOpen: false }),
    async () => ({ ...reply, isOpen: false }),
  );
  await expect(node.refresh()).rejects.toThrow();
  expect(closed()).toBeGreaterThan(0);
  expect(node.isFresh()).toBe(false);
});

test("the time is the database's; a machine whose clock is wrong says so once and changes nothing", async () => {
  const { time, node, answers, clock, lines } = setUp();
  expect(clock.nowMs()).toBe(time.ms + 5);
  const at = (nowMs: number) => async () => {
    const sentMs = time.ms;
    time.ms += 10;
    return { ...reply, nowMs: sentMs + 5 + nowMs };
  };
  answers.push(at(3_600_000));
  await node.refresh();
  expect(clock.nowMs()).toBe(time.ms + 3_600_000);
  time.ms += 2_000;
  expect(clock.nowMs()).toBe(time.ms + 3_600_000);
  answers.push(at(3_600_000));
  await node.refresh();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("clock differs");
});
