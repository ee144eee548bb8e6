/** One call, one receipt, to the cent: whichever way the answer ends. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { httpReply } from "../../fake/http/reply.ts";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatChunk, chatStream, DONE } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { anthropicEvents } from "../../fake/vendors/anthropic-messages.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import {
  anthropicAt,
  ask,
  messagesManifest,
  nativeStream,
  nativeWhole,
} from "../../setup/messages-home.ts";
import { countTokens, openPayer, warmCounter } from "../../setup/money-home.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    manifest: `${messagesManifest}\n  svc-3-flash: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: server, model: x }] }\n`,
  });
  await warmCounter(gateway);
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const usage = {
  input_tokens: 20,
  output_tokens: 30,
  cache_read_input_tokens: 7,
  cache_creation_input_tokens: 5,
};
/** Nano-USD of the classes of `claude`. */
const cost = 20n * 3_000n + 7n * 300n + 5n * 3_750n + 30n * 15_000n;
const base = { model: "claude", max_tokens: 100, messages: [ask] };
const hello = { blocks: [{ type: "text", text: "Hello there" }], usage } as const;

for (const form of ["whole", "streamed"] as const)
  test(`the caller pays for the vendor's usage: ${form}`, async () => {
    const payer = await openPayer(gateway);
    gateway.upstream.replyOnce(form === "whole" ? nativeWhole(hello) : nativeStream(hello));
    const { messages } = anthropicAt(gateway, { apiKey: payer.key });
    const message =
      form === "whole" ? await messages.create(base) : await messages.stream(base).finalMessage();
    expect(message.usage).toMatchObject(usage);
    expect(await payer.receipt()).toMatchObject({
      model: "claude",
      outcome: "ok",
      charged: cost,
      estimated: false,
    });
  });

test("a translated stream is charged by its upstream's usage", async () => {
  const payer = await openPayer(gateway);
  gateway.upstream.replyOnce(
    chatStream({
      events: [
        chatChunk({ delta: { content: "Hi" } }),
        chatChunk({ finish: "stop" }),
        chatChunk({ choices: [], usage: usageOf({ prompt: 19, completion: 10, cached: 8 }) }),
        DONE,
      ],
    }),
  );
  const { messages } = anthropicAt(gateway, { apiKey: payer.key });
  await messages.stream({ ...base, model: "local" }).finalMessage();
  const { charged } = await payer.receipt();
  expect(charged).toBe(11n * 300n + 8n * 30n + 10n * 2_500n);
});

test("an idempotent request is served and paid once", async () => {
  const payer = await openPayer(gateway);
  gateway.upstream.replyOnce(nativeWhole(hello));
  const headers = { "idempotency-key": "once" };
  const first = await payer.call("/messages", base, { headers });
  const again = await payer.call("/messages", base, { headers });
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await again.text()).toBe(await first.text());
  await payer.receipt();
});

test("a call that the balance does not cover gets a 402 in the format, without an upstream call", async () => {
  const payer = await openPayer(gateway, { credit: 1_000n });
  const reply = await payer.call("/messages", base);
  expect(reply.status).toBe(402);
  expect(await reply.json()).toMatchObject({
    error: { type: "billing_error", code: "insufficient_quota" },
  });
  expect(gateway.upstream.requests).toHaveLength(0);
});

test("a stream beyond the cap is cut off, and the caller pays for the cap", async () => {
  const payer = await openPayer(gateway);
  const words = Array<string>(40).fill(" marmalade");
  const long = { type: "text", text: words.join(""), pieces: words } as const;
  const recording = nativeStream({ blocks: [long], usage: { ...usage, output_tokens: 400 } });
  const told = Promise.withResolvers<void>();
  // The head, the first events and all words: the end never comes.
  gateway.upstream.replyOnce(pausedAfter({ recording, parts: 43, until: told.promise }));
  const reply = await payer.call("/messages", { ...base, max_tokens: 10, stream: true });
  const text = await reply.text();
  told.resolve();
  const events = text
    .trimEnd()
    .split("\n\n")
    .map((event): JsonObject => JSON.parse(event.split("\ndata: ")[1] ?? ""));
  expect(events.slice(-3)).toMatchObject([
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "max_tokens" },
      usage: { input_tokens: 20, output_tokens: 10 },
    },
    { type: "message_stop" },
  ]);
  const { charged } = await payer.receipt();
  expect(charged).toBe(cost - 20n * 15_000n);
});

test("a caller who disconnects pays for the reported input and for the text until then", async () => {
  const payer = await openPayer(gateway);
  const recording = nativeStream({
    blocks: [{ type: "text", text: "Hello there", pieces: ["Hello", " there"] }],
    usage,
  });
  const left = Promise.withResolvers<void>();
  gateway.upstream.replyOnce(pausedAfter({ recording, parts: 4, until: left.promise }));
  const leaving = new AbortController();
  const { messages } = anthropicAt(gateway, { apiKey: payer.key });
  const stream = messages.stream(base, { signal: leaving.signal });
  stream.on("text", () => leaving.abort());
  await expect(stream.finalMessage()).rejects.toThrow();
  const { charged, outcome } = await payer.receipt();
  left.resolve();
  expect(outcome).toBe("left");
  const output = BigInt(Math.max(1, countTokens("Hello")));
  expect(charged).toBe(cost - (30n - output) * 15_000n);
});

test("a stream that breaks off is charged up to the break, and ends with an error", async () => {
  const payer = await openPayer(gateway);
  const events = anthropicEvents({ ...hello, stopReason: "end_turn" });
  gateway.upstream.replyOnce(
    httpReply({
      headers: { "content-type": "text/event-stream" },
      // All but the event that ends a message.
      body: events.slice(0, -1),
      framing: "chunked",
    }),
  );
  const reply = await payer.call("/messages", { ...base, stream: true });
  const text = await new BodyReader(reply).rest();
  expect(text).toContain("event: error\n");
  expect(text).not.toContain("message_stop");
  const { outcome, charged } = await payer.receipt();
  expect(outcome).toBe("upstream_error");
  expect(charged > 0n && charged <= cost).toBe(true);
});
