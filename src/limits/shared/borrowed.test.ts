import { afterEach, describe, expect, test } from "bun:test";
import { seededRandom } from "../../../test/fixtures/media/fixture.ts";
import { type LimitedNode, SharedLimits } from "../../../test/setup/shared-limits.ts";
import { Limiter } from "../limiter.ts";
import { Permit } from "../permit.ts";
import { type LimitedOwner } from "../request-limiter.ts";

let shared: SharedLimits | undefined;
afterEach(async () => {
  await shared?.close();
  shared = undefined;
});

const account: LimitedOwner = { id: "acct_1", kind: "account", limits: undefined };

interface Load {
  readonly perMinute: number;
  /** Of each node, how much of the requests comes to it. */
  readonly weights: readonly number[];
  /** How many times the limit is asked for. */
  readonly over: number;
  readonly seconds: number;
  /** How many requests come at once. */
  readonly crowd: number;
}

interface Arrival {
  readonly atMs: number;
  readonly node: number;
}

/** A minute's quota at once and at one node, so that little is left; then the load. */
function arrivalsOf({ perMinute, weights, over, seconds, crowd }: Load): Arrival[] {
  const random = seededRandom(perMinute + crowd);
  const nodes = weights.flatMap((weight, node) => Array.from({ length: weight }, () => node));
  const slotMs = (60_000 / perMinute / over) * crowd;
  const arrivals = Array.from({ length: perMinute }, () => ({ atMs: 0, node: 0 }));
  for (let atMs = 1; atMs < seconds * 1_000; ) {
    atMs += -Math.log(1 - random(2 ** 30) / 2 ** 30) * slotMs;
    const node = nodes[random(nodes.length)] ?? 0;
    for (let come = 0; come < crowd; come++) arrivals.push({ atMs: Math.ceil(atMs), node });
  }
  return arrivals;
}

/** When requests were admitted, by nodes that share a limit and by one process that has it alone. */
async function play(load: Load): Promise<{ admittedMs: number[]; alone: number }> {
  shared = await SharedLimits.open(load.weights.length);
  const { nodes } = shared;
  const key: LimitedOwner = { id: "key_1", kind: "key", limits: { rpm: load.perMinute } };
  const single = new Limiter();
  const admittedMs: number[] = [];
  let alone = 0;
  const note = (answer: unknown) => {
    if (answer instanceof Permit) admittedMs.push(shared?.nowMs() ?? 0);
  };
  for (const { atMs, node } of arrivalsOf(load)) {
    if (atMs > shared.nowMs()) await shared.advance(atMs - shared.nowMs());
    if (single.enter({ key, account, nowMs: 1e9 + atMs }) instanceof Permit) alone++;
    const answer = nodes[node]?.limiter.enter({ key, account, nowMs: 0 });
    if (answer instanceof Promise) void answer.then(note);
    else note(answer);
  }
  await shared.advance(2_000);
  return { admittedMs, alone };
}

/** The most by which any stretch of time admits more than refill alone; the burst is its bound. */
function largestBurst(perMinute: number, admittedMs: readonly number[]): number {
  let lowest = Number.POSITIVE_INFINITY;
  let largest = 0;
  admittedMs.forEach((atMs, used) => {
    const refill = (atMs * perMinute) / 60_000;
    lowest = Math.min(lowest, used - refill);
    largest = Math.max(largest, used + 1 - refill - lowest);
  });
  return largest;
}

const even = [1, 1, 1, 1, 1, 1, 1, 1];
const uneven = [50, 20, 10, 10, 5, 3, 1, 1];
const single = [1, 0, 0, 0, 0, 0, 0, 0];

describe.each([
  { perMinute: 1, seconds: 200 },
  { perMinute: 7, seconds: 120 },
  { perMinute: 60, seconds: 60 },
  { perMinute: 1_000, seconds: 20 },
  { perMinute: 6_000, seconds: 10 },
  { perMinute: 60_000, seconds: 4 },
])("$perMinute per minute on 8 nodes", ({ perMinute, seconds }) => {
  test.each([
    { name: "even", weights: even, crowd: 1 },
    { name: "uneven", weights: uneven, crowd: 1 },
    { name: "on one node", weights: single, crowd: 1 },
    { name: "in crowds", weights: uneven, crowd: Math.ceil(perMinute / 40) },
  ])("admit what one process would, and never more than the limit: load $name", async (shape) => {
    const { admittedMs, alone } = await play({ perMinute, over: 3, seconds, ...shape });
    // The answer of the database comes two milliseconds after it was given.
    const slack = (2 * perMinute) / 60_000;
    expect(largestBurst(perMinute, admittedMs)).toBeLessThanOrEqual(perMinute + slack + 1e-6);
    expect(admittedMs.length).toBeGreaterThanOrEqual(Math.floor(alone * 0.98));
    expect(admittedMs.length).toBeLessThanOrEqual(Math.ceil(alone * 1.02));
    for (const { calls } of shared?.nodes ?? [])
      expect(calls.length).toBeLessThanOrEqual(4 * (seconds + 2) + 8);
  });
});

