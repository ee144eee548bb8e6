/** The numbers of /metrics, read as a scraper reads them, beside the receipts of the same calls. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { priceKeys } from "../../../src/call/price.ts";
import {
  chatChunk,
  chatJson,
  chatStream,
  chatStreams,
  embeddingsReply,
  failures,
  speechReplies,
} from "../../fake/recordings.ts";
import { cutAfter } from "../../fake/script.ts";
import { FaultyStore } from "../../faults/disk/faulty-store.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { type MetricsRead, readMetrics } from "../../replies/metrics-text.ts";
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../../setup/harness.ts";
import {
  fromUsd,
  leaver,
  openPayer,
  type PaidReceipt,
  type Payer,
  waitUntil,
} from "../../setup/money-home.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  spare: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  talker: { endpoint: chat, price: { input: "0.30", cached_input: "0.03", output: "2.50" }, routes: [{ provider: fake, model: chat, cost: { input: "0.20", output: "1.70" } }] }
  twice: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: first }, { provider: spare, model: second, weight: 0 }] }
  vectors: { endpoint: embeddings, input: text, price: { input: "0.02" }, routes: [{ provider: fake, model: embed }] }
  pictures: { endpoint: embeddings, input: media, price: { image: "0.0001", video_second: "0.0005" }, routes: [{ provider: fake, model: media }] }
  voice: { endpoint: speech, price: { input: "0.50", audio_output: 10 }, routes: [{ provider: fake, model: tts, voices: same }] }
`;
const base64Of = (name: string) => Buffer.from(fixtureBytes(name)).toString("base64");
const png = `data:image/png;base64,${base64Of("tiny.png")}`;
const video = { video: { bytesBase64Encoded: base64Of("h264-3s.mp4") } };
const messages = [{ role: "user", content: "Say hello" }];
const requests = "svc_requests_total";

let gateway: TestGateway;
let payer: Payer;
let stop = async () => {};
afterAll(() => stop());

/** In place of the one before. */
async function start(options: TestGatewayOptions = {}): Promise<void> {
  await stop();
  gateway = await startTestGateway({ manifest, ...options });
  ({ stop } = gateway);
  payer = await openPayer(gateway);
}

