import { gzipSync } from "node:zlib";
import {
  chatRequest,
  embeddingRequest,
  fill,
  keys,
  list,
  nested,
  repliesTo,
  type StallCase,
  speechRequest,
} from "./stall-case.ts";
import { chatStreamReply, eventsReply, rawReply, vectorsReply } from "./upstream-bytes.ts";

/** Replies of an upstream that is broken, hostile, or merely generous. */
const texts =
  (count: number, more = {}) =>
  () =>
    embeddingRequest(
      Array.from({ length: count }, () => "x"),
      more,
    );
const replies = "reader of replies (src/providers)";

const raw = (body: string) => rawReply({ body: [body] });
const chatWith = (message: string, more = "") =>
  raw(`{"choices":[{"index":0,"finish_reason":"stop","message":${message}}]${more}}`);
const words = (text: string) => `{"role":"assistant","content":${JSON.stringify(text)}}`;
const delta = (content: string, index = 0) =>
  `data: {"choices":[{"index":${index},"delta":{"content":"${content}"}}]}\n\n`;
const done = "data: [DONE]\n\n";
const called = (text: string, named: object = {}) => {
  const call = { id: "a", type: "function", function: { ...named, arguments: text } };
  return { tool_calls: [{ index: 0, ...call }] };
};
const inPieces = (piece: object) =>
  chatStreamReply([
    called('{"a":"', { name: "f" }),
    ...Array.from({ length: 40_000 }, () => called("xxxxxxxxxx}", piece)),
  ]);
const usage = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n';

const wholeReplies = repliesTo(() => chatRequest("Hi"), replies, {
  "upstream-60mb-nested": () => raw("[".repeat(60_000_000)),
  "upstream-60mb-nested-without-length": () =>
    rawReply({ body: ["[".repeat(60_000_000)], framing: "close" }),
  "upstream-nested-10000-levels": () => chatWith(`{"content":"x","y":${nested(10_000)}}`),
  "upstream-nested-40000-levels": () => chatWith(`{"content":"x","y":${nested(40_000)}}`),
  "upstream-5-million-numbers": () => chatWith(`{"content":"x","y":[${list("1", 5_000_000)}]}`),
  "upstream-300000-keys": () => chatWith(`{"content":"x",${keys(300_000)}}`),
  "upstream-answer-of-30mb": () => chatWith(words(fill("hello world ", 30_000_000))),
  "upstream-answer-of-10mb-of-marks-without-usage": () =>
    chatWith(words(fill("\u0301\u0316", 10_000_000))),
  "upstream-answer-of-1mb": () => chatWith(words(fill("hello world ", 1_000_000))),
  "upstream-100000-choices": () =>
    raw(`{"choices":[${list(`{"index":0,"message":${words("x")}}`, 100_000)}]}`),
  "upstream-100000-tool-calls": () =>
    chatWith(
      `{"content":null,"tool_calls":[${list('{"id":"a","function":{"name":"f"}}', 100_000)}]}`,
    ),
  "upstream-content-of-300000-parts": () =>
    chatWith(`{"content":[${list('{"type":"text","text":"x"}', 300_000)}]}`),
  "upstream-absurd-usage": () =>
    chatWith(words("x"), ',"usage":{"prompt_tokens":1e308,"completion_tokens":9007199254740991}'),
  "upstream-gzip-bomb-of-1gb": () =>
    rawReply({
      body: [gzipSync(Buffer.alloc(1_000_000_000, 32), { level: 9 })],
      headers: { "content-encoding": "gzip" },
    }),
  "upstream-error-of-60mb": () => rawReply({ status: 400, body: ["x".repeat(60_000_000)] }),
  "upstream-error-of-60kb-nested": () => rawReply({ status: 400, body: ["[".repeat(60_000)] }),
  "upstream-error-with-a-long-message": () =>
    rawReply({
      status: 400,
      body: [`{"error":{"message":"${fill("context ", 60_000)}","code":"${"a".repeat(50)}"}}`],
    }),
  "upstream-header-of-12kb": () =>
    rawReply({ body: ["{}"], headers: { "x-long": "a".repeat(12_000) } }),
  "upstream-retry-after-of-12kb": () =>
    rawReply({ status: 429, body: ["{}"], headers: { "retry-after": `${"1".repeat(12_000)}x` } }),
  "upstream-500000-chunks-of-a-byte": () =>
    rawReply({
      body: [...`{"choices":[{"index":0,"message":${words("a".repeat(500_000))}}]}`],
      framing: "chunked",
    }),
});

