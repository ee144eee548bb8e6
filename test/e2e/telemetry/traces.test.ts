/** Spans as a collector gets them, beside the receipts of the same calls. */

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { chatJson, chatStreams, embeddingsReply, failures } from "../../fake/recordings.ts";
import type { OtlpSpan } from "../../replies/otlp.ts";
import { startCollector, type TestCollector } from "../../setup/collector.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  spare: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  talker: { endpoint: chat, price: { input: "0.30", cached_input: "0.03", output: "2.50" }, routes: [{ provider: fake, model: chat, cost: { input: "0.20", output: "1.70" } }] }
  twice: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: first }, { provider: spare, model: second, weight: 0 }] }
  vectors: { endpoint: embeddings, input: text, price: { input: "0.02" }, routes: [{ provider: fake, model: embed }] }
`;
const messages = [{ role: "user", content: "Say hello to nobody else" }];
const server = 2;
const client = 3;

let collector: TestCollector;
let gateway: TestGateway;

const start = (environment: Readonly<Record<string, string>> = {}) =>
  startTestGateway({
    manifest,
    environment: { SVC_OTLP_URL: collector.url, ...environment },
    telemetryLimits: { everyMs: 20 },
  });

beforeAll(async () => {
  collector = startCollector();
  gateway = await start();
});

afterEach(() => gateway.upstream.reset());

afterAll(async () => {
  await gateway.stop();
  await collector.stop();
});

const traceId = () => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");

/** The spans of a trace, once as many have come: the request first, then the attempts. */
async function spansOf(id: string, count: number): Promise<readonly OtlpSpan[]> {
  const find = () => collector.spans().filter((span) => span.traceId === id);
  await waitUntil(`${count} spans`, () => find().length >= count);
  const found = find();
  expect(found.length).toBe(count);
  return found.toSorted((one, other) => one.kind - other.kind);
}

const chat = (id: string, body: object = {}, headers: Record<string, string> = {}, at = gateway) =>
  at.call(
    "/chat/completions",
    { model: "talker", messages, ...body },
    { headers: { traceparent: `00-${id}-00f067aa0ba902b7-01`, ...headers } },
  );

test("a chat has a span with its usage and its exact money, and one for its attempt", async () => {
  const id = traceId();
  gateway.upstream.replyOnce(chatJson());
  const response = await chat(id, {}, { tracestate: "vendor=a:1, other=b" });
  await response.text();
  const [request, attempt] = await spansOf(id, 2);
  const requestId = response.headers.get("x-request-id") ?? "";
  const [receipt] = await gateway.server.operations.calls.list({});
  expect(receipt?.id).toBe(requestId);
  expect(request).toMatchObject({
    name: "chat talker",
    kind: server,
    parentSpanId: "00f067aa0ba902b7",
    traceState: "vendor=a:1,other=b",
    status: 0,
    events: ["first_byte"],
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "fake",
      "gen_ai.request.model": "talker",
      "gen_ai.response.model": "talker",
      "gen_ai.response.finish_reasons": ["stop"],
      "http.route": "/v1/chat/completions",
      "http.response.status_code": 200n,
      "svc.request_id": requestId,
      "svc.account_id": gateway.account,
      "svc.dialect": "chat",
      "svc.endpoint": "chat",
      "svc.outcome": "ok",
      "svc.attempts": 1n,
      "svc.charged.usd": receipt?.charged_usd ?? "none",
    },
  });
  const { attributes } = request ?? {};
  expect(attributes?.["svc.cost.nano_usd"]).toBe(attributes?.["svc.charged.nano_usd"]);
  expect(attributes?.["gen_ai.usage.input_tokens"]).toBeGreaterThan(0n);
  expect(attributes?.["gen_ai.usage.output_tokens"]).toBeGreaterThan(0n);
  expect(attempt).toMatchObject({
    name: "chat chat",
    kind: client,
    parentSpanId: request?.spanId,
    events: ["response_head"],
    attributes: { "gen_ai.request.model": "chat", "server.address": "127.0.0.1" },
  });
  expect(attempt?.attributes).not.toHaveProperty("gen_ai.usage.input_tokens");
  const [sent] = gateway.upstream.requests;
  expect(sent?.headers["traceparent"]).toBe(`00-${id}-${attempt?.spanId}-01`);
  expect(sent?.headers["tracestate"]).toBe("vendor=a:1,other=b");
});

test("every attempt has a span of its own, which its upstream was told", async () => {
  const id = traceId();
  gateway.upstream.replyOnce(failures.internal());
  gateway.upstream.replyOnce(chatJson());
  await (await chat(id, { model: "twice" })).text();
  const [, failed, served] = await spansOf(id, 3);
  expect([failed?.attributes["svc.provider"], served?.attributes["svc.provider"]]).toEqual([
    "fake",
    "spare",
  ]);
  expect(failed).toMatchObject({ status: 2, attributes: { "svc.attempt": 1n } });
  expect(failed?.attributes["error.type"]).toBe("upstream_error");
  expect(served).toMatchObject({ status: 0, attributes: { "svc.attempt": 2n } });
  expect(gateway.upstream.requests.map(({ headers }) => headers["traceparent"])).toEqual([
    `00-${id}-${failed?.spanId}-01`,
    `00-${id}-${served?.spanId}-01`,
  ]);
});

test("a stream, an embedding and the other dialects have spans under their own names", async () => {
  const ids = [traceId(), traceId(), traceId(), traceId()];
  const parent = (at: number) => ({ traceparent: `00-${ids[at]}-00f067aa0ba902b7-01` });
  gateway.upstream.replyOnce(chatStreams.openai());
  await (await chat(ids[0] ?? "", { stream: true })).text();
  gateway.upstream.replyOnce(embeddingsReply({ vectors: [[0.5]] }));
  const vectors = { model: "vectors", input: "hello" };
  await (await gateway.call("/embeddings", vectors, { headers: parent(1) })).text();
  gateway.upstream.replyOnce(chatJson());
  const talk = { model: "talker", max_tokens: 50, messages };
  await (await gateway.call("/messages", talk, { headers: parent(2) })).text();
  gateway.upstream.replyOnce(chatJson());
  const ask = { model: "talker", input: "hello" };
  await (await gateway.call("/responses", ask, { headers: parent(3) })).text();
  const spans = [];
  for (const id of ids) spans.push((await spansOf(id, 2))[0]);
  expect(
    spans.map((span) => [
      span?.name,
      span?.attributes["http.route"],
      span?.attributes["svc.dialect"] ?? null,
      span?.attributes["gen_ai.response.finish_reasons"] ?? null,
    ]),
  ).toEqual([
    ["chat talker", "/v1/chat/completions", "chat", ["stop"]],
    ["embeddings vectors", "/v1/embeddings", null, null],
    ["chat talker", "/v1/messages", "messages", ["stop"]],
    ["chat talker", "/v1/responses", "responses", ["stop"]],
  ]);
  expect(spans[0]?.attributes["svc.streamed"]).toBe(true);
});

test("a rejected call has a span with its code, and so has a replayed one", async () => {
  const [unknown, first, again] = [traceId(), traceId(), traceId()];
  await (await chat(unknown, { model: "nobody" })).text();
  const [rejected] = await spansOf(unknown, 1);
  expect(rejected).toMatchObject({ name: "chat", status: 0, kind: server });
  expect(rejected?.attributes).toMatchObject({
    "error.type": "model_not_allowed",
    "http.response.status_code": 403n,
  });
  gateway.upstream.replyOnce(chatJson());
  const original = await chat(first, {}, { "idempotency-key": "one" });
  await original.text();
  await (await chat(again, {}, { "idempotency-key": "one" })).text();
  const [replayed] = await spansOf(again, 1);
  expect(replayed?.attributes).toMatchObject({
    "svc.outcome": "replayed",
    "svc.original_request_id": original.headers.get("x-request-id") ?? "",
  });
});

test("a header that breaks the rules begins a trace of its own", async () => {
  const broken = [
    `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
    `00-${traceId()}-${"0".repeat(16)}-01`,
    `ff-${traceId()}-00f067aa0ba902b7-01`,
    `00-${traceId()}-00f067aa0ba902b7-01-more`,
    `00-${traceId().toUpperCase()}x-00f067aa0ba902b7-01`,
    "x".repeat(5_000),
  ];
  gateway.upstream.replyWith(chatJson());
  const requestIds: string[] = [];
  for (const traceparent of broken) {
    const response = await chat("", {}, { traceparent, tracestate: "a=1" });
    await response.text();
    requestIds.push(response.headers.get("x-request-id") ?? "");
  }
  const find = (id: string) =>
    collector.spans().find(({ attributes }) => attributes["svc.request_id"] === id);
  await waitUntil("their spans", () => requestIds.every((id) => find(id) !== undefined));
  for (const [at, id] of requestIds.entries()) {
    expect(find(id)?.parentSpanId).toBeUndefined();
    expect(broken[at]).not.toContain(find(id)?.traceId ?? "");
    expect(gateway.upstream.requests[at]?.headers["tracestate"]).toBeUndefined();
  }
});

