/**
 * Models that do not stream their thoughts: a caller who closes the stream before the count arrives
 * pays what the vendor counts, not just what was seen.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatChunk, chatStream, DONE, httpChunk, type Recording } from "../../fake/recordings.ts";
import type { Script } from "../../fake/script.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { standardManifest, startTestGateway, type TestGateway } from "../../setup/harness.ts";
import {
  countTokens,
  flash,
  leaver,
  openPayer,
  type Payer,
  waitUntil,
  warmCounter,
} from "../../setup/money-home.ts";

/** One for each test: what is known of how much a model thinks is known of that model. */
const models = Array.from({ length: 12 }, (_, at) => `thinker-${at}`);
const manifest = `${standardManifest}${models
  .map(
    (id) =>
      `  ${id}: { endpoint: chat, max_output_tokens: 8192, price: { input: "0.30", cached_input: "0.03", output: "2.50" }, routes: [{ provider: fake, model: upstream-${id} }] }\n`,
  )
  .join("")}`;

let gateway: TestGateway;
let modelsUsed = 0;

// One for all: each thread that counts takes most of a second to start.
beforeAll(async () => {
  gateway = await startTestGateway({ manifest });
});
afterAll(() => gateway.stop());
/** Calls the model of this test. */
let payer: Payer;
beforeEach(async () => {
  gateway.upstream.reset();
  const model = models[modelsUsed++] ?? "";
  const opened = await openPayer(gateway);
  payer = { ...opened, chat: (body = {}, init) => opened.chat({ model, ...body }, init) };
});

const words = Array.from({ length: 20 }, (_, at) => ` word${at}`);
const said = words.join("");
const usage = usageOf({ prompt: 10, completion: 8_000, reasoning: 7_900 });
const full = 10n * flash.input + 8_000n * flash.output;

const streamOf = (...events: Parameters<typeof chatStream>[0]["events"]) => chatStream({ events });
const spoken = words.map((content) => chatChunk({ delta: { content } }));
const ending = [chatChunk({ finish: "stop" }), chatChunk({ choices: [], usage }), DONE];
const open = ({ head, parts }: Recording) => Buffer.concat([head, ...parts]);
const rest = () => {
  const { parts, end } = streamOf(...ending);
  return Buffer.concat([...parts, end]);
};

/** One call that comes to its end: from then on it is known how much the model thinks. */
async function learn(): Promise<void> {
  gateway.upstream.replyOnce(streamOf(...spoken, ...ending));
  await (await payer.chat({ stream: true })).text();
}

/** Reads all that is said, then leaves. */
async function leaveAfterTheWords(
  after: Script,
  body: Record<string, unknown> = {},
): Promise<RecordedRequest> {
  const { signal, leave } = leaver();
  gateway.upstream.replyOnce([{ send: open(streamOf(...spoken)) }, ...after]);
  const arrived = gateway.upstream.nextRequest();
  const call = payer.chat({ stream: true, ...body }, { signal });
  await new BodyReader(await call).until(" word19");
  await leave(call);
  // A whole exchange later the gateway knows that the caller has gone.
  await fetch(`${gateway.origin}/healthz`);
  return arrived;
}

/** The upstream goes on like this after the caller has gone. */
async function leaveThen(step: Script[number], body: Record<string, unknown> = {}): Promise<void> {
  const gate = Promise.withResolvers<void>();
  await leaveAfterTheWords([{ until: gate.promise }, step], body);
  gate.resolve();
}

describe("a caller who leaves after the last word", () => {
  test("pays the reported usage, and keeps hold and place until it comes", async () => {
    await learn();
    await gateway.server.operations.keys.setLimits({ id: payer.keyId, concurrency: "1" });
    const gate = Promise.withResolvers<void>();
    const request = await leaveAfterTheWords([{ until: gate.promise }, { send: rest() }]);
    expect((await payer.standing()).held > 0n).toBe(true);
    expect((await payer.chat()).status).toBe(429);
    expect(request.abortedByClient).toBe(false);
    gate.resolve();
    const [, left] = await payer.settled(2);
    expect(left).toMatchObject({ outcome: "left", charged: full, estimated: false });
    expect(left?.reasoningTokens).toBe(7_900);
  });

  test("pays it also when the count comes long after the finish", async () => {
    await learn();
    const gate = Promise.withResolvers<void>();
    const { parts } = streamOf(chatChunk({ finish: "stop" }));
    const counted = streamOf(chatChunk({ choices: [], usage }), DONE);
    await leaveAfterTheWords([
      { send: Buffer.concat([...parts]) },
      { until: gate.promise },
      { send: Buffer.concat([...counted.parts, counted.end]) },
    ]);
    // Longer than an upstream is waited for whose work was seen.
    await Bun.sleep(700);
    gate.resolve();
    const [, left] = await payer.settled(2);
    expect(left).toMatchObject({ outcome: "left", charged: full, estimated: false });
  });

  test("pays an estimate with the mean of the model's thoughts if the count never comes", async () => {
    await warmCounter(gateway);
    await learn();
    await leaveThen({ close: true });
    const [, left] = await payer.settled(2);
    expect(left).toMatchObject({ outcome: "left", estimated: true, reasoningTokens: 7_900 });
    expect(left?.units.output).toBe(countTokens(said) + 7_900);
  });

  test("pays the estimate within the hold", async () => {
    await warmCounter(gateway);
    await learn();
    await leaveThen({ close: true }, { max_tokens: 1_000 });
    const [, left] = await payer.settled(2);
    expect(left?.units.output).toBe(1_000);
    expect(left !== undefined && left.charged <= left.hold).toBe(true);
  });

  test("pays it before the model has spoken, too, once the upstream has taken the call", async () => {
    await learn();
    const gate = Promise.withResolvers<void>();
    const { signal, leave } = leaver();
    const { head, parts, end } = streamOf(...spoken, ...ending);
    const fillBytes = 24 * 1024 * 1024;
    gateway.upstream.replyOnce([
      { send: head },
      { flood: fillBytes, chunk: httpChunk(`: ${"-".repeat(65_000)}\n\n`) },
      { until: gate.promise },
      { send: Buffer.concat([...parts, end]) },
    ]);
    const arrived = gateway.upstream.nextRequest();
    const call = payer.chat({ stream: true }, { signal });
    const request = await arrived;
    await waitUntil("the head to be read", () => request.bytesSent >= fillBytes);
    await leave(call);
    await fetch(`${gateway.origin}/healthz`);
    gate.resolve();
    const [, left] = await payer.settled(2);
    expect(left).toMatchObject({ outcome: "left", charged: full, estimated: false });
  });
});

