import { expect, test } from "bun:test";
import { doubts, spreadOf, summarise, table } from "./report.ts";

test("the median of an even number of rounds lies between the two in the middle", () => {
  expect(spreadOf([4, 1, 3, 2])).toMatchObject({ median: 2.5, min: 1, max: 4 });
  expect(spreadOf([7])).toMatchObject({ median: 7, min: 7, max: 7 });
  expect(spreadOf([])).toBeUndefined();
});

test("ratios are taken within a round, not between medians", () => {
  const { ratios } = summarise([
    { bare: { cpuUsPerRequest: 10 }, gateway: { cpuUsPerRequest: 20 } },
    { bare: { cpuUsPerRequest: 100 }, gateway: { cpuUsPerRequest: 110 } },
    { bare: { cpuUsPerRequest: 20 }, gateway: { cpuUsPerRequest: 30 } },
  ]);
  expect(ratios.cpuUsPerRequest?.rounds).toEqual([2, 1.1, 1.5]);
  expect(ratios.cpuUsPerRequest?.median).toBe(1.5);
});

test("what money and limits add is taken within a round, and may be less than nothing", () => {
  const summary = summarise([
    { free: { cpuUsPerRequest: 60 }, gateway: { cpuUsPerRequest: 70 } },
    { free: { cpuUsPerRequest: 90 }, gateway: { cpuUsPerRequest: 88 } },
    { free: { cpuUsPerRequest: 50 }, gateway: { cpuUsPerRequest: 57 } },
  ]);
  expect(summary.added.cpuUsPerRequest).toMatchObject({ median: 7, rounds: [10, -2, 7] });
  expect(summary.ratios).toEqual({});
  const [header = "", row = ""] = table(summary).split("\n");
  expect(header).toEndWith("money and limits add");
  expect(header).not.toContain("÷");
  expect(row).toEndWith("7.0 (-2.0 to 10.0)");
});

test("added time is what a proxy took beyond the direct way of the same round", () => {
  const { targets } = summarise([
    { direct: { firstByteUs: 20 }, bare: { firstByteUs: 120 } },
    { direct: { firstByteUs: 40 }, bare: { firstByteUs: 160 } },
  ]);
  expect(targets.bare?.firstByteAddedUs?.rounds).toEqual([100, 120]);
  expect(targets.direct?.firstByteAddedUs).toBeUndefined();
});

test("a run without the gateway has no column for it", () => {
  const text = table(summarise([{ direct: { p50Us: 1234 }, bare: { p50Us: 2345 } }]));
  expect(text).toContain("1,234 (1,234–1,234)");
  expect(text).not.toContain("gateway");
});

test("a generator at its limit and bunched chunks are told", () => {
  expect(doubts(summarise([{ bare: { generatorCores: 0.3, readsPerChunk: 1 } }]))).toEqual([]);
  expect(doubts(summarise([{ bare: { generatorCores: 0.95, readsPerChunk: 0.5 } }]))).toHaveLength(
    2,
  );
});