test("no prompt, reply or key is in a span", async () => {
  const id = traceId();
  // Other tests have a gateway that records them.
  const before = collector.requests.length;
  gateway.upstream.replyOnce(chatJson());
  const reply: { choices: { message: { content: string } }[] } = JSON.parse(
    await (await chat(id)).text(),
  );
  await spansOf(id, 2);
  const sent = collector.requests
    .slice(before)
    .map(({ body }) => body)
    .join("\n");
  for (const secret of [
    "Say hello to nobody else",
    reply.choices[0]?.message.content ?? "",
    gateway.key,
    "vendor-secret",
  ])
    expect(secret.length > 4 && sent.includes(secret)).toBe(false);
});

test("prompts and replies are recorded where the operator wants it, and no more than a bound", async () => {
  const open = await start({ SVC_TRACE_CONTENT: "on" });
  try {
    const [whole, streamed] = [traceId(), traceId()];
    open.upstream.replyOnce(chatJson());
    const long = [{ role: "user", content: "é".repeat(300_000) }];
    await (await chat(whole, { messages: long }, {}, open)).text();
    open.upstream.replyOnce(chatStreams.openai());
    await (await chat(streamed, { stream: true }, {}, open)).text();
    const [one] = await spansOf(whole, 2);
    const [other] = await spansOf(streamed, 2);
    const input = String(one?.attributes["gen_ai.input.messages"]);
    expect(input.length).toBeLessThan(20_000);
    expect(JSON.parse(input)).toMatchObject([{ role: "user", parts: [{ type: "text" }] }]);
    for (const span of [one, other]) {
      const output = JSON.parse(String(span?.attributes["gen_ai.output.messages"]));
      expect(output).toMatchObject([{ role: "assistant", parts: [{ type: "text" }] }]);
      expect(output[0].parts[0].content.length).toBeGreaterThan(0);
    }
    expect(JSON.parse(String(other?.attributes["gen_ai.input.messages"]))).toEqual([
      { role: "user", parts: [{ type: "text", content: "Say hello to nobody else" }] },
    ]);
  } finally {
    await open.stop();
  }
});

