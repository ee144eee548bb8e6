import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../test/fixtures/media/fixture.ts";
import { Gcra } from "./gcra.ts";

/** A moment as large as real ones are: there a double has steps of 0.0002 ms. */
const startMs = 1_794_000_000_000;

/** From 0 to below 1, the same in every run. */
function seeded(seed: number): () => number {
  const random = seededRandom(seed);
  return () => random(2 ** 31) / 2 ** 31;
}

/** What a rate must be able to do here; the reference does it too. */
interface Rate {
  tryTake(cost: number, nowMs: number): boolean;
  settle(difference: number, nowMs: number): void;
}

function rateOf(perMinute: number): Rate {
  const gcra = new Gcra(perMinute);
  return {
    tryTake(cost, nowMs) {
      if (gcra.waitMs(cost, nowMs) > 0) return false;
      gcra.take(cost, nowMs);
      return true;
    },
    settle: (difference, nowMs) => gcra.adjust(difference, nowMs),
  };
}

/** A token bucket in whole numbers, without any rounding: a unit is 60,000 drops, N drop in a ms. */
function exactBucket(perMinute: number): Rate {
  const dropsPerUnit = 60_000n;
  const capacity = BigInt(perMinute) * dropsPerUnit;
  let drops = capacity;
  let filledMs = BigInt(startMs);
  const fill = (nowMs: number) => {
    const now = BigInt(nowMs);
    drops += (now - filledMs) * BigInt(perMinute);
    if (drops > capacity) drops = capacity;
    filledMs = now;
  };
  return {
    tryTake(cost, nowMs) {
      fill(nowMs);
      const price = BigInt(cost) * dropsPerUnit;
      if (drops < price) return false;
      drops -= price;
      return true;
    },
    settle(difference, nowMs) {
      fill(nowMs);
      drops -= BigInt(difference) * dropsPerUnit;
      if (drops > capacity) drops = capacity;
    },
  };
}

interface Arrival {
  readonly atMs: number;
  readonly cost: number;
  readonly truth: number;
  readonly settledMs: number;
}

const paces = [1.5, 0.02, 0.02, 1, 20];

/** Crowds and quiet times around the rate itself, so that the bucket is full, empty and between. */
function arrivalsAt(perMinute: number, costs: { seed: number; most: number }): Arrival[] {
  const random = seeded(costs.seed);
  const slotMs = (60_000 / perMinute) * ((costs.most + 1) / 2);
  let atMs = startMs;
  let pace = 1;
  return Array.from({ length: 20_000 }, (_, index) => {
    if (index % 4_000 === 0) pace = paces[index / 4_000] ?? 1;
    atMs += Math.round(-Math.log(1 - random()) * slotMs * pace);
    const cost = 1 + Math.floor(random() * costs.most);
    const truth = Math.floor(cost * random() * 1.5);
    return { atMs, cost, truth, settledMs: atMs + Math.floor(random() * 20_000) };
  });
}

