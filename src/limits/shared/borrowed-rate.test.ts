import { afterEach, describe, expect, test } from "bun:test";
import { seededRandom } from "../../../test/fixtures/media/fixture.ts";
import { SharedLimits } from "../../../test/setup/shared-limits.ts";
import { Limiter } from "../limiter.ts";
import { Permit } from "../permit.ts";
import type { LimitedOwner } from "../request-limiter.ts";

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
