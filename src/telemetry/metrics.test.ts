import { afterEach, expect, test } from "bun:test";
import { readMetrics } from "../../test/replies/metrics-text.ts";
import type { TargetHealth } from "../catalog/health.ts";
import { Metrics } from "./metrics.ts";

let metrics: Metrics;
afterEach(() => metrics.close());

const targetOf = (at: number, state: TargetHealth["state"]): TargetHealth => ({
  provider: "acme",
  model: `model-${at}`,
  key: null,
  hasServed: false,
  state,
  reason: null,
  sinceMs: null,
  untilMs: null,
  requests: 0,
  failures: 0,
});

function readTargets(targets: readonly TargetHealth[]) {
  metrics = new Metrics({
    version: "1",
    calls: { size: 0 },
    router: { health: () => targets },
    purses: { heldNano: () => 0n },
    journal: { isFailing: false },
    rejections: { dropped: 0 },
    telemetry: undefined,
  });
  const read = readMetrics(metrics.text());
  const countOf = (name: string) => read.series.filter((series) => series.name === name).length;
  const others = { provider: "other", model: "other" };
  return { read, countOf, others };
}

test("more targets than there is room for are told as one, by the worst of them", () => {
  const many = Array.from({ length: 5_000 }, (_, at) =>
    targetOf(at, at === 700 ? "half-open" : at === 4_000 ? "open" : "closed"),
  );
  const { read, countOf, others } = readTargets(many);
  expect(countOf("svc_breaker_state")).toBe(501);
  expect(countOf("svc_target_resting")).toBe(501);
  expect(read.only("svc_breaker_state", others).value).toBe(2);
  expect(read.only("svc_target_resting", others).value).toBe(0);
});

test("where one of those that are told as one rests, it is said", () => {
  const many = Array.from({ length: 600 }, (_, at) =>
    targetOf(at, at === 599 ? "resting" : "closed"),
  );
  const { read, others } = readTargets(many);
  expect(read.only("svc_target_resting", others).value).toBe(1);
  expect(read.only("svc_breaker_state", others).value).toBe(0);
});

test("as many targets as there is room for are told one by one", () => {
  const { countOf, read } = readTargets(
    Array.from({ length: 500 }, (_, at) => targetOf(at, "open")),
  );
  expect(countOf("svc_breaker_state")).toBe(500);
  expect(read.sum("svc_breaker_state", { provider: "other" })).toBe(0);
});
