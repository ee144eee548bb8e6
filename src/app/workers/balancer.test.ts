import { expect, test } from "bun:test";
import { connectionsToEnd } from "./balancer.ts";

const asked = (...pending: readonly number[]) => [
  ...connectionsToEnd(new Map(pending.map((count, at) => [at + 1, count]))),
];

test("a worker far above the average ends what it has too many", () => {
  expect(asked(30, 10, 10, 10)).toEqual([[1, 15]]);
});

test("after a restart all others give some to the worker that has none", () => {
  expect(asked(20, 20, 20, 0)).toEqual([
    [1, 5],
    [2, 5],
    [3, 5],
  ]);
});

test("small differences and small loads stay as they are", () => {
  expect(asked(18, 16, 15, 15)).toEqual([]);
  expect(asked(6, 0, 0, 0)).toEqual([]);
  expect(asked()).toEqual([]);
});

test("some rounds of ending and connecting again even out what the kernel chose", () => {
  // Small and seeded: the kernel's choice is as good as random.
  let state = 7;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  const counts = [40, 12, 8, 4];
  const perWorker = () => new Map(counts.map((count, at) => [at + 1, count]));
  for (let round = 0; round < 20; round++)
    for (const [worker, count] of connectionsToEnd(perWorker())) {
      counts[worker - 1] = (counts[worker - 1] ?? 0) - count;
      for (let moved = 0; moved < count; moved++) {
        const to = random(counts.length);
        counts[to] = (counts[to] ?? 0) + 1;
      }
    }
  expect(Math.max(...counts)).toBeLessThanOrEqual(20);
});
