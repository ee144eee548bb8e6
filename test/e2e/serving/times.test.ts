/** The time limits of a model: each ends what it is for, and no more. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import {
  chatAnswers,
  chatStreams,
  embeddingsReply,
  rateLimits,
  speechReplies,
} from "../../fake/recordings.ts";
import { cutAfter, type Script } from "../../fake/script.ts";
import type { FakeUpstream } from "../../fake/upstream.ts";
import { BodyReader, parseStream, textOf } from "../../replies/event-stream.ts";
import { expectRefusal } from "../../replies/refusal.ts";
import {
  countTokens,
  flash,
  helloTokens,
  openPayer,
  type Payer,
  warmCounter,
} from "../../setup/money-home.ts";
import { type ServingHome, startServing } from "../../setup/serving-home.ts";

const price = `price: { input: "0.30", output: "2.50" }`;
const both = `[{ provider: first, model: m1 }, { provider: second, model: m2, priority: 2 }]`;
const voices = both.replaceAll(" }", ", voices: same }");

let home: ServingHome;

beforeAll(async () => {
  home = await startServing({
    models: `
  quick: { endpoint: chat, ${price}, timeouts: { first_byte: 20 }, routes: ${both} }
  quick-only: { endpoint: chat, ${price}, timeouts: { first_byte: 20 }, routes: [{ provider: first, model: m1 }] }
  quick-vectors: { endpoint: embeddings, input: text, price: { input: 1 }, timeouts: { first_byte: 20 }, routes: ${both} }
  quick-voice: { endpoint: speech, price: { input: 1, audio_output: 1 }, timeouts: { first_byte: 20 }, routes: ${voices} }
  short: { endpoint: chat, ${price}, timeouts: { total: 60 }, routes: ${both} }
  shorter: { endpoint: chat, ${price}, timeouts: { first_byte: 30, total: 60 }, routes: ${both} }
  lively: { endpoint: chat, ${price}, timeouts: { idle: 20 }, routes: ${both} }
`,
    environment: { SVC_KEEP_ALIVE_S: "0.04" },
  });
  await warmCounter(home.gateway, "only");
});
afterAll(() => home.stop());
let payer: Payer;
beforeEach(async () => {
  await home.reset();
  payer = await openPayer(home.gateway);
});

const hang: Script = [{ hang: true }];
const usage = usageOf({ prompt: 20, completion: 7 });
const cost = 20n * flash.input + 7n * flash.output;

/** So much time passes once the next request has reached this target. */
async function passOnceAsked(upstream: FakeUpstream, ms: number) {
  const request = await upstream.nextRequest();
  home.pass(ms);
  return request;
}

async function expectLetGo(asked: ReturnType<typeof passOnceAsked>): Promise<void> {
  const request = await asked;
  await request.closed;
  expect(request.abortedByClient).toBe(true);
}

describe("a target that is silent for the model's first-byte limit", () => {
  const silent = "first/m1 upstream_timeout (the provider sent nothing for 20000 ms), second/m2";

  test("loses a whole chat to the next one, and has its connection closed", async () => {
    home.first.replyWith(hang);
    home.second.replyWith(chatAnswers.plain({ text: "from the second", usage }));
    const asked = passOnceAsked(home.first, 20_000);
    const response = await payer.chat({ model: "quick" });
    expect(await response.text()).toContain("from the second");
    await expectLetGo(asked);
    expect(await payer.receipt()).toMatchObject({ attempts: silent, charged: cost, outcome: "ok" });
    expect((await home.targets("first"))["m1"]).toMatchObject({ requests: 1, failures: 1 });
  });

  for (const [name, script] of [
    ["before its head", hang],
    ["after its head", [{ send: chatStreams.openai().head }, { hang: true }]],
  ] as const)
    test(`loses a stream to the next one, silent ${name}; only comments went out meanwhile`, async () => {
      home.first.replyWith(script);
      home.second.replyWith(chatStreams.openai({ pieces: ["from the second"], usage }));
      const asked = passOnceAsked(home.first, 10_000);
      const body = new BodyReader(await payer.chat({ model: "quick", stream: true }));
      await asked;
      await body.until(": ");
      home.pass(10_000);
      const stream = parseStream(await body.rest());
      expect([textOf(stream), stream.isDone, stream.error]).toEqual([
        "from the second",
        true,
        undefined,
      ]);
      await expectLetGo(asked);
      expect(await payer.receipt()).toMatchObject({ attempts: silent, charged: cost });
    });

  test("loses embeddings and speech to the next one", async () => {
    home.first.replyWith(hang);
    home.second.replyOnce(embeddingsReply());
    home.second.replyOnce(speechReplies.pcmChunked());
    const vectors = { model: "quick-vectors", input: ["a", "b", "c"] };
    void passOnceAsked(home.first, 20_000);
    expect((await home.gateway.call("/embeddings", vectors)).status).toBe(200);
    const speech = { model: "quick-voice", input: "Hi", voice: "Kore" };
    void passOnceAsked(home.first, 20_000);
    const response = await home.gateway.call("/audio/speech", speech);
    expect((await response.bytes()).length).toBeGreaterThan(1_000);
    expect([home.first.requests.length, home.second.requests.length]).toEqual([2, 2]);
  });

  for (const stream of [false, true])
    test(`and is the only one is asked once, and free, ${stream ? "though comments went out" : "whole"}`, async () => {
      home.first.replyWith([{ send: chatStreams.openai().head }, { hang: true }]);
      const asked = passOnceAsked(home.first, 10_000);
      const call = payer.chat({ model: "quick-only", stream });
      await asked;
      if (stream) {
        const body = new BodyReader(await call);
        await body.until(": ");
        home.pass(10_000);
        expect(parseStream(await body.rest()).error?.code).toBe("upstream_timeout");
      } else {
        home.pass(10_000);
        await expectRefusal(call, { status: 504, code: "upstream_timeout" });
      }
      expect(home.first.requests.length).toBe(1);
      const receipt = await payer.receipt();
      expect(receipt).toMatchObject({
        attempts: "first/m1 upstream_timeout (the provider sent nothing for 20000 ms)",
        outcome: "upstream_timeout",
        charged: 0n,
      });
      expect(receipt.firstByteMs).toBeUndefined();
    });

  test("does not count the time before its own attempt", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const { bytes } = rateLimits.millisecondsAlone(50);
    home.first.replyOnce([{ until: gates[0].promise }, { send: bytes }]);
    home.first.replyOnce([
      { until: gates[1].promise },
      { send: chatAnswers.plain({ usage }).bytes },
    ]);
    const call = payer.chat({ model: "quick-only" });
    for (const { resolve } of gates) {
      await passOnceAsked(home.first, 15_000);
      await home.ticks();
      resolve();
    }
    expect((await call).status).toBe(200);
    const { attempts } = await payer.receipt();
    expect(attempts).toStartWith("first/m1 upstream_rate_limited (");
    expect(attempts).toEndWith("), first/m1");
  });
});

