import { afterEach, beforeEach, expect, test } from "bun:test";
import { startCollector, type TestCollector } from "../../../test/setup/collector.ts";
import { waitUntil } from "../../../test/setup/money-home.ts";
import { createLog } from "../../base/log.ts";
import type { WriteMetrics } from "../exports.ts";
import { Otlp } from "./otlp.ts";

let collector: TestCollector;
let otlp: Otlp;
beforeEach(() => {
  collector = startCollector();
  otlp = new Otlp({
    url: collector.url,
    headers: {},
    isCompressed: false,
    signals: ["metrics"],
    resource: {},
    version: "1",
    tracing: { sample: 1, parents: "follow", goesUpstream: false, hasContent: false },
    metricsMs: 10,
    log: createLog({ level: "silent", pretty: false, write: () => {} }),
    recent: { since: () => ({ records: [], after: 0, missed: 0 }), watchers: new Set() },
  });
  otlp.writeMetrics = gauge("svc_own", () => 1);
});
afterEach(async () => {
  await otlp.close(0);
  await collector.stop();
});

const gauge =
  (name: string, value: () => number): WriteMetrics =>
  (to) => {
    to.family({ name, type: "gauge", help: "A number." });
    to.add("", value());
  };

const sent = () => collector.points().map(({ metric, value }) => `${metric} ${value}`);

test("numbers of a store that does not answer are left out, not sent again, until it answers", async () => {
  let reads = 0;
  let answer: Promise<unknown> = Promise.resolve();
  otlp.readMore = async () => {
    const read = ++reads;
    await answer;
    return gauge("svc_stored", () => read);
  };
  await waitUntil("the numbers of both", () => sent().length === 2);
  const { promise, resolve } = Promise.withResolvers<void>();
  answer = promise;
  await waitUntil("the own number alone", () => sent().join() === "svc_own 1");
  const { length } = collector.requests;
  const asked = reads;
  await waitUntil("three more", () => collector.requests.length > length + 3);
  expect(sent()).toEqual(["svc_own 1"]);
  expect(reads).toBeLessThanOrEqual(asked + 1);
  resolve();
  await waitUntil("the numbers of both again", () => sent().length === 2);
  expect(sent()).not.toContain(`svc_stored ${asked}`);
});

test("a store that fails costs its own numbers alone", async () => {
  otlp.readMore = async () => Promise.reject(new Error("away"));
  await waitUntil("a number", () => sent().length > 0);
  expect(sent()).toEqual(["svc_own 1"]);
});
