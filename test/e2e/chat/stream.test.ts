/** Streams that end well: whatever way the upstream writes them, callers read the same; and usage. */

import { describe, expect, test } from "bun:test";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import {
  chatChunk,
  chatJson,
  chatStream,
  chatStreams,
  DONE,
  deltaStream,
  openaiEvents,
  type Recording,
} from "../../fake/recordings.ts";
import type { Reply } from "../../fake/script.ts";
import {
  type EventStream,
  expectWellFormed,
  finishOf,
  readStream,
  reasoningOf,
  textOf,
} from "../../replies/event-stream.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

const model = "svc-3-flash";
const whole = { model, messages: [{ role: "user" as const, content: "Say hello" }] };
const hello = { ...whole, stream: true as const };
const withUsage = { stream_options: { include_usage: true } };
const plainText = "Hello! How can I help?";

/** The caller's view of what the upstream sent; well-formed, or the test fails. */
async function relay(reply: Reply, { includeUsage = false } = {}): Promise<EventStream> {
  gateway.upstream.replyOnce(reply);
  const body = includeUsage ? { ...hello, ...withUsage } : hello;
  const stream = await readStream(await gateway.call("/chat/completions", body));
  expectWellFormed(stream, { model, includeUsage });
  return stream;
}

const text = (content: string) => chatChunk({ delta: { content } });
const finish = chatChunk({ finish: "stop" });
const deltasOf = ({ chunks }: EventStream) =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
const usageOf = ({ chunks }: EventStream) => chunks.at(-1)?.usage;

describe("the SDK", () => {
  test("reads text as it comes, under one id, with our model's name", async () => {
    gateway.upstream.replyOnce(chatStreams.openai());
    const { data, request_id: requestId } = await gateway
      .client()
      .chat.completions.create(hello)
      .withResponse();
    const chunks: ChatCompletionChunk[] = [];
    for await (const chunk of data) chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(plainText);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason).at(-1)).toBe("stop");
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(requestId).toMatch(/^req_/);
    expect(new Set(chunks.map((chunk) => chunk.system_fingerprint))).toEqual(
      new Set(["fp_44709d6fcb"]),
    );
    expect(JSON.stringify(chunks)).not.toMatch(/vendor|gpt-4o|obfuscation/);
  });

  test("collects a whole completion with .stream(), usage included", async () => {
    gateway.upstream.replyOnce(chatStreams.openai());
    const running = gateway.client().chat.completions.stream({ ...hello, ...withUsage });
    const { choices, usage, model: named } = await running.finalChatCompletion();
    expect(choices[0]?.message.content).toBe(plainText);
    expect(choices[0]?.message.role).toBe("assistant");
    expect(choices[0]?.finish_reason).toBe("stop");
    expect(usage).toMatchObject({ prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 });
    expect(named).toBe(model);
  });
});

test("the reply's head is an event stream with a request id and no header of the vendor", async () => {
  gateway.upstream.replyOnce(chatStreams.openai());
  const { headers, body } = await gateway.call("/chat/completions", hello);
  expect([...headers.keys()].sort()).toEqual([
    "cache-control",
    "content-type",
    "date",
    "transfer-encoding",
    "x-accel-buffering",
    "x-request-id",
  ]);
  expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  // Proxies must neither keep it nor collect it.
  expect(headers.get("cache-control")).toBe("no-cache");
  expect(headers.get("x-accel-buffering")).toBe("no");
  await body?.cancel();
});

