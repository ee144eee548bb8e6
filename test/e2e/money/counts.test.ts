/** Whose count is charged: the vendor's where there is one, else what a tokenizer counts. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatChunk, chatJson, chatStream, DONE, embeddingsReply } from "../../fake/recordings.ts";
import {
  geminiEvent,
  geminiJson,
  geminiReply,
  geminiStream,
} from "../../fake/vendors/gemini-replies.ts";
import { BodyReader, parseStream } from "../../replies/event-stream.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { countTokens, leaver, openPayer, warmCounter } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ hasOwnCounter: true });
beforeAll(() => warmCounter(gateway));

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

test("many who leave with long prompts that are slow to count pay what was counted, not less", async () => {
  // Base64 has far more tokens for its bytes than words have, and takes the counter longest.
  const content = Buffer.from(crypto.getRandomValues(new Uint8Array(30_000))).toString("base64");
  const messages = [{ role: "user", content }];
  const text = "Hello";
  const payers = await Promise.all(Array.from({ length: 4 }, () => openPayer(gateway)));
  const { head, parts } = chatStream({ events: [chatChunk({ delta: { content: text } })] });
  const begun = Buffer.concat([head, ...parts]);
  for (const _ of payers) gateway.upstream.replyOnce([{ send: begun }, { hang: true }]);
  const leavers = payers.map((payer) => {
    const { signal, leave } = leaver();
    return { leave, call: payer.chat({ stream: true, messages }, { signal }) };
  });
  await Promise.all(
    leavers.map(async ({ call, leave }) => {
      await new BodyReader(await call).until(text);
      await leave(call);
    }),
  );
  const tokens = countTokens(content);
  for (const payer of payers) {
    const { units, estimated } = await payer.receipt();
    expect(estimated).toBe(true);
    // The counter cuts long runs, which makes a token or two for each cut.
    expect(Math.abs((units.input ?? 0) - tokens)).toBeLessThan(tokens * 0.02);
  }
});

describe("an answer that a vendor's filter stopped before its first word", () => {
  let google: TestGateway;
  beforeAll(async () => {
    google = await startTestGateway({
      manifest: `
providers:
  google: { kind: gemini, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  svc-3-flash: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: google, model: gemini-3-flash }] }
`,
    });
  });
  afterAll(() => google.stop());

  const usage = { promptTokenCount: 1_234, totalTokenCount: 1_234 };
  const stopped = geminiReply({ finishReason: "SAFETY", usage });

  for (const form of ["whole", "streamed"] as const)
    test(`${form}: the vendor's count of the prompt is charged, and no estimate`, async () => {
      google.upstream.replyWith(
        form === "whole" ? geminiJson(stopped) : geminiStream([geminiEvent(stopped)]),
      );
      const payer = await openPayer(google);
      const response = await payer.chat({
        model: "svc-3-flash",
        messages: [{ role: "user", content: "x".repeat(2_000) }],
        stream: form === "streamed",
      });
      expect([response.status, await response.text()]).toEqual([
        200,
        expect.stringContaining("content_filter"),
      ]);
      const { charged, units, estimated } = await payer.receipt();
      expect(charged).toBe(1_234n * 1_000n);
      expect([units.input, estimated]).toEqual([1_234, false]);
    });
});
