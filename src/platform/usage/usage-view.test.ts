import { expect, test } from "bun:test";
import { fromUsd } from "../../../test/setup/money-home.ts";
import {
  latencyBoundsMs,
  noShortestMs,
  othersName,
  type UsagePoint,
} from "../../ledger/reports.ts";
import { type Range, ranges, spanBefore, spanOf } from "./span.ts";
import { toListView, totalsOf, toUsageView } from "./usage-view.ts";

const nowMs = Date.parse("2027-03-04T12:34:56.789Z");
const none = [...latencyBoundsMs.map(() => 0), 0];
const step = (at: number, count: number) => none.map((_, place) => (place === at ? count : 0));

function pointOf(rest: Partial<UsagePoint>): UsagePoint {
  return {
    startMs: 0,
    name: "",
    receipts: 1,
    failures: 0,
    inputTokens: 0,
    outputTokens: 0,
    charged: 0n,
    shortestMs: noShortestMs,
    longestMs: 0,
    shortestFirstByteMs: noShortestMs,
    longestFirstByteMs: 0,
    durations: none,
    firstBytes: none,
    ...rest,
  };
}

test.each([
  ["1h", 60, "2027-03-04T11:35:00Z", "2027-03-04T12:35:00Z"],
  ["24h", 24, "2027-03-03T13:00:00Z", "2027-03-04T13:00:00Z"],
  ["7d", 168, "2027-02-25T13:00:00Z", "2027-03-04T13:00:00Z"],
  ["30d", 30, "2027-02-03T00:00:00Z", "2027-03-05T00:00:00Z"],
  ["90d", 90, "2026-12-05T00:00:00Z", "2027-03-05T00:00:00Z"],
] as const)(
  "%s has %i whole steps, and the one that goes on is its last",
  (range, steps, from, to) => {
    const span = spanOf(range, nowMs);
    expect([span.startsMs.length, span.fromMs, span.toMs]).toEqual([
      steps,
      Date.parse(from),
      Date.parse(to),
    ]);
    expect([span.startsMs[0], (span.startsMs.at(-1) ?? 0) <= nowMs]).toEqual([span.fromMs, true]);
  },
);

test("the time before is as long and ends where the span begins; of minutes there is none", () => {
  const compared = (range: Range) => spanBefore(spanOf(range, nowMs));
  expect(compared("1h")).toBeUndefined();
  for (const range of ranges.filter((each) => each !== "1h")) {
    const span = spanOf(range, nowMs);
    expect(compared(range)).toEqual({
      grain: span.grain,
      fromMs: 2 * span.fromMs - span.toMs,
      toMs: span.fromMs,
    });
  }
});

test("every step has its place, whether something happened in it or not", () => {
  const span = spanOf("24h", nowMs);
  const startMs = span.startsMs[5] ?? 0;
  const times = { shortestMs: 60, longestMs: 90, durations: step(2, 3) };
  const point = pointOf({ startMs, name: "a", receipts: 3, ...times });
  const view = toUsageView({
    span,
    points: [point],
    rejected: [],
    labels: new Map([["a", "Anna"]]),
  });
  expect(view.points.map(({ requests }) => requests)).toEqual(
    span.startsMs.map((_, at) => (at === 5 ? 3 : 0)),
  );
  expect(view.points[5]).toMatchObject({ start: "2027-03-03T18:00:00Z", latency_p50_ms: 75 });
  expect(view.points[6]).toMatchObject({ charged_usd: "0.00", latency_p50_ms: null });
  expect(view.series).toHaveLength(1);
  expect(view.series[0]).toMatchObject({ name: "a", label: "Anna", totals: view.totals });
  const [series] = view.series;
  expect(view.points).toMatchObject(series?.points ?? []);
  expect(series?.points).toHaveLength(view.points.length);
});

/** Amounts and counts that no float would add up. */
const mixed = (names: number) => {
  const { startsMs } = spanOf("24h", nowMs);
  return startsMs.flatMap((startMs, at) =>
    Array.from({ length: names }, (_, name) =>
      pointOf({
        startMs,
        name: name === names - 1 ? othersName : `model-${name}`,
        receipts: at + name,
        failures: at % 3,
        inputTokens: at * 1_000 + name,
        outputTokens: name * 7,
        charged: BigInt(at + 1) * 1_234_567_891n ** BigInt(1 + (name % 2)) + BigInt(name),
        ...(at + name > 0 && { shortestMs: 1 + at, longestMs: 60_000 + 10 * name }),
        ...(at > 0 && { shortestFirstByteMs: 1 + name, longestFirstByteMs: 60_000 + at }),
        durations: step((at + name) % 13, at + name),
        firstBytes: step(at % 13, at),
      }),
    ),
  );
};

