/** A caller is served although a provider fails: by the next one, for one hold and one receipt. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { OpenAI } from "openai";
import { usageOf } from "../../fake/openai/chat-json.ts";
import {
  badRequests,
  chatAnswers,
  chatStreams,
  embeddingsReply,
  failures,
  operatorErrors,
  type Recording,
  rateLimits,
  speechReplies,
  tone,
  VECTORS,
  vendorError,
} from "../../fake/recordings.ts";
import { cutAfter, type Reply } from "../../fake/script.ts";
import { BodyReader, parseStream, textOf } from "../../replies/event-stream.ts";
import { expectRefusal } from "../../replies/refusal.ts";
import { flash, leaver, openPayer, type Payer, waitUntil } from "../../setup/money-home.ts";
import { callsTo, type ServingHome, startServing } from "../../setup/serving-home.ts";

let home: ServingHome;

beforeAll(async () => {
  home = await startServing();
});
afterAll(() => home.stop());
let payer: Payer;
beforeEach(async () => {
  await home.reset();
  payer = await openPayer(home.gateway);
});

const messages = [{ role: "user" as const, content: "Say hello" }];
const usage = usageOf({ prompt: 20, completion: 7 });
const chatCost = 20n * flash.input + 7n * flash.output;

/** Each kind of call, made with the SDK: what it is served with, and what must come of it. */
const kinds: Readonly<
  Record<
    string,
    { reply: () => Recording; ask: (client: OpenAI) => Promise<unknown>; gives: unknown }
  >
> = {
  "a chat": {
    reply: () => chatAnswers.plain({ text: "from the second", usage }),
    ask: async (client) =>
      (await client.chat.completions.create({ model: "chat", messages })).choices[0]?.message
        .content,
    gives: "from the second",
  },
  "a streamed chat": {
    reply: () => chatStreams.openai({ pieces: ["from ", "the second"], usage }),
    ask: async (client) => {
      let text = "";
      const stream = await client.chat.completions.create({
        model: "chat",
        messages,
        stream: true,
      });
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
      return text;
    },
    gives: "from the second",
  },
  embeddings: {
    reply: () => embeddingsReply(),
    ask: async (client) => {
      const { data } = await client.embeddings.create({
        model: "vectors",
        input: ["a", "b", "c"],
        encoding_format: "float",
      });
      return data.map(({ embedding }) => embedding);
    },
    gives: VECTORS.map((vector) => [...vector]),
  },
  speech: {
    reply: () => speechReplies.pcmChunked({ seconds: 0.5 }),
    ask: async (client) => {
      const response = await client.audio.speech.create({
        model: "voice",
        input: "Hello",
        voice: "Kore",
        response_format: "pcm",
      });
      return Buffer.from(await response.arrayBuffer()).equals(tone(0.5));
    },
    gives: true,
  },
};

interface Trouble {
  readonly reply: (kind: string) => Reply;
  readonly code: string;
  /** Whether a probe looks into it at once. */
  readonly isProbed?: boolean;
}

const troubles: Readonly<Record<string, Trouble>> = {
  "resets the connection": { reply: () => [{ reset: true }], code: "upstream_error" },
  "closes it without a word": { reply: () => [{ close: true }], code: "upstream_error" },
  "breaks off before the first byte of its answer": {
    reply: (kind) =>
      cutAfter({ recording: kinds[kind]?.reply() ?? chatAnswers.plain(), parts: 0, by: "close" }),
    code: "upstream_error",
  },
  "fails with 500": { reply: failures.internal, code: "upstream_error" },
  "is overloaded": { reply: () => failures.unavailable(30), code: "upstream_overloaded" },
  "is limited": { reply: () => rateLimits.seconds(30), code: "upstream_rate_limited" },
  "refuses the operator's key": {
    reply: operatorErrors.badKey,
    code: "upstream_unavailable",
    isProbed: true,
  },
  "is out of the operator's money": {
    reply: operatorErrors.outOfMoney,
    code: "upstream_unavailable",
    isProbed: true,
  },
  "takes no request of this size": {
    reply: () =>
      vendorError(413, {
        message: "Request too large for model `m1` in organization `org_x` on tokens per minute.",
        type: "tokens",
        code: "rate_limit_exceeded",
      }),
    code: "upstream_rate_limited",
  },
  "does not know the model": { reply: operatorErrors.modelMissing, code: "upstream_unavailable" },
};

