/** What is a sign of life, what is nobody's fault, and what is not waited for. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import {
  chatAnswers,
  chatChunk,
  chatStream,
  chatStreams,
  embeddingsReply,
  httpChunk,
  httpReply,
  jsonReply,
  type Recording,
} from "../../fake/recordings.ts";
import { cutAfter } from "../../fake/script.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { anthropicEvents } from "../../fake/vendors/anthropic-messages.ts";
import { geminiEvent, geminiReply } from "../../fake/vendors/gemini-replies.ts";
import { BodyReader, parseStream, textOf } from "../../replies/event-stream.ts";
import { flash, leaver, openPayer, type Payer } from "../../setup/money-home.ts";
import { callsTo, type ServingHome, startServing } from "../../setup/serving-home.ts";

const price = `price: { input: "0.30", output: "2.50" }`;
const both = `[{ provider: first, model: m1 }, { provider: second, model: m2, priority: 2 }]`;
const only = `[{ provider: first, model: m1 }]`;

let home: ServingHome;

beforeAll(async () => {
  home = await startServing({
    providers: `  other: { kind: gemini, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  bridged: { kind: anthropic, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }`,
    models: `
  shared: { endpoint: chat, ${price}, timeouts: { total: 60 }, routes: ${both} }
  lively: { endpoint: chat, ${price}, timeouts: { idle: 20 }, routes: ${only} }
  lively-too: { endpoint: chat, ${price}, timeouts: { idle: 20 }, routes: [{ provider: other, model: m3 }] }
  lively-as-well: { endpoint: chat, ${price}, timeouts: { idle: 20 }, routes: [{ provider: bridged, model: m4 }] }
`,
    environment: { SVC_KEEP_ALIVE_S: "0.04" },
  });
});
afterAll(() => home.stop());
let payer: Payer;
beforeEach(async () => {
  await home.reset();
  payer = await openPayer(home.gateway);
});

const usage = usageOf({ prompt: 20, completion: 7 });
const cost = 20n * flash.input + 7n * flash.output;
const health = async () => (await home.targets("first"))["m1"];

describe("a target that sends nothing but comments within its answer", () => {
  const openai = chatStreams.openai({ pieces: ["Once", " more"], usage });
  const counts = { promptTokenCount: 20, candidatesTokenCount: 7, totalTokenCount: 27 };
  const saying = (text: string, more: object = {}) =>
    geminiEvent(geminiReply({ parts: [{ text }], usage: counts, ...more }));
  const gemini = httpReply({
    headers: { "content-type": "text/event-stream" },
    body: [": begun\n\n", saying("Once"), saying(" more", { finishReason: "STOP" })],
    framing: "chunked",
  });

  const events = anthropicEvents({
    blocks: [{ type: "text", text: "Once more", pieces: ["Once", " more"] }],
    stopReason: "end_turn",
    usage: { input_tokens: 20, output_tokens: 7 },
  });
  const begun = events.findIndex((event) => event.includes("Once")) + 1;
  const anthropic = httpReply({
    headers: { "content-type": "text/event-stream" },
    body: [": begun\n\n", events.slice(0, begun).join(""), ...events.slice(begun)],
    framing: "chunked",
  });

  /** Says something, then comments, and then nothing or the rest. Time passes before each. */
  async function ping(
    call: Promise<Response>,
    { head, parts, end }: Recording,
    options: { readonly isSilentAtLast: boolean },
  ) {
    const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
    const [last, ...comments] = gates;
    home.first.replyWith([
      { send: Buffer.concat([head, ...parts.slice(0, 2)]) },
      ...comments.flatMap(({ promise }) => [
        { until: promise },
        { send: httpChunk(": PROCESSING\n\n") },
      ]),
      { until: last?.promise ?? Promise.resolve() },
      { send: Buffer.concat([...parts.slice(2), end]) },
    ]);
    const body = new BodyReader(await call);
    await body.until("Once");
    for (const { resolve } of comments) {
      home.pass(15_000);
      await home.ticks();
      resolve();
      await home.read();
    }
    if (options.isSilentAtLast) home.pass(20_000);
    else last?.resolve();
    return parseStream(await body.rest());
  }

  for (const [model, target, recording] of [
    ["lively", "first/m1", openai],
    ["lively-too", "other/m3", gemini],
    ["lively-as-well", "bridged/m4", anthropic],
  ] as const)
    test(`is alive, for longer than the limit of its silence: ${target}`, async () => {
      const call = Promise.withResolvers<Response>();
      const heard = ping(call.promise, recording, { isSilentAtLast: false });
      call.resolve(payer.chat({ model, stream: true }));
      const stream = await heard;
      expect([textOf(stream), stream.error, stream.isDone]).toEqual(["Once more", undefined, true]);
      expect(await payer.receipt()).toMatchObject({ charged: cost, attempts: target });
    });

  test("and then nothing at all is silent from then on", async () => {
    const call = Promise.withResolvers<Response>();
    const heard = ping(call.promise, openai, { isSilentAtLast: true });
    call.resolve(payer.chat({ model: "lively", stream: true }));
    const stream = await heard;
    expect([textOf(stream), stream.error?.code]).toEqual(["Once", "upstream_timeout"]);
    expect(await health()).toMatchObject({ requests: 1, failures: 1 });
  });
});

