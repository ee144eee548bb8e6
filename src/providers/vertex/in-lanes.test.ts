import { expect, test } from "bun:test";
import { inLanes } from "./in-lanes.ts";

const { signal } = new AbortController();

test("never runs more than allowed, and gives results in the order of the items", async () => {
  let running = 0;
  let most = 0;
  const gates = Array.from({ length: 20 }, () => Promise.withResolvers<void>());
  const done = inLanes({
    items: gates.map(({ promise }, at) => ({ at, promise })),
    most: 8,
    signal,
    work: async ({ at, promise }) => {
      running++;
      most = Math.max(most, running);
      await promise;
      running--;
      return at;
    },
  });
  // Backwards, so that later items end first.
  for (const gate of gates.toReversed()) gate.resolve();
  expect(await done).toEqual(gates.map((_, at) => at));
  expect(most).toBe(8);
});

test("ends all that are on their way, and begins no more, when one fails", async () => {
  const failure = new Error("the third");
  const ended: unknown[] = [];
  let begun = 0;
  const all = inLanes({
    items: [0, 1, 2, 3, 4, 5, 6, 7],
    most: 4,
    signal,
    work: (item, own) => {
      begun++;
      if (item === 2) return Promise.reject(failure);
      return new Promise((_resolve, reject) => {
        own.addEventListener("abort", () => {
          ended.push(own.reason);
          reject(own.reason);
        });
      });
    },
  });
  expect(await all.catch((error: unknown) => error)).toBe(failure);
  expect(ended).toEqual([failure, failure, failure]);
  expect(begun).toBe(4);
});

test("gives the caller's reason when the caller leaves", async () => {
  const leaving = new AbortController();
  const all = inLanes({
    items: [0, 1],
    most: 8,
    signal: leaving.signal,
    work: (_item, own) =>
      new Promise((_resolve, reject) => {
        own.addEventListener("abort", () => reject(own.reason));
      }),
  });
  const reason = new Error("left");
  leaving.abort(reason);
  expect(await all.catch((error: unknown) => error)).toBe(reason);
});
