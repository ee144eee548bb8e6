/** POST /v1/completions: what goes upstream, what callers read, and what is refused. */

import { describe, expect, test } from "bun:test";
import type { Completion } from "openai/resources/completions";
import {
  completionChoice,
  completionChunk,
  completionJson,
  completionStream,
} from "../../fake/openai/completion-replies.ts";
import { chatStream, DONE, errorReply } from "../../fake/recordings.ts";
import { problemsOf } from "../../replies/conformance.ts";
import { refusalOf, thrownBy } from "../../replies/refusal.ts";
import { standardManifest } from "../../setup/harness.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({
  manifest: standardManifest.replace(
    "models:",
    `  without: { kind: openai, base_url: "UPSTREAM", vendor: groq, allow_private: true }
models:
  only-chats: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: without, model: chatty }] }
  both: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: without, model: chatty }, { provider: fake, model: instruct }] }`,
  ),
});

const model = "svc-3-flash";
const prompt = "The three primary colors are";
const answer = " red, yellow and blue.";
const complete = (fields: object = {}) =>
  gateway.call("/completions", { model, prompt, ...fields });

/** What arrived upstream of the last call. */
const sent = () => gateway.upstream.requests.at(-1);

async function eventsOf(response: Response): Promise<readonly Completion[]> {
  const text = await response.text();
  expect(text).toEndWith("data: [DONE]\n\n");
  const events = text
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event): Completion => JSON.parse(event.slice("data: ".length)));
  for (const event of events) expect(problemsOf.completionChunk(event)).toEqual([]);
  return events;
}

const textOf = (events: readonly Completion[], index = 0) =>
  events
    .flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
    .map(({ text }) => text)
    .join("");

describe("the SDK", () => {
  test("gets a whole completion, under our id and name", async () => {
    gateway.upstream.replyOnce(completionJson());
    const reply = await gateway.client().completions.create({ model, prompt, max_tokens: 50 });
    expect(reply.choices).toEqual([
      { index: 0, text: answer, logprobs: null, finish_reason: "stop" },
    ]);
    expect(reply).toMatchObject({
      object: "text_completion",
      model,
      system_fingerprint: "fp_44709d6fcb",
      usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 },
    });
    expect(reply.id).toMatch(/^cmpl-[0-9a-f]{32}$/);
    expect(sent()?.path).toBe("/v1/completions");
    expect(sent()?.json).toEqual({ model: "upstream-chat", max_tokens: 50, prompt });
  });

  test("reads a stream as it comes, with usage where it is asked for", async () => {
    gateway.upstream.replyOnce(completionStream());
    const stream = await gateway.client().completions.create({
      model,
      prompt,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: Completion[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(textOf(chunks)).toBe(answer);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 },
    });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(JSON.stringify(chunks)).not.toMatch(/vendor|instruct/);
    expect(sent()?.json).toEqual({
      model: "upstream-chat",
      max_tokens: 16,
      stream: true,
      stream_options: { include_usage: true },
      prompt,
    });
  });

  test("gets an error that it knows", async () => {
    const call = gateway.client().completions.create({ model, prompt, best_of: 0 });
    expect(await thrownBy(call)).toMatchObject({ status: 400, param: "best_of" });
  });
});

describe("what goes upstream", () => {
  test("every field of the legacy API, and those of the chat's allow-list; nothing else", async () => {
    gateway.upstream.replyOnce(completionJson());
    const fields = {
      suffix: " end",
      temperature: 0.5,
      top_p: 0.9,
      top_k: 20,
      min_p: 0.1,
      n: 2,
      best_of: 3,
      logprobs: 0,
      echo: true,
      stop: ["\n"],
      seed: 7,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      repetition_penalty: 1.1,
      logit_bias: { 50256: -100 },
      user: "u",
    };
    await complete({ ...fields, max_tokens: 9, service_tier: "priority", use_beam_search: true });
    expect(sent()?.json).toEqual({ model: "upstream-chat", max_tokens: 9, prompt, ...fields });
  });

  test("defaults are left out, and the cap is named", async () => {
    gateway.upstream.replyWith(completionJson());
    await complete({ echo: false, n: 2, best_of: 2, suffix: "", logit_bias: {}, logprobs: null });
    expect(sent()?.json).toEqual({ model: "upstream-chat", max_tokens: 16, prompt, n: 2 });
    await complete({ max_tokens: 1_000_000 });
    expect(sent()?.json).toMatchObject({ max_tokens: 8192 });
  });

  for (const [what, value] of Object.entries({
    strings: ["a", "b"],
    "token ids": [1, 2, 3],
    "lists of token ids": [[1, 2], [3]],
  }))
    test(`a prompt of ${what} as it is`, async () => {
      gateway.upstream.replyOnce(completionJson());
      expect((await complete({ prompt: value })).status).toBe(200);
      expect(sent()?.json).toMatchObject({ prompt: value });
    });
});

