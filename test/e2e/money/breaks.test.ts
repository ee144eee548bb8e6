/** An upstream that fails, or takes too long: free before anything was delivered, else what was. */

import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { usageOf } from "../../fake/openai/chat-json.ts";
import {
  chatChunk,
  chatStream,
  DONE,
  embeddingsReply,
  httpReply,
  type Recording,
  speechReplies,
  vendorError,
} from "../../fake/recordings.ts";
import type { Reply, Step } from "../../fake/script.ts";
import { BodyReader, parseStream } from "../../replies/event-stream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { startTestGateway } from "../../setup/harness.ts";
import {
  countTokens,
  flash,
  flashTts,
  helloTokens,
  openPayer,
  type Payer,
  warmCounter,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
beforeAll(() => warmCounter(gateway));

let payer: Payer;
beforeEach(async () => {
  payer = await openPayer(gateway);
});

const text = "Hello, this is the beginning of an answer";
const delivered = BigInt(helloTokens) * flash.input + BigInt(countTokens(text)) * flash.output;
const textChunk = chatChunk({ delta: { role: "assistant", content: text } });
const open = ({ head, parts }: Recording) => Buffer.concat([head, ...parts]);
const started = chatStream({ events: [textChunk] });

async function expectFree(payer: Payer, outcome: string) {
  const receipt = await payer.receipt();
  expect([receipt.outcome, receipt.cost, receipt.charged]).toEqual([outcome, 0n, 0n]);
  expect(receipt.firstByteMs).toBeUndefined();
  expect(receipt.attempts).toStartWith("fake/upstream-");
}

describe("an upstream that fails before it has said a word costs nothing:", () => {
  const counted = chatChunk({ choices: [], usage: usageOf({ prompt: 9, completion: 0 }) });
  const usageAlone = open(chatStream({ events: [counted] }));
  const failures: readonly (readonly [string, Reply, string?])[] = [
    ["no head, by close", [{ close: true }]],
    ["no head, by reset", [{ reset: true }]],
    ["a head and nothing else", [{ send: started.head }, { close: true }]],
    ["a usage and no word", [{ send: usageAlone }, { close: true }]],
    ["an error as the first event", chatStream({ events: [{ error: { message: "no" } }] })],
    ["a limit", vendorError(429, { message: "no" }), "upstream_rate_limited"],
    ["an empty stream", chatStream({ events: [DONE] })],
  ];
  for (const [name, reply, outcome = "upstream_error"] of failures)
    for (const stream of [false, true])
      test(`${name}, ${stream ? "streamed" : "whole"}`, async () => {
        gateway.upstream.replyOnce(reply);
        const { status } = await refusalOf(payer.chat({ stream }));
        expect(status).toBe(outcome === "upstream_error" ? 502 : 429);
        await expectFree(payer, outcome);
      });

  test("vectors of another length than was asked for", async () => {
    gateway.upstream.replyOnce(embeddingsReply({ vectors: [[1, 2]] }));
    const body = { model: "svc-embedding-2", input: "x", dimensions: 768 };
    expect((await refusalOf(payer.call("/embeddings", body))).status).toBe(400);
    await expectFree(payer, "invalid_request");
  });

  test("speech that is no sound", async () => {
    gateway.upstream.replyOnce(
      httpReply({
        headers: { "content-type": "audio/pcm" },
        body: ["all voices are busy just now"],
        framing: "length",
      }),
    );
    const body = { model: "svc-2.5-flash-tts", input: "Hi", voice: "Kore" };
    expect((await refusalOf(payer.call("/audio/speech", body))).status).toBe(502);
    await expectFree(payer, "upstream_error");
  });
});

describe("an upstream that dies in the middle of a stream is paid for what was delivered:", () => {
  const deaths: Readonly<Record<string, readonly Step[]>> = {
    "by an end without a finish_reason": [{ send: started.end }],
    "by an event that is no JSON": [
      { send: Buffer.concat(chatStream({ events: ["data: <html>"] }).parts.slice()) },
      { send: started.end },
    ],
  };
  for (const [name, steps] of Object.entries(deaths))
    test(name, async () => {
      const seen = Promise.withResolvers<void>();
      gateway.upstream.replyOnce([{ send: open(started) }, { until: seen.promise }, ...steps]);
      const body = new BodyReader(await payer.chat({ stream: true }));
      await body.until(text);
      seen.resolve();
      const { isDone, error } = parseStream(await body.rest());
      expect({ isDone, code: error?.code }).toEqual({ isDone: false, code: "upstream_error" });
      const { outcome, charged, estimated, firstByteMs } = await payer.receipt();
      expect({ outcome, charged, estimated }).toEqual({
        outcome: "upstream_error",
        charged: delivered,
        estimated: true,
      });
      expect(firstByteMs).toBeNumber();
    });

  test("by what it counted itself, where it had", async () => {
    const usage = usageOf({ prompt: 20, completion: 6 });
    const counted = chatStream({ events: [chatChunk({ delta: { content: text }, usage })] });
    gateway.upstream.replyOnce(counted);
    const stream = parseStream(await (await payer.chat({ stream: true })).text());
    expect(stream.isDone).toBe(false);
    const { charged, estimated, outcome } = await payer.receipt();
    expect(charged).toBe(20n * flash.input + 6n * flash.output);
    expect({ estimated, outcome }).toEqual({ estimated: false, outcome: "upstream_error" });
  });

  test("speech too, and the audio is broken off", async () => {
    const { head, parts } = speechReplies.pcmWithLength({ seconds: 1, partBytes: 9_600 });
    const seen = Promise.withResolvers<void>();
    gateway.upstream.replyOnce([
      { send: Buffer.concat([head, ...parts.slice(0, 1)]) },
      { until: seen.promise },
      { close: true },
    ]);
    const body = { model: "svc-2.5-flash-tts", input: "Hi", voice: "Kore", response_format: "pcm" };
    const reader = (await payer.call("/audio/speech", body)).body?.getReader();
    let sizeBytes = 0;
    while (sizeBytes < 9_600) sizeBytes += (await reader?.read())?.value?.length ?? 0;
    seen.resolve();
    await expect(reader?.read() ?? Promise.resolve()).rejects.toThrow();
    const { outcome, charged, units } = await payer.receipt();
    expect({ outcome, audio: units.audio_output }).toEqual({ outcome: "upstream_error", audio: 5 });
    expect(charged).toBe(flashTts.input + 5n * flashTts.audio);
  });
});

test("a stop of the gateway costs what was delivered, and leaves nothing held", async () => {
  const stopping = await startTestGateway({ environment: { SVC_GRACE_S: "0.1" } });
  try {
    const payer = await openPayer(stopping);
    stopping.upstream.replyOnce([{ send: open(started) }, { hang: true }]);
    const body = new BodyReader(await payer.chat({ stream: true }));
    await body.until(text);
    const stopped = stopping.server.stop();
    expect(parseStream(await body.rest()).error?.code).toBe("shutting_down");
    await stopped;
    const [receipt] = await payer.receipts();
    expect(receipt?.outcome).toBe("shutting_down");
    expect(receipt !== undefined && receipt.charged > 0n).toBe(true);
  } finally {
    await stopping.upstream.stop();
    rmSync(stopping.dataDir, { recursive: true, force: true });
  }
});
