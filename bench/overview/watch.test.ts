import { expect, test } from "bun:test";
import { costWatched, watchWhile } from "./watch.ts";

test("a watcher asks until it is stopped, and its pause does not hold up the end", async () => {
  const asked = Promise.withResolvers<void>();
  let count = 0;
  const watcher = watchWhile(async () => {
    if (++count === 3) asked.resolve();
  }, 1);
  await asked.promise;
  expect(await watcher.stop()).toBeGreaterThanOrEqual(3);
  const patient = watchWhile(async () => {}, 60_000);
  await Promise.resolve();
  expect(await patient.stop()).toBe(1);
});

test("a watcher that fails says so when it is stopped", async () => {
  const watcher = watchWhile(() => Promise.reject(new Error("no answer")), 1);
  await expect(watcher.stop()).rejects.toThrow("no answer");
});

test("rounds with a watcher are told apart from those without, whoever comes first", async () => {
  let [cpuMs, nowMs, isWatched] = [0, 0, false];
  const cost = await costWatched({
    rounds: 3,
    cpuMs: () => cpuMs,
    nowMs: () => nowMs,
    async load() {
      cpuMs += isWatched ? 30 : 20;
      nowMs += 500;
      return 1_000;
    },
    async watch() {
      isWatched = true;
      return {
        stop: async () => {
          isWatched = false;
        },
      };
    },
  });
  expect([cost.alone?.rounds, cost.watched?.rounds, cost.ratio?.rounds]).toEqual([
    [20, 20, 20],
    [30, 30, 30],
    [1.5, 1.5, 1.5],
  ]);
  expect([cost.requestsASecond?.median, cost.addedMsASecond?.median]).toEqual([2_000, 20]);
});