describe("every way of writing a stream", () => {
  interface Case {
    readonly record: () => Recording;
    readonly text?: string;
    readonly finish?: string;
    /** The upstream does not count. */
    readonly isEstimated?: true;
  }
  const cases: Readonly<Record<string, Case>> = {
    openai: { record: chatStreams.openai },
    crlf: { record: chatStreams.crlf },
    "lone CR": { record: () => chatStream({ lineEnd: "\r", events: openaiEvents() }) },
    severalEventsInAPacket: { record: chatStreams.severalEventsInAPacket },
    multiByte: {
      record: chatStreams.multiByte,
      text: "Grüße 你好，世界 👋🏽👩‍👩‍👧 €",
    },
    empty: { record: chatStreams.empty, text: "" },
    withoutUsage: { record: chatStreams.withoutUsage, isEstimated: true },
    usageTwice: { record: chatStreams.usageTwice },
    usageInEveryChunk: { record: chatStreams.usageInEveryChunk },
    finishAndUsageInOne: { record: chatStreams.finishAndUsageInOne },
    roleInEveryChunk: { record: chatStreams.roleInEveryChunk },
    nullErrors: { record: chatStreams.nullErrors },
    reasoning: { record: chatStreams.reasoning, text: "42" },
    toolCall: { record: chatStreams.toolCall, text: "", finish: "tool_calls" },
    commentsAndFields: { record: chatStreams.commentsAndFields },
    withoutDone: { record: chatStreams.withoutDone },
    doneWithoutFinish: { record: chatStreams.doneWithoutFinish, isEstimated: true },
    withoutFinalBlankLine: { record: chatStreams.withoutFinalBlankLine },
    jsonInsteadOfStream: {
      record: chatStreams.jsonInsteadOfStream,
      text: "Hello! How can I help you today?",
    },
    "ended by the connection": { record: () => chatStreams.openai({ framing: "close" }) },
  };

  for (const [name, { record, ...expected }] of Object.entries(cases))
    test(name, async () => {
      const { text = plainText, finish = "stop", isEstimated } = expected;
      const recording = record();
      const stream = await relay(recording);
      expect(textOf(stream)).toBe(text);
      expect(finishOf(stream)).toBe(finish);
      const metered = await relay(recording, { includeUsage: true });
      expect(textOf(metered)).toBe(text);
      const usage = usageOf(metered);
      if (isEstimated) expect(usage?.["completion_tokens"]).toBeGreaterThan(0);
      else expect(usage).toMatchObject({ prompt_tokens: 19, completion_tokens: 10 });
    });
});

describe("what repeats upstream goes out once", () => {
  test("each of two choices has its own role, text and finish_reason", async () => {
    const stream = await relay(chatStreams.twoChoices());
    expect([0, 1].map((index) => [textOf(stream, index), finishOf(stream, index)])).toEqual([
      ["Heads", "stop"],
      ["Tails", "length"],
    ]);
  });

  test("the end: what follows [DONE] is dropped", async () => {
    const events = [...openaiEvents(), chatChunk({ delta: { content: "late" } }), DONE];
    for (const eventsPerPart of [1, events.length])
      expect(textOf(await relay(chatStream({ events, eventsPerPart })))).toBe(plainText);
  });
});

describe("a choice that has finished", () => {
  for (const [what, delta] of Object.entries({
    text: { content: "late" },
    reasoning: { reasoning_content: "late" },
    "a tool call": {
      tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }],
    },
  }))
    test(`says nothing more, although its upstream sends ${what}`, async () => {
      const events = [text("Hello"), finish, finish, chatChunk({ delta }), finish, DONE];
      const stream = await relay(chatStream({ events }));
      expect(deltasOf(stream)).toEqual([{ role: "assistant", content: "Hello" }, {}]);
    });

  test("does not keep another from going on", async () => {
    const events = [
      text("one"),
      finish,
      chatChunk({ index: 1, delta: { content: "two" } }),
      text("late"),
      chatChunk({ index: 1, finish: "length" }),
      DONE,
    ];
    const stream = await relay(chatStream({ events }));
    expect([textOf(stream, 0), textOf(stream, 1)]).toEqual(["one", "two"]);
  });
});

test("pieces without a letter are not sent on, but for the one that brings the role", async () => {
  const words = ["", "Hel", "", null, "lo"].map((content) => ({ content }));
  const stream = await relay(deltaStream([{ role: "assistant", content: "" }, ...words]));
  expect(deltasOf(stream)).toEqual([
    { role: "assistant", content: "" },
    { content: "Hel" },
    { content: "lo" },
    {},
  ]);
});

test("a stream of nothing but a finish still says who speaks", async () => {
  const bare = chatChunk({ choices: [{ index: 0, finish_reason: "length" }] });
  const stream = await relay(chatStream({ events: [bare, DONE] }));
  expect(deltasOf(stream)).toEqual([{ role: "assistant", content: "" }]);
});

