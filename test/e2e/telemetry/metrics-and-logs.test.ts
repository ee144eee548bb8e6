/** Metrics and logs as a collector gets them, beside /metrics and the lines on stderr. */

import { afterEach, expect, test } from "bun:test";
import { chatJson, failures } from "../../fake/recordings.ts";
import { startCollector, type TestCollector } from "../../setup/collector.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";

const messages = [{ role: "user", content: "Say hello to nobody else" }];
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function start(
  environment: Readonly<Record<string, string>> = {},
): Promise<{ collector: TestCollector; gateway: TestGateway; lines: string[] }> {
  const collector = startCollector();
  stops.push(() => collector.stop());
  const lines: string[] = [];
  const gateway = await startTestGateway({
    environment: {
      SVC_OTLP_URL: collector.url,
      SVC_OTLP_METRICS_S: "0.05",
      SVC_LOG_LEVEL: "debug",
      ...environment,
    },
    writeLog: (line) => lines.push(line),
    telemetryLimits: { everyMs: 20, firstBackoffMs: 20, longestBackoffMs: 20 },
  });
  stops.push(() => gateway.stop());
  return { collector, gateway, lines };
}

const chat = (gateway: TestGateway, model = "svc-3-flash") =>
  gateway.call("/chat/completions", { model, messages });

const metricsText = async ({ platformUrl }: TestGateway) =>
  (await fetch(`${platformUrl}/metrics`)).text();

test("the collector gets every metric of /metrics, under the same name and with the same labels", async () => {
  const { collector, gateway } = await start();
  gateway.upstream.replyOnce(failures.internal());
  gateway.upstream.replyWith(chatJson());
  for (let calls = 0; calls < 3; calls++) await (await chat(gateway)).text();
  const served = () =>
    collector
      .points()
      .filter(({ metric }) => metric === "svc_requests_total")
      .reduce((sum, { value }) => sum + value, 0);
  await waitUntil("three requests", () => served() >= 3);
  const points = collector.points();
  const text = await metricsText(gateway);
  const inText = Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name]) => name ?? "");
  const series = (name: string) =>
    new RegExp(`^${name}(_count)?(\\{| )`, "m").test(text) ? [name] : [];
  const sent = new Set(points.map(({ metric }) => metric));
  expect([...sent].toSorted()).toEqual(inText.flatMap(series).toSorted());
  for (const { metric, kind, attributes } of points) {
    expect(text).toContain(`# TYPE ${metric} ${kind === "sum" ? "counter" : kind}`);
    const labels = Object.entries(attributes).map(([name, value]) => `${name}="${value}"`);
    expect(text).toContain(
      `${metric}${kind === "histogram" ? "_count" : ""}${labels.length === 0 ? " " : `{${labels.join(",")}}`}`,
    );
  }
  const charged = points.find(({ metric }) => metric === "svc_charged_usd_total");
  expect(text).toContain(
    `svc_charged_usd_total{endpoint="chat",model="svc-3-flash"} ${charged?.value}`,
  );
  const duration = points.find(({ metric }) => metric === "svc_request_duration_seconds");
  expect(duration).toMatchObject({
    value: 3,
    attributes: { endpoint: "chat", model: "svc-3-flash" },
  });
  expect(duration?.bounds.slice(0, 3)).toEqual([0.01, 0.025, 0.05]);
  const started = points.find(({ metric }) => metric === "svc_process_start_time_seconds");
  expect(Number(duration?.startNano) / 1e9).toBeCloseTo(started?.value ?? 0, 0);
});

test("sums go on where they were once the collector is back, and it gets the newest numbers first", async () => {
  const { collector, gateway } = await start();
  collector.answer = () => new Response(null, { status: 503, headers: { "retry-after": "0" } });
  gateway.upstream.replyWith(chatJson());
  await (await chat(gateway)).text();
  const tries = collector.requests.length;
  await waitUntil("more tries", () => collector.requests.length > tries + 10);
  collector.answer = () => Response.json({});
  await waitUntil("the sum", () =>
    collector.points().some(({ metric, value }) => metric === "svc_requests_total" && value === 1),
  );
  const exported = collector
    .points()
    .find(
      ({ metric, attributes }) =>
        metric === "svc_telemetry_dropped_total" &&
        attributes["signal"] === "metrics" &&
        attributes["reason"] === "unavailable",
    );
  expect(exported?.value).toBeGreaterThan(0);
});