describe("several choices", () => {
  const both = ["Count:", "Name:"];
  const list = [0, 1, 2, 3].map((index) => completionChoice(`${index}`, index));

  test("of several prompts keep their places, and fields that only the vendor knows", async () => {
    const choices = list.map((choice) => ({ ...choice, stop_reason: null }));
    gateway.upstream.replyOnce(completionJson({ choices }));
    const reply = await (await complete({ prompt: both, n: 2 })).json();
    expect(reply.choices).toEqual(choices);
  });

  test("streamed side by side have their places and one finish each", async () => {
    const order = [0, 2, 1, 3, 2, 0, 3, 1];
    gateway.upstream.replyOnce(
      chatStream({
        events: [
          ...order.map((index) => completionChunk({ text: `${index}`, index })),
          ...[3, 1, 0, 2].map((index) => completionChunk({ index, finish: "length" })),
          DONE,
        ],
      }),
    );
    const events = await eventsOf(await complete({ prompt: both, n: 2, stream: true }));
    expect([0, 1, 2, 3].map((index) => textOf(events, index))).toEqual(["00", "11", "22", "33"]);
    const ends = events.flatMap(({ choices }) =>
      choices.filter((choice) => choice.finish_reason !== null).map(({ index }) => index),
    );
    expect(ends).toEqual([3, 1, 0, 2]);
  });
});

describe("a stream", () => {
  test("carries the log probabilities of its pieces", async () => {
    const logprobs = { tokens: [" red"], token_logprobs: [-0.1], top_logprobs: [{}] };
    const events = [
      completionChunk({ text: " red", logprobs }),
      completionChunk({ finish: "stop" }),
      DONE,
    ];
    gateway.upstream.replyOnce(chatStream({ events }));
    const [first] = await eventsOf(await complete({ stream: true, logprobs: 0 }));
    expect(first?.choices[0]).toMatchObject({ text: " red", logprobs });
  });

  test("is made of a whole reply where the upstream sends one", async () => {
    gateway.upstream.replyOnce(completionJson());
    const events = await eventsOf(await complete({ stream: true }));
    expect(textOf(events)).toBe(answer);
    expect(events.at(-1)?.choices[0]?.finish_reason).toBe("stop");
  });
});

describe("a model without legacy completions", () => {
  test("is refused with what to use instead, before any upstream is called", async () => {
    const refusal = await refusalOf(complete({ model: "only-chats" }));
    expect(refusal).toMatchObject({ status: 400, code: "wrong_endpoint", param: "model" });
    expect(refusal.message).toBe(
      "only-chats is not available on this endpoint. Use POST /v1/chat/completions.",
    );
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  test("is served by the one of its targets that has them", async () => {
    gateway.upstream.replyWith(completionJson());
    for (let count = 0; count < 8; count++) {
      expect((await complete({ model: "both" })).status).toBe(200);
      expect(sent()?.json).toMatchObject({ model: "instruct" });
    }
  });

  test("is refused when only the upstream knows, and still chats", async () => {
    const said = {
      error: {
        message:
          "This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?",
        type: "invalid_request_error",
        param: "model",
        code: null,
      },
    };
    gateway.upstream.replyWith(errorReply({ status: 404, body: said }));
    for (let count = 0; count < 12; count++)
      expect(await refusalOf(complete())).toMatchObject({
        status: 400,
        code: "wrong_endpoint",
        param: "model",
      });
    // Each was asked: no breaker has opened.
    expect(gateway.upstream.requests).toHaveLength(12);
  });

  test("and models of other endpoints name theirs", async () => {
    expect(await refusalOf(complete({ model: "svc-embedding-2" }))).toMatchObject({
      status: 400,
      code: "wrong_endpoint",
    });
  });
});

describe("refuses", () => {
  const cases: readonly (readonly [string, object])[] = [
    ["prompt[1]", { prompt: ["a", 1] }],
    ["prompt[1]", { prompt: [1, "a"] }],
    ["prompt[0]", { prompt: [-1] }],
    ["prompt[1][0]", { prompt: [[1], ["a"]] }],
    ["prompt", { prompt: "\ud800" }],
    ["max_tokens", { max_tokens: 0 }],
    ["max_tokens", { max_tokens: -1, echo: true }],
    ["prompt", { prompt: Array(100).fill("a"), n: 2 }],
    ["best_of", { prompt: Array(100).fill("a"), best_of: 2 }],
    ["best_of", { n: 2, best_of: 1 }],
    ["best_of", { best_of: 2, stream: true }],
    ["suffix", { suffix: "x", prompt: ["a", "b"] }],
    ["suffix", { suffix: "\ud800" }],
    ["echo", { echo: true, stream: true, prompt: [1] }],
    ["logit_bias", { logit_bias: { a: 1 } }],
  ];
  for (const [param, fields] of cases)
    test(`${param} in ${JSON.stringify(fields).slice(0, 60)}`, async () => {
      const refusal = await refusalOf(complete(fields));
      expect(refusal).toMatchObject({ status: 400, code: "invalid_request", param });
      expect(refusal.message).toStartWith(param);
      expect(gateway.upstream.requests).toHaveLength(0);
    });
});

test("a reply without text is the upstream's failure", async () => {
  for (const choices of [[], [{ index: 0, message: { content: "x" } }]]) {
    gateway.upstream.replyWith(completionJson({ choices }));
    expect(await refusalOf(complete())).toMatchObject({ status: 502, code: "upstream_error" });
  }
});