test("a target that said no more than a comment leaves half of the whole time to the second", async () => {
  const { head } = chatStreams.openai();
  home.first.replyWith([{ send: head }, { send: httpChunk(": wait\n\n") }, { hang: true }]);
  home.second.replyWith(chatStreams.openai({ pieces: ["from the second"], usage }));
  const asked = home.first.nextRequest();
  const call = payer.chat({ model: "shared", stream: true });
  await asked;
  await home.read();
  home.pass(30_000);
  const stream = parseStream(await (await call).text());
  expect([textOf(stream), stream.isDone]).toEqual(["from the second", true]);
  expect(await payer.receipt()).toMatchObject({
    attempts: "first/m1 upstream_timeout (the provider sent nothing for 30000 ms), second/m2",
    charged: cost,
  });
  expect(await health()).toMatchObject({ requests: 1, failures: 1 });
});

test("an error whose body does not come is judged by its status, and the one that sends it is let go", async () => {
  const cases = { 500: "upstream_error", 401: "upstream_unavailable", 502: "upstream_error" };
  const statusOf = ({ path, body }: RecordedRequest) =>
    path.endsWith("/embeddings") ? 502 : body.includes('"500"') ? 500 : 401;
  home.first.replyWith((request) => {
    const status = statusOf(request);
    const { head } = httpReply({ status, body: ["x".repeat(500)], framing: "length" });
    return [{ send: head }, { send: '{"error":' }, { hang: true }];
  });
  home.second.replyWith(({ path }) =>
    path.endsWith("/embeddings")
      ? embeddingsReply()
      : chatAnswers.plain({ text: "from the second", usage }),
  );
  // All three at once: each error is waited for.
  await Promise.all(
    Object.entries(cases).map(async ([status, code]) => {
      const payer = await openPayer(home.gateway);
      const response = await (status === "502"
        ? payer.call("/embeddings", { model: "vectors", input: ["a", "b", "c"] })
        : payer.chat({ model: "chat", messages: [{ role: "user", content: status }] }));
      expect(response.status).toBe(200);
      expect((await payer.receipt()).attempts).toBe(
        `first/m1 ${code} (first returned ${status}), second/m2`,
      );
    }),
  );
  for (const request of callsTo(home.first)) {
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  }
});

describe("a caller who leaves in the pause behind an answer that began with a failure", () => {
  const error = {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    message: "Too many requests.",
    details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.9s" }],
  };
  const kinds = {
    "a streamed chat": {
      reply: chatStream({ events: [{ error }] }),
      path: "/chat/completions",
      body: { model: "only", messages: [{ role: "user", content: "Say hello" }], stream: true },
    },
    "a stream that has told its count": {
      reply: chatStream({ events: [chatChunk({ choices: [], usage }), { error }] }),
      path: "/chat/completions",
      body: { model: "only", messages: [{ role: "user", content: "Say hello" }], stream: true },
    },
    "a whole chat": {
      reply: jsonReply({ body: { error } }),
      path: "/chat/completions",
      body: { model: "only", messages: [{ role: "user", content: "Say hello" }] },
    },
  };
  for (const [name, { reply, path, body }] of Object.entries(kinds))
    test(`pays nothing, though it had been taken: ${name}`, async () => {
      const { signal, leave } = leaver();
      home.first.replyWith(reply);
      const call = payer.call(path, body, { signal });
      // A stream's head may go out before its model speaks.
      const read = call.then((response) => new BodyReader(response).rest());
      await home.untilResting("first", "m1");
      expect((await payer.standing()).held > 0n).toBe(true);
      await leave(read);
      const { outcome, charged, cost: worth, units, attempts } = await payer.receipt();
      expect({ outcome, charged, worth, units }).toMatchObject({
        outcome: "left",
        charged: 0n,
        worth: 0n,
      });
      expect(attempts).toStartWith("first/m1 upstream_rate_limited (first returned 429");
      expect(home.first.requests.length).toBe(1);
    });

  test("and one who leaves when the second attempt has been taken pays for that one", async () => {
    const { signal, leave } = leaver();
    const soon = { ...error, details: [{ retryDelay: "0.05s" }] };
    home.first.replyOnce(chatStream({ events: [{ error: soon }] }));
    const recording = chatStreams.openai({ pieces: ["Once upon"] });
    home.first.replyOnce(cutAfter({ recording, parts: 2, by: "hang" }));
    const body = new BodyReader(await payer.chat({ model: "only", stream: true }, { signal }));
    await body.until("Once upon");
    await leave(body.rest());
    const { outcome, charged } = await payer.receipt();
    expect([outcome, charged > 0n]).toEqual(["left", true]);
  });
});
