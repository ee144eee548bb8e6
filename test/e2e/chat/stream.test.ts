/** Streams that end well: whatever way the upstream writes them, callers read the same. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import {
  chatChunk,
  chatStream,
  chatStreams,
  DONE,
  openaiEvents,
  type Recording,
} from "../../fake/recordings.ts";
import { byteByByte, inPieces, type Reply } from "../../fake/script.ts";
import {
  type EventStream,
  expectWellFormed,
  finishOf,
  readStream,
  textOf,
  toolPiecesOf,
} from "../../replies/event-stream.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const model = "svc-3-flash";
const hello = {
  model,
  messages: [{ role: "user" as const, content: "Say hello" }],
  stream: true as const,
};
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

  test("collects tool calls whose identity the upstream repeats", async () => {
    for (const recording of [chatStreams.toolCall(), chatStreams.toolCallRepeated()]) {
      gateway.upstream.replyOnce(recording);
      const running = gateway.client().chat.completions.stream(hello);
      const { choices } = await running.finalChatCompletion();
      expect(choices[0]?.finish_reason).toBe("tool_calls");
      const [call] = choices[0]?.message.tool_calls ?? [];
      expect(call).toMatchObject({
        id: "call_vendor_a1",
        type: "function",
        function: { name: "get_weather", arguments: '{"city":"Zürich","unit":"celsius"}' },
      });
    }
  });
});

test("upstream, usage is always asked for, and only the call goes there", async () => {
  await relay(chatStreams.openai());
  await relay(chatStreams.openai(), { includeUsage: true });
  for (const { json } of gateway.upstream.requests)
    expect(json).toEqual({
      model: "upstream-chat",
      messages: hello.messages,
      max_tokens: 8192,
      stream: true,
      stream_options: { include_usage: true },
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
  await body?.cancel();
});

describe("every way of writing a stream", () => {
  interface Case {
    readonly record: () => Recording;
    readonly text?: string;
    readonly finish?: string;
    /** Prompt and completion tokens; undefined: estimated. */
    readonly counts?: readonly [number, number] | undefined;
  }
  const counted = [19, 10] as const;
  const cases: Readonly<Record<string, Case>> = {
    openai: { record: chatStreams.openai, counts: counted },
    crlf: { record: chatStreams.crlf, counts: counted },
    "lone CR": {
      record: () => chatStream({ lineEnd: "\r", events: openaiEvents() }),
      counts: counted,
    },
    severalEventsInAPacket: { record: chatStreams.severalEventsInAPacket, counts: counted },
    multiByte: {
      record: chatStreams.multiByte,
      text: "Grüße 你好，世界 👋🏽👩‍👩‍👧 €",
      counts: counted,
    },
    empty: { record: chatStreams.empty, text: "", counts: counted },
    withoutUsage: { record: chatStreams.withoutUsage },
    usageTwice: { record: chatStreams.usageTwice, counts: counted },
    usageInEveryChunk: { record: chatStreams.usageInEveryChunk, counts: counted },
    finishAndUsageInOne: { record: chatStreams.finishAndUsageInOne, counts: counted },
    roleInEveryChunk: { record: chatStreams.roleInEveryChunk, counts: counted },
    nullErrors: { record: chatStreams.nullErrors, counts: counted },
    reasoning: { record: chatStreams.reasoning, text: "42", counts: counted },
    toolCall: { record: chatStreams.toolCall, text: "", finish: "tool_calls", counts: counted },
    commentsAndFields: { record: chatStreams.commentsAndFields, counts: counted },
    withoutDone: { record: chatStreams.withoutDone, counts: counted },
    doneWithoutFinish: { record: chatStreams.doneWithoutFinish },
    withoutFinalBlankLine: { record: chatStreams.withoutFinalBlankLine, counts: counted },
    jsonInsteadOfStream: {
      record: chatStreams.jsonInsteadOfStream,
      text: "Hello! How can I help you today?",
      counts: counted,
    },
    "ended by the connection": {
      record: () => chatStreams.openai({ framing: "close" }),
      counts: counted,
    },
  };

  for (const [name, { record, text = plainText, finish = "stop", counts }] of Object.entries(cases))
    for (const way of ["whole", "byte by byte"])
      test(`${name}, ${way}`, async () => {
        const recording = record();
        const reply = way === "whole" ? recording : byteByByte(recording);
        const stream = await relay(reply);
        expect(textOf(stream)).toBe(text);
        expect(finishOf(stream)).toBe(finish);
        const metered = await relay(reply, { includeUsage: true });
        expect(textOf(metered)).toBe(text);
        const usage = usageOf(metered);
        if (counts === undefined) expect(usage?.["completion_tokens"]).toBeGreaterThan(0);
        else expect([usage?.["prompt_tokens"], usage?.["completion_tokens"]]).toEqual([...counts]);
      });
});