describe("quirks of deltas", () => {
  test("content in parts becomes text", async () => {
    const deltas = [
      { role: "assistant", content: [{ type: "text", text: "Hel" }] },
      { content: [{ type: "text", text: "lo" }] },
    ];
    expect(textOf(await relay(deltaStream(deltas)))).toBe("Hello");
  });

  test("reasoning comes whole and in order, under both of its names", async () => {
    const known = await relay(chatStreams.reasoning());
    expect([reasoningOf(known), textOf(known)]).toEqual(["Six times seven.", "42"]);
    const deltas = [{ reasoning: "Six times " }, { reasoning: "seven." }, { content: "42" }];
    const stream = await relay(deltaStream(deltas));
    const thoughts = stream.chunks.map(({ choices }) => choices[0]?.delta["reasoning"] ?? "");
    expect(thoughts.join("")).toBe("Six times seven.");
    expect([reasoningOf(stream), textOf(stream)]).toEqual(["Six times seven.", "42"]);
  });

  test("logprobs stay with their token", async () => {
    const logprobs = { content: [{ token: "Hi", logprob: -0.1, bytes: null, top_logprobs: [] }] };
    const choice = { index: 0, delta: { content: "Hi" }, logprobs, finish_reason: null };
    const events = [chatChunk({ choices: [choice] }), chatChunk({ finish: "stop" }), DONE];
    const stream = await relay(chatStream({ events }));
    expect(textOf(stream)).toBe("Hi");
    expect(stream.chunks[0]?.choices[0]).toHaveProperty("logprobs", logprobs);
  });

  test("chunks without choices or with an empty list are no chunks of ours", async () => {
    const filters = chatChunk({ choices: [], extra: { prompt_filter_results: [] } });
    const events = [filters, { object: "ping" }, ...openaiEvents()];
    expect(textOf(await relay(chatStream({ events })))).toBe(plainText);
  });
});

const chat = (fields: object = {}) => gateway.call("/chat/completions", { ...whole, ...fields });
const streamed = async (fields: object = {}) => readStream(await chat({ stream: true, ...fields }));

test("a stream has usage only where the caller asks for it; upstream it is always asked for", async () => {
  gateway.upstream.replyWith(chatStreams.openai());
  for (const stream_options of [
    undefined,
    { include_usage: false },
    { include_usage: null },
    {},
    null,
  ])
    expectWellFormed(await streamed({ stream_options }), { model, includeUsage: false });
  expectWellFormed(await streamed(withUsage), { model, includeUsage: true });
  expect(gateway.upstream.requests).toHaveLength(6);
  for (const { json } of gateway.upstream.requests)
    expect(json).toEqual({
      model: "upstream-chat",
      messages: whole.messages,
      max_tokens: 8192,
      stream: true,
      stream_options: { include_usage: true },
    });
});

describe("where no upstream counts, the tokenizer", () => {
  const long = " word".repeat(1_000);

  function expectCounted(tokens: number): void {
    expect(tokens).toBeGreaterThanOrEqual(1_000);
    // Names and ids beside it are few; should the tokenizer be slow to start, it is an estimate.
    expect(tokens).toBeLessThan(1_300);
  }

  test("counts the arguments of a tool call in a whole reply", async () => {
    const called = { id: "a", type: "function", function: { name: "f", arguments: long } };
    const message = { content: null, tool_calls: [called] };
    gateway.upstream.replyOnce(chatJson({ usage: null, message }));
    const { usage } = await (await chat()).json();
    expectCounted(usage.completion_tokens);
  });

  const call = (fields: object) => ({
    tool_calls: [{ index: 0, function: { arguments: long }, ...fields }],
  });
  for (const [what, deltas] of Object.entries({
    "the arguments of a tool call": [
      call({ id: "a", type: "function", function: { name: "f", arguments: long } }),
    ],
    "each piece of the arguments": [
      call({ id: "a", type: "function", function: { name: "f", arguments: "" } }),
      call({}),
    ],
  }))
    test(`counts ${what} of a stream`, async () => {
      gateway.upstream.replyOnce(deltaStream(deltas));
      const { chunks } = await streamed(withUsage);
      expectCounted(Number(chunks.at(-1)?.usage?.["completion_tokens"]));
    });
});