test("below the limit nobody is refused, and a node asks about twice per second", async () => {
  shared = await SharedLimits.open(2);
  const key: LimitedOwner = { id: "key_1", kind: "key", limits: { rpm: 6_000 } };
  let waited = 0;
  for (let come = 0; come < 1_000; come++) {
    const answer = shared.nodes[come % 2]?.limiter.enter({ key, account, nowMs: 0 });
    if (answer instanceof Promise) waited++;
    await shared.advance(20);
    expect(await answer).toBeInstanceOf(Permit);
  }
  expect(waited).toBeLessThan(100);
  for (const { calls } of shared.nodes) expect(calls.length).toBeLessThanOrEqual(80);
});

const keyWith = (concurrency: number, version = 0): LimitedOwner => ({
  id: "key_1",
  kind: "key",
  limits: { concurrency },
  version,
});

/** Calls of several nodes that begin and end. */
class Calls {
  readonly running: { readonly permit: Permit; readonly node: LimitedNode }[] = [];
  readonly #limits: SharedLimits;
  highest = 0;
  refused = 0;

  constructor(limits: SharedLimits) {
    this.#limits = limits;
  }

  begin(node: LimitedNode, key: LimitedOwner): void {
    const note = (answer: unknown) => {
      if (answer instanceof Permit) this.running.push({ permit: answer, node });
      else this.refused++;
      this.highest = Math.max(this.highest, this.running.length);
    };
    const answer = node.limiter.enter({ key, account, nowMs: 0 });
    if (answer instanceof Promise) void answer.then(note, () => {});
    else note(answer);
  }

  end(at: number): void {
    const [call] = this.running.splice(at, 1);
    call?.node.limiter.release(call.permit, 0, 0);
  }

  /** The node is gone, and its calls with it. */
  kill(node: LimitedNode): void {
    const left = this.running.filter((call) => call.node !== node);
    this.running.splice(0, this.running.length, ...left);
  }

  /** How many can run at once now, however they are spread. */
  async saturate(nodes: readonly LimitedNode[], key: LimitedOwner): Promise<number> {
    for (let round = 0; round < 40; round++) {
      for (const node of nodes) this.begin(node, key);
      await this.#limits.advance(600);
    }
    return this.running.length;
  }
}

test.each([1, 3, 20, 200])(
  "a limit of %d at a time holds on 8 nodes, and all of it is back when a dead node's epoch is closed",
  async (limit) => {
    shared = await SharedLimits.open(8);
    const { nodes } = shared;
    const [dead, ...others] = nodes;
    if (dead === undefined) throw new Error("no node");
    const random = seededRandom(limit);
    const key = keyWith(limit);
    const calls = new Calls(shared);
    let open = nodes as readonly LimitedNode[];
    for (let step = 0; step < 800; step++) {
      const node = open[random(open.length)];
      const isFilling = Math.floor(step / 100) % 2 === 0;
      if (node !== undefined && random(10) < (isFilling ? 8 : 3)) {
        for (let come = 0; come <= limit / 20; come++) calls.begin(node, key);
      } else if (calls.running.length > 0) calls.end(random(calls.running.length));
      if (step === 400) {
        calls.kill(dead);
        open = others;
      }
      await shared.advance(random(40));
    }
    expect(calls.highest).toBeLessThanOrEqual(limit);
    expect(calls.highest).toBeGreaterThanOrEqual(limit * 0.9);
    expect(calls.refused).toBeGreaterThan(0);
    await shared.closeEpoch(dead);
    expect(await calls.saturate(others, key)).toBe(limit);
    expect(calls.highest).toBe(limit);
    for (const node of nodes)
      expect(node.calls.length).toBeLessThan(4 * (shared.nowMs() / 1_000) + 8);
  },
  120_000,
);

test("places of a dead node stay taken until its epoch is closed", async () => {
  shared = await SharedLimits.open(2);
  const [dead, other] = shared.nodes;
  if (dead === undefined || other === undefined) throw new Error("no node");
  const calls = new Calls(shared);
  expect(await calls.saturate([dead], keyWith(3))).toBe(3);
  calls.kill(dead);
  await shared.advance(3_600_000);
  expect(await calls.saturate([other], keyWith(3))).toBe(0);
  await shared.closeEpoch(dead);
  expect(await calls.saturate([other], keyWith(3))).toBe(3);
});

test("one call after another is admitted whichever node gets it, with a limit of one", async () => {
  shared = await SharedLimits.open(8);
  const random = seededRandom(8);
  const calls = new Calls(shared);
  for (let come = 0; come < 200; come++) {
    const node = shared.nodes[random(8)];
    if (node === undefined) throw new Error("no node");
    calls.begin(node, keyWith(1));
    await shared.advance(300);
    expect(calls.running).toHaveLength(1);
    calls.end(0);
  }
  expect(calls.refused).toBe(0);
});

test("a lowered limit takes effect with the next request, also for places in hand", async () => {
  shared = await SharedLimits.open(2);
  const [one, other] = shared.nodes;
  if (one === undefined || other === undefined) throw new Error("no node");
  const calls = new Calls(shared);
  expect(await calls.saturate([one, other], keyWith(40))).toBe(40);
  const lowered = keyWith(10, 1);
  while (calls.running.length > 10) calls.end(0);
  expect(await calls.saturate([one, other], lowered)).toBe(10);
  calls.end(0);
  // One that has not heard of the change yet does not bring the old limit back.
  expect(await calls.saturate([one, other], keyWith(40))).toBe(10);
});