describe("cut in two at every single byte, a stream arrives whole:", () => {
  const recordings = {
    multiByte: [chatStreams.multiByte(), "Grüße 你好，世界 👋🏽👩‍👩‍👧 €"],
    crlf: [chatStreams.crlf({ pieces: ["Hel", "lo"] }), "Hello"],
    commentsAndFields: [chatStreams.commentsAndFields(), plainText],
  } as const;
  for (const [name, [recording, text]] of Object.entries(recordings))
    test(name, async () => {
      for (let at = 1; at < recording.bytes.length; at++) {
        const stream = await relay(inPieces(recording, [at]), { includeUsage: at % 2 === 0 });
        expect({ at, text: textOf(stream) }).toEqual({ at, text });
      }
    });
});

describe("what repeats upstream goes out once", () => {
  for (const name of ["toolCall", "toolCallRepeated"] as const)
    test(`id, type and name of a tool call: ${name}`, async () => {
      const pieces = toolPiecesOf(await relay(chatStreams[name]()));
      expect(pieces).toEqual([
        {
          index: 0,
          id: "call_vendor_a1",
          type: "function",
          function: { name: "get_weather", arguments: "" },
        },
        { index: 0, function: { arguments: '{"city":' } },
        { index: 0, function: { arguments: '"Zürich",' } },
        { index: 0, function: { arguments: '"unit":"celsius"}' } },
      ]);
    });

  test("each of two tool calls keeps its own identity", async () => {
    const pieces = toolPiecesOf(await relay(chatStreams.twoToolCalls()));
    expect(pieces.map(({ index, id }) => [index, id])).toEqual([
      [0, "call_vendor_0"],
      [0, undefined],
      [1, "call_vendor_1"],
      [1, undefined],
    ]);
  });

  test("each of two choices has its own role, text and finish_reason", async () => {
    const stream = await relay(chatStreams.twoChoices());
    expect([0, 1].map((index) => [textOf(stream, index), finishOf(stream, index)])).toEqual([
      ["Heads", "stop"],
      ["Tails", "length"],
    ]);
  });

  test("a finish_reason, and nothing of its choice after it", async () => {
    const finish = chatChunk({ finish: "stop" });
    const late = chatChunk({ delta: { content: "late" } });
    const events = [chatChunk({ delta: { content: "on time" } }), finish, finish, late, DONE];
    expect(textOf(await relay(chatStream({ events })))).toBe("on time");
  });

  test("the end: what follows [DONE] is dropped", async () => {
    const events = [...openaiEvents(), chatChunk({ delta: { content: "late" } }), DONE];
    for (const eventsPerPart of [1, events.length])
      expect(textOf(await relay(chatStream({ events, eventsPerPart })))).toBe(plainText);
  });
});

describe("quirks of deltas", () => {
  test("fields that we do not know reach the caller", async () => {
    const { chunks } = await relay(chatStreams.reasoning());
    const thoughts = chunks.map(({ choices }) => choices[0]?.delta["reasoning_content"] ?? "");
    expect(thoughts.join("")).toBe("Six times seven.");
  });

  test("empty or null tool_calls beside text do not make it a tool call", async () => {
    for (const tool_calls of [null, []]) {
      const delta = { content: "Hi", reasoning_content: "hm", tool_calls };
      const events = [chatChunk({ delta }), chatChunk({ finish: "stop" }), DONE];
      const stream = await relay(chatStream({ events }));
      expect(finishOf(stream)).toBe("stop");
      expect(textOf(stream)).toBe("Hi");
    }
  });

  test("a vendor's own finish words become the contract's", async () => {
    for (const [word, reason] of [
      ["eos", "stop"],
      ["length", "length"],
      ["content_filter", "content_filter"],
      ["function_call", "tool_calls"],
    ] as const) {
      const events = [chatChunk({ delta: { content: "x" } }), chatChunk({ finish: word }), DONE];
      expect(finishOf(await relay(chatStream({ events })))).toBe(reason);
    }
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