/** Who is admitted; with settlement, each admitted one tells the truth when its call has ended. */
function play(rate: Rate, arrivals: readonly Arrival[], isSettled: boolean): boolean[] {
  const open: Arrival[] = [];
  const settleUntil = (nowMs: number) => {
    while ((open[0]?.settledMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
      const done = open.shift();
      if (done !== undefined) rate.settle(done.truth - done.cost, done.settledMs);
    }
  };
  return arrivals.map((arrival) => {
    settleUntil(arrival.atMs);
    const isAdmitted = rate.tryTake(arrival.cost, arrival.atMs);
    if (isAdmitted && isSettled) {
      const later = open.findIndex(({ settledMs }) => settledMs > arrival.settledMs);
      open.splice(later === -1 ? open.length : later, 0, arrival);
    }
    return isAdmitted;
  });
}

const countOf = (decisions: readonly boolean[]) => decisions.filter(Boolean).length;

/** The most by which any stretch of time admits more than refill alone; the burst is its bound. */
function largestBurst(perMinute: number, admitted: readonly Arrival[]): number {
  let used = 0;
  let lowest = Number.POSITIVE_INFINITY;
  let largest = 0;
  for (const { atMs, cost } of admitted) {
    const refill = ((atMs - startMs) * perMinute) / 60_000;
    lowest = Math.min(lowest, used - refill);
    used += cost;
    largest = Math.max(largest, used - refill - lowest);
  }
  return largest;
}

describe("the rate", () => {
  test.each([1, 3, 60, 600, 6_000, 7_777])(
    "of %d a minute admits at most N × (1 + T/60) in every stretch of T seconds",
    (perMinute) => {
      for (const seed of [1, 2, 3])
        for (const most of [Math.ceil(perMinute / 1_000), Math.ceil(perMinute / 10)]) {
          const arrivals = arrivalsAt(perMinute, { seed, most });
          const decisions = play(rateOf(perMinute), arrivals, false);
          const admitted = arrivals.filter((_, index) => decisions[index]);
          const largest = largestBurst(perMinute, admitted);
          expect(largest).toBeLessThanOrEqual(perMinute * (1 + 1e-7));
          // And the bound is really reached: this is no rate that is merely stingy.
          expect(largest).toBeGreaterThan(perMinute - most);
        }
    },
  );

  // With these the exact bucket is never nearer to the edge than a microsecond without being on it.
  test.each([1, 3, 60, 100, 600, 6_000])(
    "of %d requests a minute decides every one of 20,000 arrivals as exact arithmetic does",
    (perMinute) => {
      const arrivals = arrivalsAt(perMinute, { seed: 11, most: 1 });
      const decisions = play(rateOf(perMinute), arrivals, false);
      expect(decisions).toEqual(play(exactBucket(perMinute), arrivals, false));
      expect(countOf(decisions)).toBeGreaterThan(5_000);
      expect(countOf(decisions)).toBeLessThan(19_000);
    },
  );

  test.each([600, 6_000, 90_000, 1_000_000])(
    "of %d tokens a minute, settled up and down, decides as exact arithmetic does",
    (perMinute) => {
      for (const most of [perMinute / 100, perMinute / 20, perMinute]) {
        const arrivals = arrivalsAt(perMinute, { seed: 12, most });
        const decisions = play(rateOf(perMinute), arrivals, true);
        expect(decisions).toEqual(play(exactBucket(perMinute), arrivals, true));
        expect(countOf(decisions)).toBeGreaterThan(2_000);
        expect(countOf(decisions)).toBeLessThan(20_000);
      }
    },
  );

  test.each([60, 600, 6_000, 90_000])(
    "of %d a minute tells the very millisecond that exact arithmetic does",
    (perMinute) => {
      const random = seededRandom(14);
      for (let round = 0; round < 2_000; round++) {
        const gcra = new Gcra(perMinute);
        // Small moments too, as clocks tell that count from the start of the process.
        const takenMs = round % 2 === 0 ? startMs : round;
        const half = perMinute / 2;
        const [first, second, pauseMs] = [half + random(half), random(half), random(20_000)];
        gcra.take(first, takenMs);
        gcra.take(second, takenMs + pauseMs);
        const leaked = BigInt(pauseMs) * BigInt(perMinute);
        const left = BigInt(first) * 60_000n - leaked;
        const drops = (left > 0n ? left : 0n) + BigInt(second) * 60_000n;
        const roundedUp = Number((drops + BigInt(perMinute) - 1n) / BigInt(perMinute));
        expect(gcra.resetMs(takenMs + pauseMs)).toBe(roundedUp);
        // The whole burst is admitted at the moment when it is all there again.
        expect(gcra.promise(perMinute, takenMs + pauseMs)).toBe(roundedUp);
      }
    },
  );

  test.each([7_777, 123_457, 10_000_019])(
    "of %d a minute, odd as it is, admits as many as exact arithmetic, within one in a hundred",
    (perMinute) => {
      for (const isSettled of [false, true]) {
        const arrivals = arrivalsAt(perMinute, { seed: 13, most: perMinute / 20 });
        const count = countOf(play(rateOf(perMinute), arrivals, isSettled));
        const exact = countOf(play(exactBucket(perMinute), arrivals, isSettled));
        expect(Math.abs(count - exact)).toBeLessThanOrEqual(exact / 100);
        expect(exact).toBeGreaterThan(5_000);
      }
    },
  );
});
