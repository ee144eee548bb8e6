import { expect, test } from "bun:test";
import { commitTable, type Watched } from "./commits.ts";

const none = { count: 0, p50: 0, p99: 0, max: 0 };
const watched: Watched = {
  syncDelayMs: 0,
  requestsPerSecond: 12_345,
  p50Us: 4_000,
  p99Us: 9_000,
  singleP50Us: 300,
  commits: {
    seconds: 10,
    receipts: 6_000,
    heldMs: { count: 500, p50: 0.2, p99: 0.81, max: 4.5 },
    heldLong: 3,
    undisturbedMs: { count: 400, p50: 0.2, p99: 0.7, max: 0.9 },
    undisturbedLong: 0,
    sumsMs: none,
    syncMs: { count: 250, p50: 1, p99: 2, max: 3 },
    loopLateMs: { count: 9_000, p50: 0.1, p99: 1, max: 5 },
  },
};

test("the table tells rates by the second and by the commit, each disk in a column", () => {
  const lines = commitTable([watched, { ...watched, syncDelayMs: 3 }]).split("\n");
  const line = (label: string) => lines.find((one) => one.includes(label))?.split(/ {3,}/);
  expect(line("commits, in")?.slice(1)).toEqual(["this disk", "syncs 3 ms slower"]);
  expect(line("held the event loop")?.at(-1)).toBe("0.20 / 0.81 / 4.50");
  expect(line("receipts a commit")?.at(-1)).toBe("12.0");
  expect(line("syncs/s")?.at(-1)).toBe("25");
  expect(lines.filter((one) => one.includes("longer than 1 ms"))).toEqual([
    expect.stringContaining("3 of 500"),
    expect.stringContaining("0 of 400"),
  ]);
});

test("what did not happen has no times", () => {
  expect(commitTable([watched])).toMatch(/sums by hour held it.* –$/m);
});
