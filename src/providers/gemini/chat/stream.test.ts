import { expect, test } from "bun:test";
import {
  GEMINI_USAGE,
  geminiEvent,
  geminiReply,
} from "../../../../test/fake/vendors/gemini-replies.ts";
import { apiErrorOf } from "../../../../test/providers/failure-of.ts";
import { ApiError } from "../../../base/errors.ts";
import type { ChatPart, ChatStream, JsonObject } from "../../../call/chat.ts";
import { FetchReply } from "../../kit/reply.ts";
import { GeminiChatStream } from "./stream.ts";

/** Each packet is a piece of the body of its own. */
function streamOf(packets: readonly string[], type = "text/event-stream"): ChatStream {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const packet of packets) controller.enqueue(encoder.encode(packet));
      controller.close();
    },
  });
  const response = new FetchReply(new Response(body, { headers: { "content-type": type } }));
  return new GeminiChatStream({ provider: "up", response, signal: new AbortController().signal });
}

async function partsOf(stream: ChatStream): Promise<ChatPart[]> {
  const parts: ChatPart[] = [];
  for (;;) {
    const batch = await stream.read();
    if (batch === undefined) return parts;
    parts.push(...batch);
  }
}

const text = (words: string, more: JsonObject = {}) =>
  geminiReply({ parts: [{ text: words }], usage: GEMINI_USAGE, ...more });
const last = text("!", { finishReason: "STOP" });
const typesOf = (parts: readonly ChatPart[]) => parts.map(({ type }) => type);
const wordsOf = (parts: readonly ChatPart[]) =>
  parts.map((part) => (part.type === "text-delta" ? part.text : "")).join("");

test("usage is told once a packet, however many events that has", async () => {
  const growing = (candidatesTokenCount: number) =>
    geminiEvent(
      text("x", { usage: { ...GEMINI_USAGE, candidatesTokenCount, totalTokenCount: 9 } }),
    );
  const stream = streamOf([growing(1) + growing(2) + growing(3), geminiEvent(last)]);
  const first = (await stream.read()) ?? [];
  expect(typesOf(first)).toEqual(["text-delta", "text-delta", "text-delta", "usage"]);
  expect(first.at(-1)).toMatchObject({ usage: { inputTokens: 9, outputTokens: 3 } });
});

test("a count without the words that were said is not told", async () => {
  const early = { promptTokenCount: 9, candidatesTokenCount: 0, totalTokenCount: 9 };
  const stream = streamOf([geminiEvent(text("a", { usage: early })), geminiEvent(last)]);
  expect(typesOf((await stream.read()) ?? [])).toEqual(["text-delta"]);
  expect(typesOf((await stream.read()) ?? [])).toEqual(["text-delta", "usage"]);
});

test("the prompt of an answer that was stopped before its first word is counted", async () => {
  const counts = { promptTokenCount: 9, totalTokenCount: 9 };
  const early = geminiReply({ parts: [], usage: counts });
  const stopped = geminiReply({ finishReason: "SAFETY", usage: counts });
  const stream = streamOf([geminiEvent(early), geminiEvent(stopped)]);
  // A model that is still thinking has used more than its prompt.
  expect(await stream.read()).toEqual([]);
  expect(await partsOf(stream)).toMatchObject([
    { type: "usage", usage: { inputTokens: 9, outputTokens: 0, estimated: false } },
    { type: "finish", reason: "content_filter" },
    { type: "done" },
  ]);
});

test("a stream sends one text signature, the last, even if every chunk has one", async () => {
  const signed = (words: string, thoughtSignature: string, more: JsonObject = {}) =>
    geminiEvent(geminiReply({ parts: [{ text: words, thoughtSignature }], ...more }));
  const parts = await partsOf(
    streamOf([signed("a", "s1"), signed("b", "s2", { finishReason: "STOP" })]),
  );
  expect(parts.flatMap((part) => (part.type === "delta" ? [part.delta] : []))).toEqual([
    { extra_content: { google: { thought_signature: "s2" } } },
  ]);
});

test("a reason to end that every event tells ends the answer once, at its end", async () => {
  const events = ["a", "b", "c"].map((words) => geminiEvent(text(words, { finishReason: "STOP" })));
  const parts = await partsOf(streamOf(events));
  expect(wordsOf(parts)).toBe("abc");
  expect(typesOf(parts).filter((type) => type === "finish")).toHaveLength(1);
  expect(typesOf(parts).slice(-2)).toEqual(["finish", "done"]);
});

test("while one of several candidates has not ended, the answer has not", async () => {
  const candidate = (index: number, finishReason?: string) => ({
    index,
    content: { parts: [{ text: `${index}` }] },
    ...(finishReason === undefined ? {} : { finishReason }),
  });
  const cut = geminiEvent({ candidates: [candidate(0, "STOP"), candidate(1)] });
  const parts = await partsOf(streamOf([cut]));
  expect(parts).toContainEqual({ type: "text-delta", index: 1, text: "1" });
  expect(typesOf(parts)).not.toContain("done");
  const rest = geminiEvent({ candidates: [candidate(1, "MAX_TOKENS")] });
  expect((await partsOf(streamOf([cut, rest]))).slice(-3)).toEqual([
    { type: "finish", index: 0, reason: "stop" },
    { type: "finish", index: 1, reason: "length" },
    { type: "done" },
  ]);
});