describe("the limit of the whole call", () => {
  test("counts all attempts together", async () => {
    for (const upstream of [home.first, home.second]) upstream.replyWith(hang);
    void passOnceAsked(home.first, 30_000);
    const asked = passOnceAsked(home.second, 29_999);
    const call = payer.chat({ model: "shorter" });
    await asked;
    home.pass(1);
    expect((await call).status).toBe(504);
    await expectLetGo(asked);
    const { attempts, outcome, charged } = await payer.receipt();
    expect({ outcome, charged }).toEqual({ outcome: "upstream_timeout", charged: 0n });
    expect(attempts).toStartWith(
      "first/m1 upstream_timeout (the provider sent nothing for 30000 ms)",
    );
    expect(attempts).toContain(", second/m2");
  });

  test("ends a pause", async () => {
    for (const upstream of [home.first, home.second])
      upstream.replyWith(rateLimits.millisecondsAlone(1_900));
    const call = payer.chat({ model: "short" });
    await home.untilResting("second", "m2");
    home.pass(60_000);
    expect((await call).status).toBe(504);
    expect([home.first.requests.length, home.second.requests.length]).toEqual([1, 1]);
    expect(await payer.receipt()).toMatchObject({ outcome: "upstream_timeout", charged: 0n });
  });

  test("ends a stream that is under way with an error event, and no target that spoke is blamed", async () => {
    const recording = chatStreams.openai({ pieces: ["Once upon"] });
    home.first.replyWith(cutAfter({ recording, parts: 2, by: "hang" }));
    const body = new BodyReader(await payer.chat({ model: "short", stream: true }));
    await body.until("Once upon");
    home.pass(60_000);
    const stream = parseStream(await body.rest());
    expect([textOf(stream), stream.error?.code]).toEqual(["Once upon", "upstream_timeout"]);
    expect(await payer.receipt()).toMatchObject({
      outcome: "upstream_timeout",
      attempts: "first/m1 upstream_timeout (the call exceeded 60000 ms)",
      estimated: true,
    });
    expect((await home.targets("first"))["m1"]).toMatchObject({
      state: "closed",
      requests: 1,
      failures: 0,
    });
  });
});

describe("silence within an answer", () => {
  test("ends it with an error event; the next target is not asked, and the silent one is let go", async () => {
    const recording = chatStreams.openai({ pieces: ["Once upon", " a time"] });
    home.first.replyWith(cutAfter({ recording, parts: 2, by: "hang" }));
    home.second.replyWith(chatStreams.openai());
    const asked = passOnceAsked(home.first, 0);
    const body = new BodyReader(await payer.chat({ model: "lively", stream: true }));
    await body.until("Once upon");
    home.pass(20_000);
    const stream = parseStream(await body.rest());
    expect([textOf(stream), stream.error?.code, stream.isDone]).toEqual([
      "Once upon",
      "upstream_timeout",
      false,
    ]);
    await expectLetGo(asked);
    expect(home.second.requests.length).toBe(0);
    const { attempts, outcome, charged, estimated } = await payer.receipt();
    expect(attempts).toBe("first/m1 upstream_timeout (the provider sent nothing for 20000 ms)");
    const delivered =
      BigInt(helloTokens) * flash.input + BigInt(countTokens("Once upon")) * flash.output;
    expect({ outcome, charged, estimated }).toEqual({
      outcome: "upstream_timeout",
      charged: delivered,
      estimated: true,
    });
    expect((await home.targets("first"))["m1"]).toMatchObject({ requests: 1, failures: 1 });
  });

  test("is not what a target has that says words, its count and its end again and again, however slowly", async () => {
    const { head, parts, end } = chatStreams.openai({ pieces: ["a", "b", "c"], usage });
    const gates = parts.map(() => Promise.withResolvers<void>());
    home.first.replyWith([
      { send: head },
      ...parts.flatMap((send, at) => [
        { until: gates[at]?.promise ?? Promise.resolve() },
        { send },
      ]),
      { send: end },
    ]);
    const asked = passOnceAsked(home.first, 0);
    const call = payer.chat({ model: "lively", stream: true });
    await asked;
    for (const { resolve } of gates) {
      resolve();
      await home.read();
      home.pass(15_000);
      await home.ticks();
    }
    const stream = parseStream(await (await call).text());
    expect([textOf(stream), stream.error, stream.isDone]).toEqual(["abc", undefined, true]);
    expect((await payer.receipt()).charged).toBe(cost);
  });
});