test("callers cannot make the gateway record more than the operator wants, nor less", async () => {
  const rare = await start({ SVC_TRACE_SAMPLE: "0" });
  const follows = await start({ SVC_TRACE_SAMPLE: "0", SVC_TRACE_PARENTS: "follow" });
  try {
    const ids = [traceId(), traceId(), traceId()] as const;
    for (const one of [rare, follows]) one.upstream.replyWith(chatJson());
    await (await chat(ids[0], {}, {}, rare)).text();
    await rare.server.stop();
    await (await chat(ids[1], {}, {}, follows)).text();
    // Marked as not sampled, and recorded all the same: this gateway records everything.
    gateway.upstream.replyOnce(chatJson());
    await (await chat(ids[2], {}, { traceparent: `00-${ids[2]}-00f067aa0ba902b7-00` })).text();
    await spansOf(ids[1], 2);
    await spansOf(ids[2], 2);
    expect(collector.spans().some((span) => span.traceId === ids[0])).toBe(false);
    expect(rare.upstream.requests[0]?.headers["traceparent"]).toMatch(
      new RegExp(`^00-${ids[0]}-[0-9a-f]{16}-00$`),
    );
  } finally {
    await rare.stop();
    await follows.stop();
  }
});

test("nothing goes upstream where the operator does not want it, or traces nothing", async () => {
  const kept = await start({ SVC_TRACE_UPSTREAM: "off" });
  const plain = await start({ SVC_OTLP_SIGNALS: "metrics" });
  try {
    for (const one of [kept, plain]) {
      one.upstream.replyWith(chatJson());
      await (await chat(traceId(), {}, {}, one)).text();
      expect(one.upstream.requests[0]?.headers["traceparent"]).toBeUndefined();
    }
  } finally {
    await kept.stop();
    await plain.stop();
  }
});
