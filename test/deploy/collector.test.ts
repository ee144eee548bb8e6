/** Traces, metrics and logs through a real OpenTelemetry collector, and what happens without it. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { chatJson, failures } from "../fake/recordings.ts";
import { startCollector as startSink, type TestCollector } from "../setup/collector.ts";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";
import { waitUntil } from "../setup/money-home.ts";
import { type RealCollector, startCollector } from "./collector/collector.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  spare: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  twice: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: first }, { provider: spare, model: second, weight: 0 }] }
`;

let sink: TestCollector;
let collector: RealCollector;
let gateway: TestGateway;
const lines: string[] = [];

beforeAll(async () => {
  sink = startSink();
  collector = await startCollector(sink.url);
  gateway = await startTestGateway({
    manifest,
    environment: {
      SVC_OTLP_URL: collector.url,
      SVC_OTLP_METRICS_S: "0.2",
      SVC_LOG_LEVEL: "debug",
    },
    writeLog: (line) => lines.push(line),
  });
});
afterAll(async () => {
  await gateway?.stop();
  await collector?.remove();
  await sink?.stop();
});

type Json = Readonly<Record<string, unknown>>;

/** All objects that the collector has passed on under this name, whatever is around them. */
function passedOn(name: string): readonly Json[] {
  const found: Json[] = [];
  const visit = (value: unknown) => {
    if (Array.isArray(value)) for (const one of value) visit(one);
    else if (typeof value === "object" && value !== null)
      for (const [key, inner] of Object.entries(value)) {
        if (key === name && Array.isArray(inner)) found.push(...inner);
        else visit(inner);
      }
  };
  for (const { body } of sink.requests) visit(JSON.parse(body));
  return found;
}

function attributesOf({ attributes }: Json): Json {
  const list = (attributes ?? []) as readonly { key: string; value: Json }[];
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}

const traceId = () => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
const chat = (id: string, model = "twice") =>
  gateway.call(
    "/chat/completions",
    { model, messages: [{ role: "user", content: "hello" }] },
    { headers: { traceparent: `00-${id}-00f067aa0ba902b7-01` } },
  );
const spansOf = (id: string) => passedOn("spans").filter((span) => span["traceId"] === id);
const linesAbout = (signal: string, part: string) =>
  lines
    .map((line): Json => JSON.parse(line))
    .filter((line) => line["signal"] === signal && String(line["message"]).includes(part));

async function dropped(signal: string, reason: string): Promise<number> {
  const text = await (await fetch(`${gateway.platformUrl}/metrics`)).text();
  const series = `svc_telemetry_dropped_total{signal="${signal}",reason="${reason}"} `;
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(series))
      ?.slice(series.length),
  );
}

test("the collector understands a call with a fallback: three spans of the caller's trace", async () => {
  const id = traceId();
  gateway.upstream.replyOnce(failures.internal());
  gateway.upstream.replyWith(chatJson());
  const response = await chat(id);
  await response.text();
  await waitUntil("three spans", () => spansOf(id).length === 3);
  const [request, ...attempts] = spansOf(id).toSorted(
    (one, other) => Number(one["kind"]) - Number(other["kind"]),
  );
  expect(request).toMatchObject({ name: "chat twice", kind: 2, parentSpanId: "00f067aa0ba902b7" });
  expect(attributesOf(request ?? {})).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "spare",
    "svc.request_id": response.headers.get("x-request-id") ?? "",
    "svc.attempts": "2",
  });
  expect(attempts.map((span) => [span["name"], span["parentSpanId"], span["kind"]])).toEqual([
    ["chat first", request?.["spanId"], 3],
    ["chat second", request?.["spanId"], 3],
  ]);
  const resource = attributesOf(
    (
      JSON.parse(sink.requests.find(({ path }) => path === "/v1/traces")?.body ?? "") as {
        resourceSpans: readonly { resource: Json }[];
      }
    ).resourceSpans[0]?.resource ?? {},
  );
  expect(resource).toMatchObject({ "service.name": "svc-gateway" });
});

test("it understands the metrics: sums, histograms and gauges", async () => {
  const find = (name: string) => passedOn("metrics").findLast((metric) => metric["name"] === name);
  await waitUntil("the request", () => find("svc_requests_total") !== undefined);
  expect(find("svc_requests_total")).toMatchObject({
    sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ asInt: "1" }] },
  });
  expect(find("svc_request_duration_seconds")).toMatchObject({
    unit: "s",
    histogram: { aggregationTemporality: 2, dataPoints: [{ count: "1" }] },
  });
  expect(find("svc_ledger_failing")).toMatchObject({ gauge: { dataPoints: [{ asInt: "0" }] } });
});

test("it understands the log, with its trace", async () => {
  const id = traceId();
  await (await chat(id, "nobody")).text();
  const find = () => passedOn("logRecords").find((record) => record["traceId"] === id);
  await waitUntil("the line", () => find() !== undefined);
  expect(find()).toMatchObject({
    severityText: "DEBUG",
    severityNumber: 5,
    body: { stringValue: "request rejected" },
  });
  expect(attributesOf(find() ?? {})).toMatchObject({ "error.type": "model_not_allowed" });
});

test("without the collector calls are served, one line is logged, and what waited arrives later", async () => {
  await collector.stop();
  const ids = [traceId(), traceId(), traceId()];
  for (const id of ids) expect((await chat(id)).status).toBe(200);
  await waitUntil("the line", () => linesAbout("traces", "does not accept").length > 0);
  expect(linesAbout("traces", "does not accept").length).toBe(1);
  await collector.start();
  await waitUntil("it works again", () => linesAbout("traces", "accepts").length > 0);
  await waitUntil("their spans", () => ids.every((id) => spansOf(id).length > 0));
  expect(await dropped("traces", "unavailable")).toBe(0);
});

test("where the collector's own backend fails, calls are served and the loss is counted", async () => {
  sink.answer = () => new Response(null, { status: 400 });
  const before = await dropped("traces", "refused");
  expect((await chat(traceId())).status).toBe(200);
  let after = before;
  while (after === before) after = await dropped("traces", "refused");
  expect(after).toBe(before + 2);
  sink.answer = () => Response.json({});
  const id = traceId();
  await (await chat(id)).text();
  await waitUntil("the next spans", () => spansOf(id).length === 2);
});