const streams = repliesTo(() => chatRequest("Hi", { stream: true }), "reader of streams", {
  "upstream-stream-of-500000-chunks-of-a-byte": () =>
    eventsReply([...delta("a").repeat(8_800), ...done], "chunked"),
  "upstream-stream-of-15mb-without-a-line-end": () => eventsReply(["a".repeat(15_000_000)]),
  "upstream-stream-of-60mb-without-a-line-end": () => eventsReply(["a".repeat(60_000_000)]),
  "upstream-stream-event-of-10mb": () => eventsReply([delta("a".repeat(10_000_000)), done]),
  "upstream-stream-event-of-10mb-nested": () =>
    eventsReply([`data: ${"[".repeat(10_000_000)}\n\n`, done]),
  "upstream-stream-event-of-a-million-lines": () =>
    eventsReply(["data: 1\n".repeat(1_000_000), "\n", done]),
  "upstream-stream-error-event-of-10mb": () =>
    eventsReply([`event: error\ndata: {${'"error" '.repeat(1_200_000)}\n\n`, done]),
  "upstream-stream-of-carriage-returns-10mb": () => eventsReply(["\r".repeat(10_000_000)]),
  "upstream-stream-of-comments-10mb": () => eventsReply([": x\n".repeat(2_500_000), done]),
  "upstream-stream-of-100000-tiny-events": () =>
    chatStreamReply(Array.from({ length: 100_000 }, () => ({ content: "a" }))),
  "upstream-stream-of-100000-usages": () => eventsReply([usage.repeat(100_000), delta("a"), done]),
  "upstream-stream-of-20000-choices": () =>
    eventsReply([...Array.from({ length: 20_000 }, (_, at) => delta("a", at)), done]),
  "upstream-stream-of-40000-tool-pieces": () => inPieces({}),
  "upstream-stream-of-40000-tool-pieces-with-names": () => inPieces({ name: "f" }),
  "upstream-stream-of-a-whole-answer-of-10mb": () => chatWith(words("a".repeat(10_000_000))),
});

const inBase64 = () => vectorsReply({ count: 100, dimensions: 3_072, encoding: "base64" });
const vectors = [
  ...repliesTo(texts(100), replies, {
    "upstream-100-vectors-of-3072-floats": () =>
      vectorsReply({ count: 100, dimensions: 3_072, encoding: "float" }),
    "upstream-100-vectors-of-3072-in-base64-as-floats": inBase64,
  }),
  ...repliesTo(texts(100, { encoding_format: "base64" }), replies, {
    "upstream-100-vectors-of-3072-in-base64": inBase64,
  }),
  ...repliesTo(texts(1), replies, {
    "upstream-vector-with-an-index-of-30-million": () =>
      raw('{"data":[{"index":30000000,"embedding":[1]}]}'),
    "upstream-vector-of-a-million-floats": () =>
      vectorsReply({ count: 1, dimensions: 1_000_000, encoding: "float" }),
    "upstream-vector-of-base64-with-padding-10mb": () =>
      raw(`{"data":[{"index":0,"embedding":"${"=".repeat(10_000_000)}a"}]}`),
  }),
];

const sound = (type: string, body: string | Uint8Array) =>
  rawReply({ body: [body], headers: { "content-type": type } });
const wavOfChunks = () =>
  Buffer.concat([
    Buffer.from("RIFF\xff\xff\xff\x7fWAVE", "latin1"),
    Buffer.alloc(10_000_000, Buffer.from("junk\0\0\0\0", "latin1")),
  ]);
const sounds = repliesTo(() => speechRequest("Hi"), replies, {
  "upstream-speech-type-of-spaces": () => sound(`audio/pcm${" ".repeat(15_000)}x`, "abcd"),
  "upstream-speech-wav-of-many-chunks": () => sound("audio/wav", wavOfChunks()),
  "upstream-speech-of-30mb": () => sound("audio/pcm", Buffer.alloc(30_000_000)),
});

export const upstreamCases: readonly StallCase[] = [
  ...wholeReplies,
  ...streams,
  ...vectors,
  ...sounds,
];