/** The router knows no kinds of calls: in the others, what differs is how an answer begins. */
const ofChatAlone = /overloaded|limited|refuses|money|size|know/;

const isOut = async () => (await home.targets("first"))["m1"]?.state === "open";

for (const [kind, { reply, ask, gives }] of Object.entries(kinds))
  describe(`${kind} is served by the second provider when the first`, () => {
    for (const [trouble, { reply: failing, code, isProbed = false }] of Object.entries(troubles)) {
      if (kind !== "a chat" && ofChatAlone.test(trouble)) continue;
      test(trouble, async () => {
        home.first.replyWith(failing(kind));
        home.second.replyWith(reply());
        expect(await ask(home.gateway.client({ apiKey: payer.key }))).toEqual(gives);
        if (isProbed) await waitUntil("out of service", isOut);
        expect([callsTo(home.first).length, home.second.requests.length]).toEqual([1, 1]);
        const { attempts, charged, cost, ...receipt } = await payer.receipt();
        expect(receipt).toMatchObject({ provider: "second", outcome: "ok" });
        expect(attempts).toMatch(/^first\/m1 (\w+) \([^,]+\), second\/m2$/);
        expect(attempts).toStartWith(`first/m1 ${code} (first`);
        expect(charged > 0n && charged === cost).toBe(true);
        if (kind.endsWith("chat")) expect(charged).toBe(chatCost);
      });
    }
  });

describe("each attempt is a whole request of its own:", () => {
  test("its model, its key, and the same words", async () => {
    home.first.replyWith(failures.internal());
    home.second.replyWith(chatAnswers.plain());
    await home.gateway.call("/chat/completions", { model: "chat", messages, max_tokens: 9 });
    const sent = [...home.first.requests, ...home.second.requests].map(({ headers, json }) => ({
      key: headers["authorization"],
      ...(json as { readonly model: string }),
    }));
    expect(sent.map(({ key, model }) => [key, model])).toEqual([
      ["Bearer vendor-secret", "m1"],
      ["Bearer second-secret", "m2"],
    ]);
    const [one, other] = sent.map(({ key: _key, model: _model, ...rest }) => rest);
    expect(other).toEqual({ ...one });
    expect(other).toMatchObject({ messages });
  });

  test("the same target again, where it is the only one, and the third time it serves", async () => {
    home.first.replyOnce(failures.internal());
    home.first.replyOnce([{ reset: true }]);
    home.first.replyOnce(chatAnswers.plain({ usage }));
    expect((await payer.chat({ model: "only" })).status).toBe(200);
    const { attempts, charged, outcome } = await payer.receipt();
    expect(attempts).toMatch(
      /^first\/m1 upstream_error \(first returned 500 \(server_error\)\), first\/m1 upstream_error \(first: .+\), first\/m1$/,
    );
    expect({ charged, outcome }).toEqual({ charged: chatCost, outcome: "ok" });
    expect(home.first.requests.length).toBe(3);
  });

  test("a short wait that the target asked for is waited for; then it serves", async () => {
    home.first.replyOnce(rateLimits.millisecondsAlone(80));
    home.first.replyOnce(chatStreams.openai({ pieces: ["after a wait"], usage }));
    const stream = parseStream(await (await payer.chat({ model: "only", stream: true })).text());
    expect([textOf(stream), stream.isDone]).toEqual(["after a wait", true]);
    const { attempts, charged } = await payer.receipt();
    expect(attempts).toStartWith("first/m1 upstream_rate_limited (first returned 429");
    expect(attempts).toEndWith("), first/m1");
    expect(charged).toBe(chatCost);
  });
});

test("a receipt has each attempt with what went wrong, its start and its duration", async () => {
  home.first.replyWith(failures.internal());
  home.second.replyWith(chatAnswers.plain({ usage }));
  expect((await payer.chat({ model: "chat" })).status).toBe(200);
  const { attemptList, durationMs } = await payer.receipt();
  const detail = "first returned 500 (server_error)";
  const times = { startedMs: expect.any(Number), durationMs: expect.any(Number) };
  expect(attemptList).toEqual([
    { provider: "first", model: "m1", code: "upstream_error", status: 500, detail, ...times },
    { provider: "second", model: "m2", ...times },
  ]);
  const moments = attemptList.flatMap(({ startedMs: fromMs = -1, durationMs: ms = -1 }) => [
    fromMs,
    fromMs + ms,
  ]);
  expect([0, ...moments].toSorted((one, other) => one - other)).toEqual([0, ...moments]);
  // The one that serves does so until the call is over.
  expect(moments.at(-1)).toBe(durationMs);
});

