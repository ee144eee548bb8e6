import { expect, test } from "bun:test";
import { readMetrics } from "../../test/replies/metrics-text.ts";
import { Exposition, toLabels } from "./exposition.ts";
import { Histogram, toBounds } from "./histogram.ts";
import { MergedMetrics } from "./merge.ts";
import { ProcessMetrics } from "./metrics.ts";

interface Counted {
  readonly requests: number;
  readonly charged: string;
  readonly breaker: number;
  readonly ms: readonly number[];
}

const model = toLabels({ endpoint: "chat", model: 'a "quoted", {odd} name' });

function textOf({ requests, charged, breaker, ms }: Counted): string {
  const durations = new Histogram(toBounds([10, 250]));
  for (const one of ms) durations.observe(one);
  const text = new Exposition()
    .family({ name: "svc_requests_total", type: "counter", help: "Requests." })
    .add(model, requests)
    .family({ name: "svc_charged_usd_total", type: "counter", help: "Charges." })
    .add(model, charged)
    .family({ name: "svc_calls_under_way", type: "gauge", help: "Calls." })
    .add("", requests)
    .family({ name: "svc_breaker_state", type: "gauge", help: "Breakers." })
    .add(toLabels({ provider: "acme" }), breaker)
    .family({ name: "svc_request_duration_seconds", type: "histogram", help: "Durations." })
    .addHistogram(model, durations)
    .text();
  return text + new ProcessMetrics({ version: "1", telemetry: undefined }).text();
}

const one = textOf({ requests: 3, charged: "0.100000001", breaker: 2, ms: [5, 100] });
const two = textOf({ requests: 4, charged: "12345678901234.9", breaker: 0, ms: [1_000] });
const names = { endpoint: "chat", model: 'a "quoted", {odd} name' };

test("counters, histograms and amounts of several processes add up, money to the last digit", () => {
  const merged = new MergedMetrics().text([
    { process: "a/1", text: one },
    { process: "a/2", text: two },
  ]);
  const read = readMetrics(merged);
  expect(read.only("svc_requests_total", names).value).toBe(7);
  expect(read.only("svc_charged_usd_total", names).text).toBe("12345678901235.000000001");
  expect(read.only("svc_calls_under_way").value).toBe(7);
  expect(read.only("svc_request_duration_seconds_count", names).value).toBe(3);
  expect(read.only("svc_request_duration_seconds_bucket", { le: "0.25" }).value).toBe(2);
  expect(read.only("svc_request_duration_seconds_sum", names).value).toBeCloseTo(1.105, 9);
});

test("a state is the worst of all processes", () => {
  const parts = [
    { process: "a/1", text: one },
    { process: "a/2", text: two },
  ];
  const read = readMetrics(new MergedMetrics().text(parts));
  expect(read.only("svc_breaker_state", { provider: "acme" }).value).toBe(2);
});

test("what belongs to one process is shown for each of them", () => {
  const parts = ["a", "a/1", "a/2"].map((process) => ({
    process,
    text: new ProcessMetrics({ version: "1", telemetry: undefined }).text(),
  }));
  const read = readMetrics(new MergedMetrics().text(parts));
  for (const process of ["a", "a/1", "a/2"]) {
    expect(read.only("svc_process_resident_memory_bytes", { process }).value).toBeGreaterThan(0);
    expect(read.only("svc_build_info", { process, version: "1" }).value).toBe(1);
  }
});

test("no counter falls when a process ends, and its gauges go", () => {
  const metrics = new MergedMetrics();
  metrics.keep(one);
  metrics.keep(two);
  const read = readMetrics(metrics.text([{ process: "a/1", text: one }]));
  expect(read.only("svc_requests_total", names).value).toBe(10);
  expect(read.only("svc_calls_under_way").value).toBe(3);
  expect(read.only("svc_request_duration_seconds_count", names).value).toBe(5);
});

test("of the certificates of several processes the one that expires first counts", () => {
  const parts = [1_900, 1_700, 1_800].map((seconds, at) => ({
    process: `a/${at}`,
    text: new ProcessMetrics({
      version: "1",
      telemetry: undefined,
      certificate: { current: { expiresMs: seconds * 1_000 } },
    }).text(),
  }));
  const merged = readMetrics(new MergedMetrics().text(parts));
  expect(merged.only("svc_tls_certificate_expiry_seconds", {}).value).toBe(1_700);
});
