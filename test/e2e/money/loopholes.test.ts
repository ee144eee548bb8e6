/** Ways around a limit or a bill that somebody has tried; none of them leads anywhere. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { mostInputTokens } from "../../../src/call/chat-size.ts";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatChunk, chatJson, chatStream, DONE, embeddingsReply } from "../../fake/recordings.ts";
import { parseStream } from "../../replies/event-stream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { hello, openPayer, warmCounter } from "../../setup/money-home.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
  await warmCounter(gateway);
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

/** A call whose head is there, and whose body waits for the test. */
async function beginSlowly(key: string): Promise<{ finish(): Promise<string> }> {
  const body = JSON.stringify(hello);
  const socket: Socket = connect(Number(new URL(gateway.origin).port), "127.0.0.1");
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes.toString();
  });
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  const half = Math.floor(body.length / 2);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
  await new Promise<void>((resolve) => socket.write(head + body.slice(0, half), () => resolve()));
  // Another request on another line is answered: the head before it has been read.
  await (await fetch(`${gateway.origin}/healthz`)).text();
  return {
    async finish() {
      socket.write(body.slice(half));
      await closed;
      return text;
    },
  };
}

describe("what happens to a key while a body is on its way", () => {
  test("a key that is revoked meanwhile is refused", async () => {
    const payer = await openPayer(gateway);
    const call = await beginSlowly(payer.key);
    await gateway.server.operations.revokeKey({ id: payer.keyId });
    expect(await call.finish()).toContain("invalid_api_key");
    expect(gateway.upstream.requests).toBeEmpty();
  });

  test("a budget that is lowered meanwhile holds", async () => {
    const payer = await openPayer(gateway, { budget: "5" });
    const call = await beginSlowly(payer.key);
    await gateway.server.operations.setKeyLimits({ id: payer.keyId, budget: "0.000000001" });
    expect(await call.finish()).toContain("budget_exceeded");
    expect(gateway.upstream.requests).toBeEmpty();
  });
});

describe("an upstream that counts nothing", () => {
  const words = "one two three four five six seven eight nine ten";

  test("has its whole reply counted", async () => {
    const payer = await openPayer(gateway);
    gateway.upstream.replyOnce(
      chatJson({ text: words, usage: usageOf({ prompt: 0, completion: 0 }) }),
    );
    await (await payer.chat()).json();
    const { units, estimated, charged } = await payer.receipt();
    expect({ output: units.output, estimated }).toEqual({ output: 10, estimated: true });
    expect(charged).toBeGreaterThan(0n);
  });

  test("has its stream counted, also where only the output is nothing", async () => {
    const payer = await openPayer(gateway);
    const events = [
      chatChunk({ delta: { content: words } }),
      chatChunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
      chatChunk({ choices: [], usage: usageOf({ prompt: 5, completion: 0 }) }),
      DONE,
    ];
    gateway.upstream.replyOnce(chatStream({ events }));
    parseStream(await (await payer.chat({ stream: true })).text());
    expect((await payer.receipt()).units.output).toBe(10);
  });

  test("has its vectors counted", async () => {
    const payer = await openPayer(gateway);
    const usage = { prompt_tokens: 0, total_tokens: 0 };
    gateway.upstream.replyOnce(embeddingsReply({ vectors: [[1]], usage }));
    const body = { model: "svc-embedding-2", input: words };
    await (await payer.call("/embeddings", body)).json();
    expect((await payer.receipt()).units.input).toBe(10);
  });
});

test("a suspended account gets no reply that was kept for it", async () => {
  const payer = await openPayer(gateway);
  gateway.upstream.replyOnce(chatJson());
  const init = { headers: { "idempotency-key": "kept" } };
  await (await payer.chat({}, init)).json();
  await gateway.server.operations.suspendAccount({ account: payer.id });
  expect(await refusalOf(payer.chat({}, init))).toMatchObject({
    status: 402,
    code: "account_suspended",
  });
});

test("a stream that broke gives its Idempotency-Key free, though what it delivered is paid", async () => {
  const payer = await openPayer(gateway);
  const init = { headers: { "idempotency-key": "broken" } };
  const { head, parts } = chatStream({ events: [chatChunk({ delta: { content: "Hi" } })] });
  const seen = Promise.withResolvers<void>();
  const start = Buffer.concat([head, ...parts]);
  gateway.upstream.replyOnce([{ send: start }, { until: seen.promise }, { reset: true }]);
  const reader = (await payer.chat({ stream: true }, init)).body?.getReader();
  let text = "";
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    text += Buffer.from(read.value).toString();
    seen.resolve();
  }
  expect(parseStream(text).isDone).toBe(false);
  gateway.upstream.replyOnce(chatJson());
  const again = await payer.chat({ stream: true }, init);
  expect({ status: again.status, body: await again.text() }).toMatchObject({ status: 200 });
  const broken = (await payer.settled(2)).find(({ outcome }) => outcome !== "ok");
  expect(broken?.charged).toBeGreaterThan(0n);
});

describe("a hold is not below", () => {
  const boundOf = (content: unknown) =>
    mostInputTokens(
      { messages: [{ role: "user", content: content as string }], maxOutputTokens: 1, options: {} },
      100,
    );

  test("what a tokenizer makes of characters that grow when they are normalised", () => {
    for (const [character, bytes] of [
      ["\u{1D160}", 12],
      ["\uFDFA", 33],
    ] as const)
      expect(boundOf(character.repeat(100))).toBeGreaterThanOrEqual(100 * bytes);
  });

  test("a document that is sent as if it were an image", () => {
    const url = `data:application/pdf;base64,${"A".repeat(10_000)}`;
    expect(boundOf([{ type: "image_url", image_url: { url } }])).toBeGreaterThan(10_000);
    const image = { url: `data:image/png;base64,${"A".repeat(10_000)}` };
    expect(boundOf([{ type: "image_url", image_url: image }])).toBeLessThan(1_000);
  });
});
