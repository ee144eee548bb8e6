import { expect, test } from "bun:test";
import { createPace } from "./pace.ts";

/** Runs tokens that take as long as the machine makes them; gives the threads that were used. */
function run(
  pace: ReturnType<typeof createPace>,
  tokens: number,
  msFor: (threads: number) => number,
) {
  return Array.from({ length: tokens }, () => {
    const { threads } = pace;
    pace.note(msFor(threads));
    return threads;
  });
}
const share = (used: readonly number[], threads: number) =>
  used.filter((one) => one === threads).length / used.length;
const idle = (threads: number) => (threads === 1 ? 150 : 80);
const busy = (threads: number) => (threads === 1 ? 200 : 2_000);

test("uses all threads on an idle machine, but for a rare try", () => {
  expect(share(run(createPace(2), 300, idle), 2)).toBeGreaterThan(0.95);
});

test("falls to one thread after a few tokens on a busy machine, and tries again ever more rarely", () => {
  const used = run(createPace(2), 300, busy);
  expect(used.slice(0, 4)).toEqual([2, 2, 1, 1]);
  expect(share(used, 1)).toBeGreaterThan(0.95);
});

test("comes back when the machine is idle again, and falls again when it is busy", () => {
  const pace = createPace(8);
  run(pace, 100, busy);
  expect(share(run(pace, 300, idle).slice(-100), 8)).toBeGreaterThan(0.95);
  expect(share(run(pace, 300, busy).slice(-100), 1)).toBeGreaterThan(0.95);
});

test("has nothing to choose on one core", () => {
  expect(share(run(createPace(1), 20, idle), 1)).toBe(1);
});