test("candidates without end are a failure", async () => {
  const candidates = Array.from({ length: 129 }, (_, index) => ({ index, content: {} }));
  expect((await apiErrorOf(partsOf(streamOf([geminiEvent({ candidates })])))).code).toBe(
    "upstream_error",
  );
});

test("calls are counted, and carry their signatures; so do words", async () => {
  const parts = [
    { functionCall: { id: "f1", name: "f", args: { a: 1 } }, thoughtSignature: "s1" },
    { functionCall: { id: "f2", name: "g" } },
    { text: "", thoughtSignature: "s2" },
  ];
  const [first, second, third, finish] = await partsOf(
    streamOf([geminiEvent(geminiReply({ parts, finishReason: "STOP" }))]),
  );
  expect(first).toMatchObject({
    delta: {
      tool_calls: [
        {
          index: 0,
          id: "f1",
          function: { name: "f", arguments: '{"a":1}' },
          extra_content: { google: { thought_signature: "s1" } },
        },
      ],
    },
  });
  expect(second).toMatchObject({ delta: { tool_calls: [{ index: 1, id: "f2" }] } });
  expect(third).toMatchObject({
    delta: { extra_content: { google: { thought_signature: "s2" } } },
  });
  expect(finish).toEqual({ type: "finish", index: 0, reason: "tool_calls" });
});

test("how likely the tokens were stands beside their text", async () => {
  const logprobsResult = { chosenCandidates: [{ token: "a", logProbability: -1 }] };
  const event = geminiReply({ parts: [{ text: "a" }], more: { logprobsResult } });
  const [part, ...rest] = await partsOf(streamOf([geminiEvent(event), geminiEvent(last)]));
  expect(wordsOf(rest)).toBe("!");
  expect(part).toMatchObject({ type: "delta", index: 0, delta: { content: "a" } });
  expect(part?.type === "delta" && part.logprobs).toMatchObject({
    content: [{ token: "a", logprob: -1 }],
  });
});

for (const [form, body] of [
  ["a list of replies", [text("a"), last]],
  ["one reply", geminiReply({ parts: [{ text: "a!" }], finishReason: "STOP" })],
] as const)
  test(`${form} in place of events is a stream too`, async () => {
    const parts = await partsOf(
      streamOf([JSON.stringify(body)], "application/json; charset=UTF-8"),
    );
    expect(wordsOf(parts)).toBe("a!");
    expect(typesOf(parts).at(-1)).toBe("done");
  });

test("a failure between events, split over packets, is the failure that it tells of", async () => {
  const told = JSON.stringify(
    [{ error: { code: 503, status: "UNAVAILABLE", message: "busy" } }],
    null,
    2,
  );
  const packets = [geminiEvent(text("a")), told.slice(0, 20), told.slice(20)];
  const stream = streamOf(packets);
  expect(wordsOf((await stream.read()) ?? [])).toBe("a");
  expect((await apiErrorOf(partsOf(stream))).code).toBe("upstream_overloaded");
});

test("a failure that ends a list of several, begun before the events, is found too", async () => {
  const error = { code: 503, status: "UNAVAILABLE", message: "busy" };
  const told = `,\n${JSON.stringify({ error })},\n{"responseId": "x"}]\n`;
  expect((await apiErrorOf(partsOf(streamOf([geminiEvent(text("a")), told])))).code).toBe(
    "upstream_overloaded",
  );
});

test("of what stands beside the events no more is kept than a failure needs", async () => {
  const told = JSON.stringify({ error: { code: 503, status: "UNAVAILABLE", message: "busy" } });
  const noise = (sizeBytes: number) => `: ${"-".repeat(sizeBytes - 3)}\n`;
  const ends = async (sizeBytes: number) =>
    partsOf(streamOf([geminiEvent(text("a")), noise(sizeBytes), told])).then(typesOf, (thrown) =>
      thrown instanceof ApiError ? thrown.code : thrown,
    );
  expect(await ends(1_024)).toBe("upstream_overloaded");
  // Behind so much the failure is not looked for: the answer is one that was cut.
  expect(await ends(64 * 1024)).toEqual(["text-delta", "usage"]);
});

test("words that speak of an error are no failure of a stream that was cut", async () => {
  const words = 'See:\n{"error": {"code": 503}}';
  const parts = await partsOf(streamOf([geminiEvent(text(words))]));
  expect(wordsOf(parts)).toBe(words);
  expect(typesOf(parts)).not.toContain("done");
});

test("a failure in an event is told apart by its status, where it has no number", async () => {
  for (const [status, code] of [
    ["UNAVAILABLE", "upstream_overloaded"],
    ["RESOURCE_EXHAUSTED", "upstream_rate_limited"],
    ["A_WORD_OF_TOMORROW", "upstream_error"],
  ]) {
    const stream = streamOf([geminiEvent({ error: { status, message: "no" } })]);
    expect((await apiErrorOf(stream.read())).code).toBe(code as ApiError["code"]);
  }
});

test("a packet without news is told as one: whoever waits knows that the upstream lives", async () => {
  const stream = streamOf([": wait\n\n", geminiEvent(last), ": over\n\n"]);
  expect(await stream.read()).toEqual([]);
  expect(wordsOf((await stream.read()) ?? [])).toBe("!");
  expect(await stream.read()).toEqual([]);
  expect(typesOf((await stream.read()) ?? [])).toEqual(["finish", "done"]);
  expect(await stream.read()).toBeUndefined();
});
