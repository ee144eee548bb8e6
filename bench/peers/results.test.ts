import { describe, expect, test } from "bun:test";
import { withResults } from "./document.ts";
import { Results, type Sample, tailOf } from "./results.ts";

const sample: Sample = {
  round: 1,
  replies: 100,
  cpuUs: 50,
  kernelShare: 0.3,
  peakRssMb: 100,
  requestsPerSecond: 1_000,
  p50Us: 200,
  p99Us: 400,
  generatorCores: 0.2,
  upstreamCores: 0.1,
  readsPerChunk: Number.NaN,
};

test("ratios are taken within a round", () => {
  const results = new Results();
  for (const [round, ours, bare] of [
    [1, 50, 25],
    [2, 400, 100],
    [3, 90, 30],
  ] as const) {
    results.add("chat", "svc", { ...sample, round, cpuUs: ours });
    results.add("chat", "bare", { ...sample, round, cpuUs: bare });
  }
  expect(results.ratio("chat", ["svc", "bare"])).toMatchObject({ median: 3, min: 2, max: 4 });
  expect(results.ratio("chat", ["svc", "nginx"])).toBeUndefined();
});

test("what a proxy adds is taken within a round and at one rate", () => {
  const results = new Results();
  results.add("gentle", "direct", { ...sample, rate: 1_000, p50Us: 100 });
  results.add("gentle", "direct", { ...sample, rate: 15, p50Us: 150 });
  results.add("gentle", "svc", { ...sample, rate: 1_000, p50Us: 400 });
  results.add("gentle", "slow", { ...sample, rate: 15, p50Us: 9_150 });
  expect(results.added("gentle", "svc", "p50Us")?.median).toBe(300);
  expect(results.added("gentle", "slow", "p50Us")?.median).toBe(9_000);
});

test("a figure that was not measured has no spread", () => {
  const results = new Results();
  results.add("chat", "direct", { ...sample, cpuUs: Number.NaN });
  expect(results.spread("chat", "direct", "cpuUs")).toBeUndefined();
  expect(results.spread("chat", "svc", "cpuUs")).toBeUndefined();
});

describe("the p99.9", () => {
  const timesUs = Array.from({ length: 5_000 }, (_, at) => at);
  const calm = { ...sample, rate: 1_000, timesUs };

  test("is of all rounds together", () => {
    const tail = tailOf([calm, { ...calm, round: 2 }], 1_000);
    expect(tail).toMatchObject({ count: 10_000, p50Us: 2_500, p999Us: 4_995 });
  });

  test("is not shown with few calls", () => {
    expect(tailOf([calm], 1_000)?.p999Us).toBeUndefined();
    expect(tailOf([calm], 1_000)?.p99Us).toBe(4_950);
  });

  test("is not shown if the generator or the upstream was busy", () => {
    for (const busy of [{ generatorCores: 0.9 }, { upstreamCores: 0.75 }]) {
      const rounds = [1, 2, 3].map((round) => ({ ...calm, round, ...busy }));
      expect(tailOf(rounds, 1_000)?.p999Us).toBeUndefined();
    }
  });

  test("is of one rate", () => {
    expect(tailOf([calm, { ...calm, round: 2 }], 15)).toBeUndefined();
  });
});

test("results replace what is between the marks, and nothing else", () => {
  const page = "# A\n\n<!-- results: begin -->\n\nold\n\n<!-- results: end -->\n\nB\n";
  const expected = "# A\n\n<!-- results: begin -->\n\nnew\n\n<!-- results: end -->\n\nB\n";
  expect(withResults(page, "new\n")).toBe(expected);
  expect(withResults(expected, "new")).toBe(expected);
  expect(() => withResults("# A\n", "new")).toThrow("lacks");
});
