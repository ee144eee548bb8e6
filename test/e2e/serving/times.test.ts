/** The time limits of a model: each ends what it is for, and no more. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type DeafListener, startDeafListener } from "../../chaos/deaf-listener.ts";
import { usageOf } from "../../fake/openai/chat-json.ts";
import {
  chatAnswers,
  chatStreams,
  embeddingsReply,
  rateLimits,
  speechReplies,
} from "../../fake/recordings.ts";
import { cutAfter, type Script } from "../../fake/script.ts";
import { parseStream, textOf } from "../../replies/event-stream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { flash, openPayer } from "../../setup/money-home.ts";
import { type ServingHome, startServing } from "../../setup/serving-home.ts";

const price = `price: { input: "0.30", output: "2.50" }`;
const both = `[{ provider: first, model: m1 }, { provider: second, model: m2, priority: 2 }]`;
const voices = both.replaceAll(" }", ", voices: same }");

let deaf: DeafListener;
let home: ServingHome;

beforeAll(async () => {
  deaf = await startDeafListener();
  home = await startServing({
    providers: `  deaf: { kind: openai, base_url: "http://127.0.0.1:${deaf.port}/v1", allow_private: true }`,
    models: `
  quick: { endpoint: chat, ${price}, timeouts: { first_byte: 2 }, routes: ${both} }
  quick-only: { endpoint: chat, ${price}, timeouts: { first_byte: 2 }, routes: [{ provider: first, model: m1 }] }
  quick-vectors: { endpoint: embeddings, input: text, price: { input: 1 }, timeouts: { first_byte: 2 }, routes: ${both} }
  quick-voice: { endpoint: speech, price: { input: 1, audio_output: 1 }, timeouts: { first_byte: 2 }, routes: ${voices} }
  far: { endpoint: chat, ${price}, timeouts: { connect: 0.5 }, routes: [{ provider: deaf, model: m }, { provider: second, model: m2, priority: 2 }] }
  near: { endpoint: chat, ${price}, timeouts: { connect: 0.5 }, routes: ${both} }
  far-only: { endpoint: chat, ${price}, timeouts: { connect: 0.5 }, routes: [{ provider: deaf, model: other }] }
  short: { endpoint: chat, ${price}, timeouts: { total: 1 }, routes: ${both} }
  halved: { endpoint: chat, ${price}, timeouts: { total: 6 }, routes: ${both} }
  shorter: { endpoint: chat, ${price}, timeouts: { first_byte: 0.5, total: 1 }, routes: ${both} }
  lively: { endpoint: chat, ${price}, timeouts: { idle: 0.5 }, routes: ${both} }
  slower: { endpoint: chat, ${price}, timeouts: { idle: 3 }, routes: ${both} }
`,
    environment: { SVC_KEEP_ALIVE_S: "0.1" },
  });
});
afterAll(async () => {
  await home.stop();
  await deaf.stop();
});
beforeEach(() => home.reset());

const hang: Script = [{ hang: true }];
const usage = usageOf({ prompt: 20, completion: 7 });
const cost = 20n * flash.input + 7n * flash.output;

describe("a target that is silent for the model's first-byte limit", () => {
  const silent = "first/m1 upstream_timeout (the provider sent nothing for 2000 ms), second/m2";

  test("loses a whole chat to the next one, and has its connection closed", async () => {
    const payer = await openPayer(home.gateway);
    const arrived = home.first.nextRequest();
    home.first.replyWith(hang);
    home.second.replyWith(chatAnswers.plain({ text: "from the second", usage }));
    const response = await payer.chat({ model: "quick" });
    expect(await response.text()).toContain("from the second");
    const request = await arrived;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
    expect(await payer.receipt()).toMatchObject({ attempts: silent, charged: cost, outcome: "ok" });
    expect((await home.targets("first"))["m1"]).toMatchObject({ requests: 1, failures: 1 });
  });

  for (const [name, script] of [
    ["before its head", hang],
    ["after its head", [{ send: chatStreams.openai().head }, { hang: true }]],
  ] as const)
    test(`loses a stream to the next one, silent ${name}; only comments went out meanwhile`, async () => {
      const payer = await openPayer(home.gateway);
      const arrived = home.first.nextRequest();
      home.first.replyWith(script);
      home.second.replyWith(chatStreams.openai({ pieces: ["from the second"], usage }));
      const response = await payer.chat({ model: "quick", stream: true });
      const stream = parseStream(await response.text());
      expect([textOf(stream), stream.isDone, stream.error]).toEqual([
        "from the second",
        true,
        undefined,
      ]);
      expect(stream.comments.length).toBeGreaterThan(0);
      await (await arrived).closed;
      expect((await arrived).abortedByClient).toBe(true);
      expect(await payer.receipt()).toMatchObject({ attempts: silent, charged: cost });
    });

  test("loses embeddings and speech to the next one", async () => {
    home.first.replyWith(hang);
    home.second.replyOnce(embeddingsReply());
    home.second.replyOnce(speechReplies.pcmChunked());
    const vectors = { model: "quick-vectors", input: ["a", "b", "c"] };
    expect((await home.gateway.call("/embeddings", vectors)).status).toBe(200);
    const speech = { model: "quick-voice", input: "Hi", voice: "Kore" };
    const response = await home.gateway.call("/audio/speech", speech);
    expect((await response.bytes()).length).toBeGreaterThan(1_000);
    expect([home.first.requests.length, home.second.requests.length]).toEqual([2, 2]);
  });

  test("and is the only one is 504, asked once, and free", async () => {
    const payer = await openPayer(home.gateway);
    home.first.replyWith(hang);
    expect(await refusalOf(payer.chat({ model: "quick-only" }))).toMatchObject({
      status: 504,
      code: "upstream_timeout",
    });
    expect(home.first.requests.length).toBe(1);
    expect(await payer.receipt()).toMatchObject({
      attempts: "first/m1 upstream_timeout (the provider sent nothing for 2000 ms)",
      outcome: "upstream_timeout",
      charged: 0n,
    });
  });

  test("does not count a pause that it asked for: the time of an attempt is its own", async () => {
    const payer = await openPayer(home.gateway);
    home.first.replyOnce(rateLimits.millisecondsAlone(750));
    home.first.replyOnce(chatAnswers.plain({ usage }));
    expect((await payer.chat({ model: "quick-only" })).status).toBe(200);
    const { attempts } = await payer.receipt();
    expect(attempts).toStartWith("first/m1 upstream_rate_limited (");
    expect(attempts).toEndWith("), first/m1");
  });
});

describe("a target that takes no connection", () => {
  for (const stream of [false, true])
    test(`loses a call to the next one at the connect limit, ${stream ? "streamed" : "whole"}`, async () => {
      await home.gateway.server.operations.providers.reset({ name: "deaf" });
      const payer = await openPayer(home.gateway);
      const options = { text: "from the second", pieces: ["from the second"], usage };
      home.second.replyWith(stream ? chatStreams.openai(options) : chatAnswers.plain(options));
      const response = await payer.chat({ model: "far", stream });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("from the second");
      expect(await payer.receipt()).toMatchObject({
        attempts: "deaf/m upstream_timeout (the connection timed out), second/m2",
        charged: cost,
      });
    });

  test("and is the only one is 504, in our words", async () => {
    const told = await refusalOf(
      home.gateway.call("/chat/completions", {
        model: "far-only",
        messages: [{ role: "user", content: "x" }],
      }),
    );
    expect(told).toMatchObject({ status: 504, code: "upstream_timeout" });
    expect(told.message).not.toContain(String(deaf.port));
  });

  test("is told from one that only thinks: that keeps its call, however long", async () => {
    const spoken = Promise.withResolvers<void>();
    home.first.replyWith([
      { until: spoken.promise },
      { send: chatAnswers.plain({ text: "from the first" }).bytes },
    ]);
    const arrived = home.first.nextRequest();
    const call = home.gateway.call("/chat/completions", {
      model: "near",
      messages: [{ role: "user", content: "x" }],
    });
    const request = await arrived;
    // Past the limit by far, and past the look at it.
    await Bun.sleep(1_300);
    expect(request.abortedByClient).toBe(false);
    spoken.resolve();
    expect(await (await call).text()).toContain("from the first");
    expect(home.second.requests.length).toBe(0);
  });
});

describe("the limit of the whole call", () => {
  test("leaves half of it to the others, where one says nothing", async () => {
    const payer = await openPayer(home.gateway);
    const arrived = home.first.nextRequest();
    home.first.replyWith(hang);
    home.second.replyWith(chatAnswers.plain());
    expect((await payer.chat({ model: "halved" })).status).toBe(200);
    await (await arrived).closed;
    expect((await arrived).abortedByClient).toBe(true);
    expect(home.second.requests.length).toBe(1);
    expect(await payer.receipt()).toMatchObject({ outcome: "ok", provider: "second" });
  });

  test("counts all attempts together", async () => {
    const payer = await openPayer(home.gateway);
    const arrived = home.second.nextRequest();
    for (const upstream of [home.first, home.second]) upstream.replyWith(hang);
    expect((await payer.chat({ model: "shorter" })).status).toBe(504);
    await (await arrived).closed;
    const { attempts, outcome, charged } = await payer.receipt();
    expect({ outcome, charged }).toEqual({ outcome: "upstream_timeout", charged: 0n });
    expect(attempts).toStartWith(
      "first/m1 upstream_timeout (the provider sent nothing for 500 ms)",
    );
    expect(attempts).toContain(", second/m2");
  });

  test("ends a pause", async () => {
    const payer = await openPayer(home.gateway);
    for (const upstream of [home.first, home.second])
      upstream.replyWith(rateLimits.millisecondsAlone(1_800));
    expect((await payer.chat({ model: "short" })).status).toBe(504);
    expect([home.first.requests.length, home.second.requests.length]).toEqual([1, 1]);
    expect(await payer.receipt()).toMatchObject({ outcome: "upstream_timeout", charged: 0n });
  });

  test("ends a stream that is under way with an error event", async () => {
    const payer = await openPayer(home.gateway);
    const recording = chatStreams.openai({ pieces: ["Once upon"] });
    home.first.replyWith(cutAfter({ recording, parts: 2, by: "hang" }));
    const stream = parseStream(await (await payer.chat({ model: "short", stream: true })).text());
    expect([textOf(stream), stream.error?.code]).toEqual(["Once upon", "upstream_timeout"]);
    expect(await payer.receipt()).toMatchObject({ outcome: "upstream_timeout", estimated: true });
  });
});

describe("silence within an answer", () => {
  test("ends it with an error event; the next target is not asked, and the silent one is let go", async () => {
    const payer = await openPayer(home.gateway);
    const arrived = home.first.nextRequest();
    const recording = chatStreams.openai({ pieces: ["Once upon", " a time"] });
    home.first.replyWith(cutAfter({ recording, parts: 2, by: "hang" }));
    home.second.replyWith(chatStreams.openai());
    const stream = parseStream(await (await payer.chat({ model: "lively", stream: true })).text());
    expect([textOf(stream), stream.error?.code, stream.isDone]).toEqual([
      "Once upon",
      "upstream_timeout",
      false,
    ]);
    await (await arrived).closed;
    expect((await arrived).abortedByClient).toBe(true);
    expect(home.second.requests.length).toBe(0);
    const { attempts, charged } = await payer.receipt();
    expect(attempts).toBe("first/m1 upstream_timeout (the provider sent nothing for 500 ms)");
    expect(charged > 0n).toBe(true);
    expect((await home.targets("first"))["m1"]).toMatchObject({ requests: 1, failures: 1 });
  });

  /** Each part of the stream waits a while for the one before, `between` says which. */
  const spoken = (between: (at: number) => boolean) => {
    const recording = chatStreams.openai({ pieces: ["a", "b", "c"], usage });
    return [
      { send: recording.head },
      ...recording.parts.flatMap((send, at) => [
        ...(between(at) ? [{ until: Bun.sleep(900 * at) }] : []),
        { send },
      ]),
      { send: recording.end },
    ] satisfies Script;
  };

  for (const [name, between] of [
    ["words", (at: number) => at <= 4],
    ["what is not for the caller, such as its count of tokens,", () => true],
  ] as const)
    test(`is not what a target has that says ${name} again and again, however long it takes`, async () => {
      const payer = await openPayer(home.gateway);
      home.first.replyWith(() => spoken(between));
      const response = await payer.chat({ model: "slower", stream: true });
      const stream = parseStream(await response.text());
      expect([textOf(stream), stream.error, stream.isDone]).toEqual(["abc", undefined, true]);
      expect((await payer.receipt()).charged).toBe(cost);
    });
});