describe("when nobody serves, there is one receipt of nothing, and it names every attempt:", () => {
  test("both providers", async () => {
    home.first.replyWith(operatorErrors.badKey());
    home.second.replyWith(operatorErrors.outOfMoney());
    await expectRefusal(payer.chat({ model: "chat" }), {
      status: 502,
      code: "upstream_unavailable",
    });
    const { attempts, outcome, charged, cost } = await payer.receipt();
    expect(attempts).toBe(
      "first/m1 upstream_unavailable (first returned 401 (invalid_api_key invalid_request_error)), " +
        "second/m2 upstream_unavailable (second returned 402 (credit_balance_exhausted invalid_request_error))",
    );
    expect([outcome, charged, cost]).toEqual(["upstream_unavailable", 0n, 0n]);
  });

  test("a refusal of the input is final, and the other provider is not asked", async () => {
    home.first.replyWith(badRequests.contextTooLong());
    await expectRefusal(payer.chat({ model: "chat" }), {
      status: 400,
      code: "context_length_exceeded",
    });
    expect([home.first.requests.length, home.second.requests.length]).toEqual([1, 0]);
    expect(await payer.receipt()).toMatchObject({
      attempts:
        "first/m1 context_length_exceeded (first returned 400 (context_length_exceeded invalid_request_error))",
      charged: 0n,
    });
  });
});

describe("after the first byte", () => {
  for (const by of ["reset", "close"] as const)
    test(`a stream that breaks (${by}) is never carried on: an error event, and what was said is paid`, async () => {
      const seen = Promise.withResolvers<void>();
      const recording = chatStreams.openai({ pieces: ["Once upon", " a time"] });
      home.first.replyWith(cutAfter({ recording, parts: 2, by, until: seen.promise }));
      home.second.replyWith(chatStreams.openai({ pieces: ["from the second"] }));
      const body = new BodyReader(await payer.chat({ model: "chat", stream: true }));
      await body.until("Once upon");
      seen.resolve();
      const stream = parseStream(await body.rest());
      expect([textOf(stream), stream.error?.code, stream.isDone]).toEqual([
        "Once upon",
        "upstream_error",
        false,
      ]);
      expect(home.second.requests.length).toBe(0);
      const { attempts, charged, estimated, outcome } = await payer.receipt();
      expect(attempts).toStartWith("first/m1 upstream_error (");
      expect({ outcome, estimated, paid: charged > 0n }).toEqual({
        outcome: "upstream_error",
        estimated: true,
        paid: true,
      });
    });

  test("only what served is paid for: what a failed attempt said it used is not", async () => {
    // It tells its usage, but never begins to answer.
    const hollow = chatStreams.openai({
      pieces: [],
      usage: usageOf({ prompt: 9_000, completion: 9_000 }),
    });
    home.first.replyWith(cutAfter({ recording: hollow, parts: 0, by: "close" }));
    home.second.replyWith(chatStreams.openai({ pieces: ["x"], usage }));
    await (await payer.chat({ model: "chat", stream: true })).text();
    expect((await payer.receipt()).charged).toBe(chatCost);
  });
});

describe("a caller who leaves", () => {
  test("in a pause between two attempts frees everything, pays nothing, and is not asked for again", async () => {
    const { signal, leave } = leaver();
    const arrived = home.first.nextRequest();
    home.first.replyWith(rateLimits.millisecondsAlone(1_900));
    const call = payer.chat({ model: "only" }, { signal });
    await (await arrived).closed;
    // The limit is known to the router once the breaker rests.
    await home.untilResting("first", "m1");
    expect((await payer.standing()).held > 0n).toBe(true);
    await leave(call);
    const { outcome, charged, attempts } = await payer.receipt();
    expect({ outcome, charged }).toEqual({ outcome: "left", charged: 0n });
    expect(attempts).toStartWith("first/m1 upstream_rate_limited (");
    expect(home.first.requests.length).toBe(1);
  });
});