async function scrape(): Promise<MetricsRead> {
  const response = await fetch(`${gateway.platformUrl}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return readMetrics(await response.text());
}

const chat = (model: string, more: object = {}) =>
  payer.call("/chat/completions", { model, messages, ...more });

/** Every endpoint once or more, with an answer. */
async function callEverything(): Promise<number> {
  const { upstream } = gateway;
  upstream.replyOnce(chatJson());
  await (await chat("talker")).text();
  upstream.replyOnce(chatStreams.openai());
  await (await chat("talker", { stream: true })).text();
  upstream.replyOnce(failures.internal());
  upstream.replyOnce(chatJson());
  await (await chat("twice")).text();
  upstream.replyOnce(embeddingsReply());
  const texts = ["a", "b", "c"];
  await (await payer.call("/embeddings", { model: "vectors", input: texts })).text();
  upstream.replyOnce(embeddingsReply({ vectors: [[0.5], [0.5]] }));
  await (await payer.call("/embeddings", { model: "pictures", input: [png, png] })).text();
  upstream.replyOnce(embeddingsReply({ vectors: [[0.5]] }));
  await (await payer.call("/embeddings", { model: "pictures", input: video })).text();
  upstream.replyOnce(speechReplies.pcmChunked());
  const speech = { model: "voice", input: "Hello there", voice: "Kore" };
  await (await payer.call("/audio/speech", speech)).bytes();
  return 7;
}

/** Calls that were let in and came to a bad end: before the first word, after it, and by leaving. */
async function failAfterAdmission(): Promise<number> {
  const { upstream } = gateway;
  upstream.replyOnce(failures.internal());
  await (await chat("talker")).text();
  const hello = chatStream({ events: [chatChunk({ delta: { content: "Hello" } })] });
  upstream.replyOnce(cutAfter({ recording: hello, parts: 1, by: "close" }));
  await (await chat("talker", { stream: true })).text();
  const { signal, leave } = leaver();
  upstream.replyOnce([{ hang: true }]);
  const asked = upstream.nextRequest();
  const call = payer.chat({ model: "talker", stream: true }, { signal });
  await asked;
  await leave(call);
  return 3;
}

const sumOf = (
  receipts: readonly PaidReceipt[],
  of: (receipt: PaidReceipt) => number | undefined,
) => receipts.reduce((sum, receipt) => sum + (of(receipt) ?? 0), 0);
const nanoOf = (
  receipts: readonly PaidReceipt[],
  of: (receipt: PaidReceipt) => bigint | undefined,
) => receipts.reduce((sum, receipt) => sum + (of(receipt) ?? 0n), 0n);

function expectUnits(metrics: MetricsRead, model: string, receipts: readonly PaidReceipt[]): void {
  const told = priceKeys.map((key) => {
    if (key === "image") return metrics.sum("svc_images_total", { model });
    if (key === "video_second") return metrics.sum("svc_video_seconds_total", { model });
    return metrics.sum("svc_tokens_total", { model, class: key });
  });
  expect(told).toEqual(priceKeys.map((key) => sumOf(receipts, ({ units }) => units[key])));
}

function expectSame(metrics: MetricsRead, model: string, receipts: readonly PaidReceipt[]): void {
  const endpoint = receipts[0]?.endpoint ?? "";
  const usd = (name: string) => fromUsd(metrics.only(name, { model, endpoint }).text);
  for (const [outcome, some] of Map.groupBy(receipts, (receipt) => receipt.outcome))
    expect(metrics.sum(requests, { endpoint, model, outcome })).toBe(some.length);
  expect(metrics.sum(requests, { model })).toBe(receipts.length);
  expectUnits(metrics, model, receipts);
  expect(usd("svc_charged_usd_total")).toBe(nanoOf(receipts, ({ charged }) => charged));
  expect(usd("svc_vendor_cost_usd_total")).toBe(nanoOf(receipts, (one) => one.vendorCost));
  expect(usd("svc_shortfall_usd_total")).toBe(nanoOf(receipts, (one) => one.cost - one.charged));
  const seconds = { model, endpoint };
  const { value: count } = metrics.only("svc_request_duration_seconds_count", seconds);
  const { value: sum } = metrics.only("svc_request_duration_seconds_sum", seconds);
  expect([count, sum]).toEqual([
    receipts.length,
    sumOf(receipts, ({ durationMs }) => durationMs) / 1000,
  ]);
  const begun = receipts.filter(({ firstByteMs }) => firstByteMs !== undefined);
  expect(metrics.only("svc_first_byte_seconds_count", seconds).value).toBe(begun.length);
  expect(metrics.only("svc_first_byte_seconds_sum", seconds).value).toBe(
    sumOf(begun, ({ firstByteMs }) => firstByteMs) / 1000,
  );
}

describe("after calls of every kind", () => {
  let receipts: readonly PaidReceipt[];
  let metrics: MetricsRead;
  beforeAll(async () => {
    await start();
    receipts = await payer.settled((await callEverything()) + (await failAfterAdmission()));
    metrics = await scrape();
  });

  test("the numbers agree with the receipts, to the token and to the last digit of money", () => {
    const byModel = Map.groupBy(receipts, ({ model }) => model);
    expect([...byModel.keys()].toSorted()).toEqual([
      "pictures",
      "talker",
      "twice",
      "vectors",
      "voice",
    ]);
    for (const [model, some] of byModel) expectSame(metrics, model, some);
    expect(nanoOf(receipts, ({ vendorCost }) => vendorCost)).toBeGreaterThan(0n);
    const outcomes = receipts.map(({ outcome }) => outcome);
    expect([...new Set(outcomes)].toSorted()).toEqual(["left", "ok", "upstream_error"]);
  });

  test("every asking of a provider is told, also one that another made good", () => {
    const asked = (provider: string, outcome: string) =>
      metrics.sum("svc_upstream_attempts_total", { provider, outcome });
    expect([asked("fake", "ok"), asked("fake", "upstream_error")]).toEqual([6, 3]);
    expect([asked("fake", "left"), asked("spare", "ok")]).toEqual([1, 1]);
    expect(metrics.sum("svc_upstream_attempts_total")).toBe(11);
  });

  test("no label names who called: no account, no key, no address", () => {
    const { series } = metrics;
    const names = new Set(series.flatMap(({ labels }) => Object.keys(labels)));
    expect([...names].toSorted().join(" ")).toBe(
      "class endpoint fault le model outcome provider runtime usage version",
    );
    const values = JSON.stringify(series.map(({ labels }) => labels));
    for (const secret of [payer.id, payer.keyId, payer.key, "127.0.0.1", "payer"])
      expect(values).not.toContain(secret);
  });

  test("the process tells its time, its memory and how late its event loop is", async () => {
    await waitUntil("a look at the event loop", async () => {
      return (await scrape()).only("svc_event_loop_lag_seconds_count").value > 0;
    });
    expect(metrics.only("svc_process_cpu_seconds_total").value).toBeGreaterThan(0);
    expect(metrics.only("svc_process_resident_memory_bytes").value).toBeGreaterThan(1e6);
    const startedS = metrics.only("svc_process_start_time_seconds").value;
    expect(startedS).toBeLessThan(Date.now() / 1000);
    expect(metrics.only("svc_build_info").labels["version"]).toBe("0.0.0-test");
  });
});

describe("what goes on", () => {
  beforeEach(() => start());

  test("a hold is told while its call runs, and gone when it has ended", async () => {
    gateway.upstream.replyOnce([{ hang: true }]);
    const { signal, leave } = leaver();
    const asked = gateway.upstream.nextRequest();
    const call = payer.chat({ model: "talker", stream: true }, { signal });
    await asked;
    const during = await scrape();
    const { held } = await payer.standing();
    expect(held).toBeGreaterThan(0n);
    expect(fromUsd(during.only("svc_held_usd").text)).toBe(held);
    expect(during.only("svc_calls_under_way").value).toBe(1);
    await leave(call);
    await payer.settled(1);
    await waitUntil("the end of the call", async () => {
      const after = await scrape();
      return after.only("svc_calls_under_way").value + after.only("svc_held_usd").value === 0;
    });
  });

  test("a stream that goes on is under way, and counted when it has ended", async () => {
    const more = Promise.withResolvers<void>();
    const { head, parts, end } = chatStreams.openai();
    const [first = head, ...rest] = parts;
    gateway.upstream.replyOnce([
      { send: Buffer.concat([head, first]) },
      { until: more.promise },
      { send: Buffer.concat([...rest, end]) },
    ]);
    const reader = new BodyReader(await chat("talker", { stream: true }));
    const before = await scrape();
    expect([before.only("svc_calls_under_way").value, before.sum(requests)]).toEqual([1, 0]);
    more.resolve();
    await reader.rest();
    expect((await scrape()).only(requests).value).toBe(1);
  });
});

describe("a request that was not let in", () => {
  beforeAll(() => start());

  const get = (path: string, init: RequestInit = {}) => fetch(`${gateway.baseUrl}${path}`, init);
  const withKey = async (limits: object, credit?: bigint) => {
    const other = await openPayer(gateway, credit === undefined ? {} : { credit });
    await gateway.server.operations.keys.setLimits({ id: other.keyId, ...limits });
    return other;
  };
  const withoutMoney = async () => (await withKey({ rpm: "9" }, 0n)).chat({ model: "talker" });
  const overLimit = async () =>
    (await withKey({ tpm: "1" })).chat({ model: "talker", max_tokens: 99 });
  const madeUp = () => chat("sk-svc-a-name-that-somebody-made-up");
  const post = () => get("/chat/completions", { method: "POST" });
  const half = () => payer.call("/audio/speech", "{");
  const wrongField = () => chat("talker", { temperature: 3 });
  test.each<[string, () => Promise<Response>, outcome: string, endpoint: string, model: string]>([
    ["without a key", post, "invalid_api_key", "chat", ""],
    ["to a path that is not there", () => get("/nothing"), "not_found", "", ""],
    ["by a wrong method", () => get("/embeddings"), "method_not_allowed", "", ""],
    ["with half a body", half, "invalid_json", "speech", ""],
    ["for a model that nobody knows", madeUp, "model_not_allowed", "chat", ""],
    ["for a model of another endpoint", () => chat("vectors"), "wrong_endpoint", "chat", "vectors"],
    ["with a field that is wrong", wrongField, "invalid_request", "chat", "talker"],
    ["without money", withoutMoney, "insufficient_quota", "chat", "talker"],
    ["over a limit", overLimit, "rate_limit_exceeded", "chat", "talker"],
  ])("%s is counted once, by its code", async (_, ask, outcome, endpoint, model) => {
    const before = await scrape();
    expect((await ask()).ok).toBe(false);
    const metrics = await scrape();
    const { value, labels } = metrics.only(requests, { outcome });
    expect([value, metrics.sum(requests)]).toEqual([1, before.sum(requests) + 1]);
    expect(labels).toEqual({ endpoint, model, outcome, fault: "caller" });
    const timed = "svc_request_duration_seconds_count";
    expect(metrics.sum(timed)).toBe(before.sum(timed));
  });

  test("is counted beside lists of models and replies that were given again", async () => {
    const before = (await scrape()).sum(requests);
    const headers = { authorization: `Bearer ${payer.key}` };
    await (await get("/models", { headers })).text();
    await (await get("/models/talker", { headers })).text();
    await (await get("/models/unknown", { headers })).text();
    gateway.upstream.replyOnce(chatJson());
    for (const _ of [1, 2])
      await (await payer.chat({ model: "talker" }, { headers: { "idempotency-key": "k" } })).text();
    const metrics = await scrape();
    expect(metrics.only(requests, { endpoint: "models", model: "", outcome: "ok" }).value).toBe(1);
    expect(metrics.only(requests, { endpoint: "models", model: "talker" }).value).toBe(1);
    expect(metrics.only(requests, { outcome: "model_not_found" }).value).toBe(1);
    expect(metrics.only(requests, { endpoint: "chat", outcome: "replayed" }).value).toBe(1);
    expect(metrics.only(requests, { endpoint: "chat", outcome: "ok" }).value).toBe(1);
    expect(metrics.sum(requests)).toBe(before + 5);
  });
});

test("a reply whose receipt could not be written is counted as that failure, and once", async () => {
  const disk = new FaultyStore();
  await start({ open: disk.open });
  gateway.upstream.replyWith(() => {
    disk.setReadOnly(true);
    return chatJson();
  });
  expect((await chat("talker")).status).toBe(503);
  const failing = await scrape();
  expect(failing.only("svc_ledger_failing").value).toBe(1);
  expect(failing.only(requests).labels).toEqual({
    endpoint: "chat",
    model: "talker",
    outcome: "store_unavailable",
    fault: "gateway",
  });
  disk.setReadOnly(false);
  await waitUntil("the ledger to be written again", async () => {
    return (await scrape()).only("svc_ledger_failing").value === 0;
  });
  expect((await scrape()).sum(requests)).toBe(1);
});

test("a target that fails again and again is told to be out of service, until it is put back", async () => {
  await start({ environment: { SVC_BREAKERS: "on" } });
  gateway.upstream.replyWith(failures.internal());
  for (let calls = 0; calls < 5; calls++) await (await chat("talker")).text();
  const state = { provider: "fake", model: "chat" };
  // One account alone: a probe has the last word.
  await waitUntil("the target to be out of service", async () => {
    return (await scrape()).only("svc_breaker_state", state).value === 2;
  });
  await gateway.server.operations.providers.reset({ name: "fake" });
  expect((await scrape()).only("svc_breaker_state", state).value).toBe(0);
});

test("where they are switched off, they are told to nobody", async () => {
  await start({ environment: { SVC_METRICS: "off" } });
  const response = await fetch(`${gateway.platformUrl}/metrics`);
  expect(response.status).toBeOneOf([401, 403, 404]);
  expect(await response.text()).not.toContain("svc_");
});

test("every family is told of in the docs, and no other", async () => {
  await start({ environment: { SVC_OTLP_URL: "http://127.0.0.1:9" } });
  const documented = readFileSync(join(import.meta.dir, "../../../docs/metrics.md"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `svc_"))
    .flatMap((line) =>
      [...(line.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map((match) => match[1]),
    );
  await gateway.server.operations.exports.add({ name: "a", to: "file:///no", skip_test: true });
  const { families } = await scrape();
  // Only with TLS, and only with PostgreSQL.
  const others = ["svc_tls_certificate_expiry_seconds", "svc_lost_receipts_total"];
  expect(documented.toSorted()).toEqual([...families, ...others].toSorted());
});
