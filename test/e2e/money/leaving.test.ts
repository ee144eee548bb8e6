/**
 * A caller who disconnects. A stream is free until an upstream has taken the call, then input and
 * what was produced. A whole reply is worked on to its end and paid in full.
 */

import { beforeAll, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import {
  chatChunk,
  chatJson,
  chatStream,
  DONE,
  embeddingsReply,
  httpChunk,
  type Recording,
  speechReplies,
} from "../../fake/recordings.ts";
import type { Script, Step } from "../../fake/script.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import {
  countTokens,
  flash,
  flashTts,
  helloTokens,
  leaver,
  moneyManifest,
  openPayer,
  waitUntil,
  warmCounter,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: moneyManifest, isOwn: true });
beforeAll(() => warmCounter(gateway));

const inputCost = BigInt(helloTokens) * flash.input;

/** More than the buffers on the way hold: when it is sent, the gateway has read what came before. */
const fillBytes = 24 * 1024 * 1024;
const comments: Step = { flood: fillBytes, chunk: httpChunk(`: ${"-".repeat(65_000)}\n\n`) };
const wasRead = (request: RecordedRequest) =>
  waitUntil("what was sent to be read", () => request.bytesSent >= fillBytes);

const textChunk = (content: string) => chatChunk({ delta: { role: "assistant", content } });
const streamOf = (...events: Parameters<typeof chatStream>[0]["events"]) => chatStream({ events });
const open = ({ head, parts }: Recording) => Buffer.concat([head, ...parts]);

/** Sends a call, waits until the upstream has it, then does what the test says, and leaves. */
async function leaveWhen(options: {
  readonly script: Script;
  readonly body: Record<string, unknown>;
  readonly path?: string;
  readonly until: (call: Promise<Response>, request: RecordedRequest) => Promise<unknown>;
}) {
  const payer = await openPayer(gateway);
  const { signal, leave } = leaver();
  const arrived = gateway.upstream.nextRequest();
  gateway.upstream.replyOnce(options.script);
  const { path, body, until } = options;
  const call =
    path === undefined ? payer.chat(body, { signal }) : payer.call(path, body, { signal });
  call.catch(() => {});
  const request = await arrived;
  expect((await payer.standing()).held > 0n).toBe(true);
  await until(call, request);
  await leave(call);
  return { payer, request };
}

test("before the upstream answers, leaving speech is free", async () => {
  const { payer, request } = await leaveWhen({
    script: [{ hang: true }],
    path: "/audio/speech",
    body: { model: "svc-2.5-flash-tts", input: "Hi", voice: "Kore" },
    until: async () => {},
  });
  const { outcome, cost, charged, units, estimated, firstByteMs } = await payer.receipt();
  expect({ outcome, cost, charged, estimated }).toEqual({
    outcome: "left",
    cost: 0n,
    charged: 0n,
    estimated: false,
  });
  expect(Object.values(units).every((count) => count === 0)).toBe(true);
  expect(firstByteMs).toBeUndefined();
  await request.closed;
  expect(request.abortedByClient).toBe(true);
});

describe("once the upstream has taken the call,", () => {
  test("a streamed one without a token costs the input", async () => {
    const { payer, request } = await leaveWhen({
      script: [{ send: streamOf(DONE).head }, comments, { hang: true }],
      body: { stream: true },
      until: (_, request) => wasRead(request),
    });
    const { outcome, charged, units, estimated, firstByteMs } = await payer.receipt();
    expect({ outcome, charged, estimated }).toEqual({
      outcome: "left",
      charged: inputCost,
      estimated: true,
    });
    expect([units.input, units.output]).toEqual([helloTokens, 0]);
    expect(firstByteMs).toBeUndefined();
    expect(request.abortedByClient).toBe(true);
  });

  test("a target that fails after taking it leaves the next one free until that takes it too", async () => {
    const payer = await openPayer(gateway);
    const { signal, leave } = leaver();
    gateway.upstream.replyOnce(streamOf(DONE));
    gateway.upstream.replyOnce([{ hang: true }]);
    const first = gateway.upstream.nextRequest();
    const second = gateway.upstream.nextRequest();
    const call = payer.chat({ model: "two", stream: true }, { signal });
    await first;
    const request = await second;
    await leave(call);
    await request.closed;
    expect(request.abortedByClient).toBe(true);
    const { outcome, charged, attempts } = await payer.receipt();
    expect({ outcome, attempts }).toEqual({
      outcome: "left",
      attempts: "fake/one upstream_error (fake sent an empty stream), fake/two",
    });
    expect(charged).toBe(0n);
  });
});