test.each([2, 7, 8, 12])("of %i names, what the series say sums to the totals exactly", (count) => {
  const span = spanOf("24h", nowMs);
  const points = mixed(count);
  const view = toUsageView({ span, points, rejected: [], labels: new Map() });
  expect(view.totals).toEqual(totalsOf({ points, rejected: [] }));
  const charged = (sums: readonly { readonly charged_usd: string }[]) =>
    sums.reduce((sum, { charged_usd }) => sum + fromUsd(charged_usd), 0n);
  const total = fromUsd(view.totals.charged_usd);
  expect(total).toBe(points.reduce((sum, point) => sum + point.charged, 0n));
  expect(charged(view.points)).toBe(total);
  expect(charged(view.series.map(({ totals }) => totals))).toBe(total);
  for (const field of ["requests", "failures", "input_tokens", "output_tokens"] as const) {
    const sumOf = (all: readonly Readonly<Record<typeof field, number>>[]) =>
      all.reduce((sum, one) => sum + one[field], 0);
    const whole = view.totals[field];
    expect(sumOf(view.points)).toBe(whole);
    expect(sumOf(view.series.map(({ totals }) => totals))).toBe(whole);
    for (const [at, point] of view.points.entries())
      expect(view.series.reduce((sum, one) => sum + (one.points[at]?.[field] ?? 0), 0)).toBe(
        point[field],
      );
  }
});

test("times of names and of steps lie together between the shortest and the longest of all", () => {
  const span = spanOf("24h", nowMs);
  const [one = 0, other = 0] = span.startsMs;
  const view = toUsageView({
    span,
    points: [
      pointOf({ startMs: one, name: "a", shortestMs: 899, longestMs: 899, durations: step(6, 1) }),
      pointOf({ startMs: one, name: "b", shortestMs: 60, longestMs: 60, durations: step(2, 1) }),
      pointOf({
        startMs: other,
        name: "a",
        shortestMs: 70_000,
        longestMs: 70_000,
        durations: step(12, 1),
        shortestFirstByteMs: 42,
        longestFirstByteMs: 42,
        firstBytes: step(1, 1),
      }),
    ],
    rejected: [],
    labels: new Map(),
  });
  expect(view.totals).toMatchObject({ latency_p95_ms: 70_000, first_byte_p50_ms: 42 });
  expect(view.points[0]).toMatchObject({
    latency_p50_ms: 60,
    latency_p95_ms: 899,
    first_byte_p50_ms: null,
  });
  expect(view.series.map(({ totals }) => [totals.latency_p50_ms, totals.latency_p95_ms])).toEqual([
    [899, 70_000],
    [60, 60],
  ]);
});

test("the seven dearest are told apart, the dearest first; all others are one, and last", () => {
  const span = spanOf("24h", nowMs);
  const startMs = span.startsMs[0] ?? 0;
  const points = Array.from({ length: 9 }, (_, at) =>
    pointOf({ startMs, name: `model-${at}`, charged: BigInt(at) }),
  );
  const names = (given: readonly UsagePoint[]) =>
    toUsageView({ span, points: given, rejected: [], labels: new Map() }).series.map(
      ({ name }) => name,
    );
  const dearest = [8, 7, 6, 5, 4, 3, 2].map((at) => `model-${at}`);
  expect(names(points)).toEqual([...dearest, othersName]);
  expect(names(points.slice(2))).toEqual(dearest);
});

test("of names that cost the same, the one that was called more comes first", () => {
  const span = spanOf("24h", nowMs);
  const startMs = span.startsMs[0] ?? 0;
  const points = [1, 5, 3].map((receipts) =>
    pointOf({ startMs, name: `called-${receipts}`, receipts }),
  );
  const { series } = toUsageView({ span, points, rejected: [], labels: new Map() });
  expect(series.map(({ name }) => name)).toEqual(["called-5", "called-3", "called-1"]);
});

test("rejected calls are counted in their step and series, beside the requests", () => {
  const span = spanOf("30d", nowMs);
  const [first = 0, second = 0] = span.startsMs;
  const hour = 3_600_000;
  const points = [pointOf({ startMs: first, name: "a", receipts: 2 })];
  const rejected = [
    { startMs: first, name: "a", count: 3 },
    { startMs: first + 23 * hour, name: "b", count: 5 },
    { startMs: second, name: "a", count: 7 },
    { startMs: second + 5 * hour, name: othersName, count: 11 },
  ];
  const view = toUsageView({ span, points, rejected, labels: new Map() });
  expect(view.totals).toMatchObject({ requests: 2, failures: 0, rejected: 26 });
  expect(view.points.slice(0, 3).map((point) => point.rejected)).toEqual([8, 18, 0]);
  expect(view.series.map(({ name, totals }) => [name, totals.requests, totals.rejected])).toEqual([
    ["a", 2, 10],
    ["b", 0, 5],
    [othersName, 0, 11],
  ]);
  expect(totalsOf({ points, rejected })).toEqual(view.totals);
});

test("the list has every name, the dearest first and the others last", () => {
  const points = [...Array.from({ length: 30 }, (_, at) => at), 29].map((at) =>
    pointOf({ startMs: at, name: `model-${at}`, charged: BigInt(at) }),
  );
  const list = toListView({
    points: [pointOf({ name: othersName, charged: 1_000n, receipts: 9 }), ...points],
    rejected: [
      { startMs: 0, name: "model-7", count: 2 },
      { startMs: 9, name: "model-7", count: 3 },
    ],
    labels: new Map([["model-7", "Seven"]]),
  });
  expect(list.map(({ name }) => name)).toEqual([
    ...Array.from({ length: 30 }, (_, at) => `model-${29 - at}`),
    othersName,
  ]);
  expect(list.find(({ name }) => name === "model-29")?.totals.requests).toBe(2);
  expect(list.find(({ name }) => name === "model-7")).toMatchObject({
    label: "Seven",
    totals: { requests: 1, rejected: 5 },
  });
  expect(list.at(-1)?.totals.requests).toBe(9);
});