describe("nobody makes it cheap", () => {
  const plain = usageOf({ prompt: 10, completion: 1 });
  const cheap = () => streamOf(textChunk("No"), chatChunk({ choices: [], usage: plain }), DONE);
  const textChunk = (content: string) => chatChunk({ delta: { content } });

  test("by many short calls without thoughts before it", async () => {
    await learn();
    for (let at = 0; at < 101; at++) {
      gateway.upstream.replyOnce(cheap());
      await (await payer.chat({ stream: true, max_tokens: 1 })).text();
    }
    await leaveThen({ send: rest() });
    expect((await payer.settled(103)).at(-1)).toMatchObject({ charged: full, estimated: false });
  });

  test("by asking a model to think that did not until now", async () => {
    gateway.upstream.replyOnce(cheap());
    await (await payer.chat({ stream: true, max_tokens: 1 })).text();
    await leaveThen({ send: rest() }, { reasoning_effort: "high" });
    expect((await payer.settled(2)).at(-1)).toMatchObject({ charged: full, estimated: false });
  });

  test("by a summary of thoughts that stands for all of them", async () => {
    await learn();
    const { signal, leave } = leaver();
    const summary = chatChunk({ delta: { reasoning_content: "Thinking" } });
    const gate = Promise.withResolvers<void>();
    gateway.upstream.replyOnce([
      { send: open(streamOf(summary, ...spoken)) },
      { until: gate.promise },
      { send: rest() },
    ]);
    const call = payer.chat({ stream: true }, { signal });
    await new BodyReader(await call).until(" word19");
    await leave(call);
    await fetch(`${gateway.origin}/healthz`);
    gate.resolve();
    expect((await payer.settled(2)).at(-1)).toMatchObject({ charged: full, estimated: false });
  });
});

describe("the upstream is aborted at once", () => {
  const isAborted = async (request: RecordedRequest) => {
    await request.closed;
    return request.abortedByClient;
  };

  test("where the model is known not to think", async () => {
    const plain = usageOf({ prompt: 10, completion: 20 });
    gateway.upstream.replyOnce(streamOf(...spoken, chatChunk({ choices: [], usage: plain }), DONE));
    await (await payer.chat({ stream: true })).text();
    expect(await isAborted(await leaveAfterTheWords([{ hang: true }]))).toBe(true);
  });

  test("where its thoughts were streamed", async () => {
    const thoughts = chatChunk({ delta: { reasoning_content: "Let me think. ".repeat(2_500) } });
    gateway.upstream.replyOnce(streamOf(thoughts, ...spoken, ...ending));
    await (await payer.chat({ stream: true })).text();
    const { signal, leave } = leaver();
    const thought = chatChunk({ delta: { reasoning_content: "Let me think" } });
    gateway.upstream.replyOnce([{ send: open(streamOf(thought)) }, { hang: true }]);
    const arrived = gateway.upstream.nextRequest();
    const call = payer.chat({ stream: true }, { signal });
    await new BodyReader(await call).until("Let me think");
    await leave(call);
    expect(await isAborted(await arrived)).toBe(true);
  });

  test("where nothing is known of the model, but not forever", async () => {
    for (let at = 0; at < 10; at++)
      expect(await isAborted(await leaveAfterTheWords([{ hang: true }]))).toBe(true);
    await leaveThen({ send: rest() });
    const receipts = await payer.settled(11);
    expect(receipts.at(-1)).toMatchObject({ charged: full, estimated: false });
  });
});

test("a caller who disconnects is charged the estimate at shutdown, without waiting for the count", async () => {
  await warmCounter(gateway);
  await learn();
  await leaveAfterTheWords([{ hang: true }]);
  expect((await payer.standing()).held > 0n).toBe(true);
  await gateway.server.stop();
  const [, left] = await payer.receipts();
  expect(left).toMatchObject({ outcome: "left", estimated: true });
  expect((left?.units.output ?? 0) >= 7_900).toBe(true);
  await gateway.upstream.stop();
  gateway = await startTestGateway({ manifest });
});