describe("a reply that is not streamed", () => {
  for (const state of ["before the upstream answers", "while its body is on the way"])
    test(`embeddings left ${state} come to their end and are paid in full`, async () => {
      const gate = Promise.withResolvers<void>();
      const reply = embeddingsReply({ vectors: [[1]] });
      const sent = state.startsWith("before") ? 0 : reply.head.length;
      const { payer, request } = await leaveWhen({
        script: [
          ...(sent === 0 ? [] : [{ send: reply.bytes.subarray(0, sent) }]),
          { until: gate.promise },
          { send: reply.bytes.subarray(sent) },
        ],
        path: "/embeddings",
        body: { model: "svc-embedding-2", input: "a river" },
        until: async () => {},
      });
      // A whole exchange later the gateway knows that the caller has gone; the hold stands.
      await fetch(`${gateway.origin}/healthz`);
      expect((await payer.standing()).held > 0n).toBe(true);
      gate.resolve();
      expect(await payer.receipt()).toMatchObject({
        outcome: "left",
        charged: 9n * 20n,
        estimated: false,
      });
      expect(request.abortedByClient).toBe(false);
    });

  test("is free if the upstream then fails, and no other target is asked for it", async () => {
    const gate = Promise.withResolvers<void>();
    const payer = await openPayer(gateway);
    const { signal, leave } = leaver();
    gateway.upstream.replyOnce([{ until: gate.promise }, { reset: true }]);
    const arrived = gateway.upstream.nextRequest();
    const call = payer.chat({ model: "two" }, { signal });
    await arrived;
    await leave(call);
    await fetch(`${gateway.origin}/healthz`);
    gate.resolve();
    expect(await payer.receipt()).toMatchObject({ outcome: "left", charged: 0n });
    expect(gateway.upstream.requests.length).toBe(1);
  });

  test("keeps its tokens in the limit and its place among the running", async () => {
    const { operations } = gateway.server;
    const payer = await openPayer(gateway);
    await operations.keys.setLimits({ id: payer.keyId, tpm: "3000", concurrency: "1" });
    const gate = Promise.withResolvers<void>();
    const { signal, leave } = leaver();
    gateway.upstream.replyOnce([
      { until: gate.promise },
      { send: chatJson({ usage: usageOf({ prompt: 2_500, completion: 40 }) }).bytes },
    ]);
    const arrived = gateway.upstream.nextRequest();
    const call = payer.chat({ max_tokens: 50 }, { signal });
    await arrived;
    await leave(call);
    await fetch(`${gateway.origin}/healthz`);
    const busy = await payer.chat({ max_tokens: 50 });
    expect(busy.status).toBe(429);
    expect(await busy.text()).toContain("1 concurrent request");
    gate.resolve();
    await payer.receipt();
    const over = await payer.chat({ max_tokens: 1_000 });
    expect(over.status).toBe(429);
    expect(await over.text()).toContain("3,000 tokens per minute");
  });
});

describe("in the middle of a stream", () => {
  test("an upstream that has counted so far is believed", async () => {
    const usage = usageOf({ prompt: 12, completion: 3, cached: 2 });
    const events = [chatChunk({ delta: { content: "Hello" }, usage })];
    const { payer } = await leaveWhen({
      script: [{ send: open(streamOf(...events)) }, { hang: true }],
      body: { stream: true },
      until: async (call) => new BodyReader(await call).until("Hello"),
    });
    const { charged, estimated } = await payer.receipt();
    expect(charged).toBe(10n * flash.input + 2n * flash.cached + 3n * flash.output);
    expect(estimated).toBe(false);
  });
});

describe("after the finish_reason", () => {
  const usage = usageOf({ prompt: 11, completion: 7 });
  const finished = streamOf(textChunk("Hello"), chatChunk({ finish: "stop" }));
  const heardAll = async (call: Promise<Response>, request: RecordedRequest) => {
    await new BodyReader(await call).until("Hello");
    await wasRead(request);
  };

  test("a usage that comes within half a second is what is paid", async () => {
    const gate = Promise.withResolvers<void>();
    const late = streamOf(chatChunk({ choices: [], usage }));
    const { payer } = await leaveWhen({
      script: [
        { send: open(finished) },
        comments,
        { until: gate.promise },
        { send: Buffer.concat([...late.parts]) },
        { hang: true },
      ],
      body: { stream: true },
      until: heardAll,
    });
    // A whole exchange later the gateway knows that the caller has gone.
    await fetch(`${gateway.origin}/healthz`);
    gate.resolve();
    expect(await payer.receipt()).toMatchObject({
      outcome: "left",
      charged: 11n * flash.input + 7n * flash.output,
      estimated: false,
    });
  });

  test("an upstream that never tells is let go of, and its words are counted", async () => {
    const { payer, request } = await leaveWhen({
      script: [{ send: open(finished) }, comments, { hang: true }],
      body: { stream: true },
      until: heardAll,
    });
    expect(await payer.receipt()).toMatchObject({
      outcome: "left",
      charged: inputCost + BigInt(countTokens("Hello")) * flash.output,
      estimated: true,
    });
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  });
});

test("in the middle of speech, the audio that went out is paid for", async () => {
  const text = "Hello there, how are you today?";
  const { head, parts } = speechReplies.pcmChunked({ seconds: 0.5, partBytes: 4_800 });
  const { payer } = await leaveWhen({
    script: [{ send: Buffer.concat([head, ...parts.slice(0, 1)]) }, { hang: true }],
    path: "/audio/speech",
    body: { model: "svc-2.5-flash-tts", input: text, voice: "Kore", response_format: "pcm" },
    until: async (call) => {
      const read = await (await call).body?.getReader().read();
      expect(read?.value?.length).toBe(4_800);
    },
  });
  // 4,800 bytes are a tenth of a second: 2.5 tokens.
  const { outcome, charged, units, estimated } = await payer.receipt();
  expect({ outcome, estimated, audio: units.audio_output }).toEqual({
    outcome: "left",
    estimated: true,
    audio: 3,
  });
  expect(charged).toBe(BigInt(countTokens(text)) * flashTts.input + 3n * flashTts.audio);
});
