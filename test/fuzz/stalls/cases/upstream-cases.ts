import { gzipSync } from "node:zlib";
import {
  chatRequest,
  embeddingRequest,
  fill,
  type StallCase,
  type StallRequest,
  speechRequest,
} from "./stall-case.ts";
import { chatStreamReply, eventsReply, rawReply, vectorsReply } from "./upstream-bytes.ts";

/** Replies of an upstream that is broken, hostile, or merely generous. */
const whole = () => chatRequest("Hi");
const streamed = () => chatRequest("Hi", { stream: true });
const texts =
  (count: number, more = {}) =>
  () =>
    embeddingRequest(
      Array.from({ length: count }, () => "x"),
      more,
    );

const answered = (
  name: string,
  reply: () => readonly Uint8Array[],
  request: () => StallRequest = whole,
): StallCase => ({
  name: `upstream-${name}`,
  attacks: request === streamed ? "reader of streams" : "reader of replies (src/providers)",
  request,
  reply,
});

const chatWith = (message: string, more = "") =>
  rawReply({
    body: [`{"choices":[{"index":0,"finish_reason":"stop","message":${message}}]${more}}`],
  });
const words = (text: string) => `{"role":"assistant","content":${JSON.stringify(text)}}`;
const delta = (content: string) =>
  `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;
const done = "data: [DONE]\n\n";
const called = (name: string | undefined, text: string) => ({
  tool_calls: [
    {
      index: 0,
      id: "a",
      type: "function",
      function: { ...(name === undefined ? {} : { name }), arguments: text },
    },
  ],
});
const list = (unit: string, count: number) => Array<string>(count).fill(unit).join(",");

const wholeReplies: readonly StallCase[] = [
  answered("60mb-nested", () => rawReply({ body: ["[".repeat(60_000_000)] })),
  answered("60mb-nested-without-length", () =>
    rawReply({ body: ["[".repeat(60_000_000)], framing: "close" }),
  ),
  answered("nested-10000-levels", () =>
    chatWith(`{"content":"x","y":${"[".repeat(10_000)}${"]".repeat(10_000)}}`),
  ),
  answered("nested-40000-levels", () =>
    chatWith(`{"content":"x","y":${"[".repeat(40_000)}${"]".repeat(40_000)}}`),
  ),
  answered("5-million-numbers", () => chatWith(`{"content":"x","y":[${list("1", 5_000_000)}]}`)),
  answered("300000-keys", () =>
    chatWith(
      `{"content":"x",${Array.from({ length: 300_000 }, (_, at) => `"k${at}":1`).join(",")}}`,
    ),
  ),
  answered("answer-of-30mb", () => chatWith(words(fill("hello world ", 30_000_000)))),
  answered("answer-of-10mb-of-marks-without-usage", () =>
    chatWith(words(fill("\u0301\u0316", 10_000_000))),
  ),
  answered("answer-of-1mb", () => chatWith(words(fill("hello world ", 1_000_000)))),
  answered("100000-choices", () =>
    rawReply({
      body: [`{"choices":[${list(`{"index":0,"message":${words("x")}}`, 100_000)}]}`],
    }),
  ),
  answered("100000-tool-calls", () =>
    chatWith(
      `{"content":null,"tool_calls":[${list('{"id":"a","function":{"name":"f"}}', 100_000)}]}`,
    ),
  ),
  answered("content-of-300000-parts", () =>
    chatWith(`{"content":[${list('{"type":"text","text":"x"}', 300_000)}]}`),
  ),
  answered("absurd-usage", () =>
    chatWith(words("x"), ',"usage":{"prompt_tokens":1e308,"completion_tokens":9007199254740991}'),
  ),
  answered("gzip-bomb-of-1gb", () =>
    rawReply({
      body: [gzipSync(Buffer.alloc(1_000_000_000, 32), { level: 9 })],
      headers: { "content-encoding": "gzip" },
    }),
  ),
  answered("error-of-60mb", () => rawReply({ status: 400, body: ["x".repeat(60_000_000)] })),
  answered("error-of-60kb-nested", () => rawReply({ status: 400, body: ["[".repeat(60_000)] })),
  answered("error-with-a-long-message", () =>
    rawReply({
      status: 400,
      body: [`{"error":{"message":"${fill("context ", 60_000)}","code":"${"a".repeat(50)}"}}`],
    }),
  ),
  answered("header-of-12kb", () =>
    rawReply({ body: ["{}"], headers: { "x-long": "a".repeat(12_000) } }),
  ),
  answered("retry-after-of-12kb", () =>
    rawReply({ status: 429, body: ["{}"], headers: { "retry-after": `${"1".repeat(12_000)}x` } }),
  ),
];

const streams: readonly StallCase[] = [
  answered("500000-chunks-of-a-byte", () =>
    rawReply({
      body: [...`{"choices":[{"index":0,"message":${words("a".repeat(500_000))}}]}`],
      framing: "chunked",
    }),
  ),
  answered(
    "stream-of-500000-chunks-of-a-byte",
    () => eventsReply([...delta("a").repeat(8_800), ...done], "chunked"),
    streamed,
  ),
  answered(
    "stream-of-15mb-without-a-line-end",
    () => eventsReply(["a".repeat(15_000_000)]),
    streamed,
  ),
  answered(
    "stream-of-60mb-without-a-line-end",
    () => eventsReply(["a".repeat(60_000_000)]),
    streamed,
  ),
  answered(
    "stream-event-of-10mb",
    () => eventsReply([delta("a".repeat(10_000_000)), done]),
    streamed,
  ),
  answered(
    "stream-event-of-10mb-nested",
    () => eventsReply([`data: ${"[".repeat(10_000_000)}\n\n`, done]),
    streamed,
  ),
  answered(
    "stream-event-of-a-million-lines",
    () => eventsReply(["data: 1\n".repeat(1_000_000), "\n", done]),
    streamed,
  ),
  answered(
    "stream-error-event-of-10mb",
    () => eventsReply([`event: error\ndata: {${'"error" '.repeat(1_200_000)}\n\n`, done]),
    streamed,
  ),
  answered(
    "stream-of-carriage-returns-10mb",
    () => eventsReply(["\r".repeat(10_000_000)]),
    streamed,
  ),
  answered(
    "stream-of-comments-10mb",
    () => eventsReply([": x\n".repeat(2_500_000), done]),
    streamed,
  ),
  answered(
    "stream-of-100000-tiny-events",
    () => chatStreamReply(Array.from({ length: 100_000 }, () => ({ content: "a" }))),
    streamed,
  ),
  answered(
    "stream-of-100000-usages",
    () =>
      eventsReply([
        'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n'.repeat(
          100_000,
        ),
        delta("a"),
        done,
      ]),
    streamed,
  ),
  answered(
    "stream-of-20000-choices",
    () =>
      eventsReply([
        ...Array.from(
          { length: 20_000 },
          (_, at) => `data: {"choices":[{"index":${at},"delta":{"content":"a"}}]}\n\n`,
        ),
        done,
      ]),
    streamed,
  ),
  answered(
    "stream-of-40000-tool-pieces",
    () =>
      chatStreamReply([
        called("f", '{"a":"'),
        ...Array.from({ length: 40_000 }, () => called(undefined, "xxxxxxxxxx}")),
      ]),
    streamed,
  ),
  answered(
    "stream-of-40000-tool-pieces-with-names",
    () =>
      chatStreamReply([
        called("f", '{"a":"'),
        ...Array.from({ length: 40_000 }, () => called("f", "xxxxxxxxxx}")),
      ]),
    streamed,
  ),
  answered(
    "stream-of-a-whole-answer-of-10mb",
    () => chatWith(words("a".repeat(10_000_000))),
    streamed,
  ),
];

const vectors: readonly StallCase[] = [
  answered(
    "100-vectors-of-3072-floats",
    () => vectorsReply({ count: 100, dimensions: 3_072, encoding: "float" }),
    texts(100),
  ),
  answered(
    "100-vectors-of-3072-in-base64",
    () => vectorsReply({ count: 100, dimensions: 3_072, encoding: "base64" }),
    texts(100, { encoding_format: "base64" }),
  ),
  answered(
    "100-vectors-of-3072-in-base64-as-floats",
    () => vectorsReply({ count: 100, dimensions: 3_072, encoding: "base64" }),
    texts(100),
  ),
  answered(
    "vector-with-an-index-of-30-million",
    () => rawReply({ body: ['{"data":[{"index":30000000,"embedding":[1]}]}'] }),
    texts(1),
  ),
  answered(
    "vector-of-a-million-floats",
    () => vectorsReply({ count: 1, dimensions: 1_000_000, encoding: "float" }),
    texts(1),
  ),
  answered(
    "vector-of-base64-with-padding-10mb",
    () => rawReply({ body: [`{"data":[{"index":0,"embedding":"${"=".repeat(10_000_000)}a"}]}`] }),
    texts(1),
  ),
];

const sounds: readonly StallCase[] = [
  answered(
    "speech-type-of-spaces",
    () =>
      rawReply({ body: ["abcd"], headers: { "content-type": `audio/pcm${" ".repeat(15_000)}x` } }),
    () => speechRequest("Hi"),
  ),
  answered(
    "speech-wav-of-many-chunks",
    () =>
      rawReply({
        body: [
          Buffer.concat([
            Buffer.from("RIFF\xff\xff\xff\x7fWAVE", "latin1"),
            Buffer.alloc(10_000_000, Buffer.from("junk\0\0\0\0", "latin1")),
          ]),
        ],
        headers: { "content-type": "audio/wav" },
      }),
    () => speechRequest("Hi"),
  ),
  answered(
    "speech-of-30mb",
    () => rawReply({ body: [Buffer.alloc(30_000_000)], headers: { "content-type": "audio/pcm" } }),
    () => speechRequest("Hi"),
  ),
];

export const upstreamCases: readonly StallCase[] = [
  ...wholeReplies,
  ...streams,
  ...vectors,
  ...sounds,
];