test("the log goes to the collector with its severity, its fields and its trace", async () => {
  const { collector, gateway, lines } = await start();
  gateway.upstream.replyOnce(failures.internal());
  const failed = await chat(gateway);
  await failed.text();
  await (await chat(gateway, "nobody")).text();
  const id = failed.headers.get("x-request-id") ?? "";
  const find = (body: string) => collector.logs().find((one) => one.body === body);
  await waitUntil("both lines", () => find("request rejected") !== undefined);
  expect(find("request failed")).toMatchObject({
    severity: 13,
    severityText: "WARN",
    attributes: {
      "svc.request_id": id,
      "svc.provider": "fake",
      "svc.account_id": gateway.account,
      "gen_ai.request.model": "svc-3-flash",
      "error.type": "upstream_error",
      "http.response.status_code": 502n,
    },
  });
  expect(find("request rejected")).toMatchObject({ severity: 5, severityText: "DEBUG" });
  const line = lines.map((text) => JSON.parse(text)).find(({ request_id }) => request_id === id);
  expect(find("request failed")?.traceId).toBe(line.trace_id);
  expect(find("request failed")?.timeNano).toBe(BigInt(Date.parse(line.time)) * 1_000_000n);
  const sent = collector.requests.map(({ body }) => body).join("\n");
  for (const secret of ["Say hello to nobody else", gateway.key, "vendor-secret"])
    expect(sent.includes(secret)).toBe(false);
});

test("a collector that answers 500 costs one line, which is not sent to it", async () => {
  const { collector, gateway, lines } = await start({ SVC_OTLP_SIGNALS: "metrics,logs" });
  collector.answer = () => new Response("no", { status: 500 });
  gateway.upstream.replyWith(chatJson());
  for (let calls = 0; calls < 5; calls++) expect((await chat(gateway)).status).toBe(200);
  await (await chat(gateway, "nobody")).text();
  const dropped = async (signal: string) =>
    Number(
      new RegExp(
        `^svc_telemetry_dropped_total\\{signal="${signal}",reason="refused"\\} (\\d+)`,
        "m",
      ).exec(await metricsText(gateway))?.[1],
    );
  for (const signal of ["metrics", "logs"]) {
    let count = 0;
    while (count === 0) count = await dropped(signal);
  }
  const about = (signal: string) =>
    lines
      .map((line) => JSON.parse(line))
      .filter((line) => line.signal === signal && /collector/.test(line.message));
  for (const signal of ["metrics", "logs"])
    expect(about(signal)).toMatchObject([{ level: "warn", detail: "the collector returned 500" }]);
  collector.answer = () => Response.json({});
  await (await chat(gateway, "nobody")).text();
  await waitUntil("it works again", () =>
    lines.some((line) => line.includes('"the collector accepts telemetry again","signal":"logs"')),
  );
  expect(collector.logs().filter(({ body }) => body.includes("collector"))).toEqual([]);
});

test("nothing is compressed where the operator does not want it", async () => {
  const packed = await start();
  const plain = await start({ SVC_OTLP_COMPRESSION: "none" });
  for (const [{ collector }, encoding] of [
    [packed, "gzip"],
    [plain, null],
  ] as const) {
    await waitUntil("metrics", () => collector.points().length > 0);
    expect(
      new Set(collector.requests.map(({ headers }) => headers.get("content-encoding"))),
    ).toEqual(new Set([encoding]));
  }
});

test("a flood of lines is cut off and counted", async () => {
  const { collector, gateway } = await start({ SVC_OTLP_SIGNALS: "logs" });
  for (let line = 0; line < 400; line++) gateway.server.log.warn("flood", { line });
  const counted = async () =>
    Array.from(
      (await metricsText(gateway)).matchAll(
        /^svc_telemetry_(?:exported_total\{signal="logs"|dropped_total\{signal="logs",reason="rate")\} (\d+)/gm,
      ),
      ([, count]) => Number(count),
    );
  let counts = await counted();
  while (counts.reduce((sum, one) => sum + one, 0) < 400) counts = await counted();
  expect(Math.min(...counts)).toBeGreaterThan(0);
  expect(collector.logs().length).toBe(counts[0] ?? -1);
});
