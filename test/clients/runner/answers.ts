/**
 * Which recorded answer the upstream gives. The programs run in other processes, so they choose by
 * words in what they send: `answer=NAME tag=TAG`. The tag tells one check's requests from another's.
 */

import { jsonReply } from "../../fake/http/reply.ts";
import { completionJson, completionStream } from "../../fake/openai/completion-replies.ts";
import {
  badRequests,
  CHAT_USAGE,
  chatAnswers,
  chatChunk,
  chatJson,
  chatStream,
  chatStreams,
  DONE,
  embeddingsReply,
  failures,
  type Recording,
  rateLimits,
  speechReplies,
  TOOL_CALL,
} from "../../fake/recordings.ts";
import { byteByByte, cutAfter, pausedAfter, type Reply } from "../../fake/script.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";

/** Above the gateway's least wait of a second, and no whole number of seconds. */
export const limitedMs = 1_250;
export const speechSeconds = 0.5;

interface Asked {
  readonly name: string;
  readonly tag: string;
}

/** One answer for a whole reply, one for a stream, which may wait until the program lets it go on. */
interface Answer {
  readonly whole: () => Reply;
  readonly streamed: (released: Promise<void>) => Reply;
}

export interface Answers {
  readonly replyTo: (request: RecordedRequest) => Reply;
  /** The program has read what came so far: the stream with this tag may go on, and break. */
  release(tag: string): void;
}

export function askedIn({ body }: RecordedRequest): Asked | undefined {
  const found = /answer=([a-z0-9-]+) tag=([a-z0-9-]+)/.exec(body);
  return found === null ? undefined : { name: found[1] ?? "", tag: found[2] ?? "" };
}

/** Remembers how often each tag has asked, for answers that change at the second time. */
export function createAnswers(): Answers {
  const counts = new Map<string, number>();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gateOf = (tag: string) => {
    const gate = gates.get(tag) ?? Promise.withResolvers<void>();
    gates.set(tag, gate);
    return gate;
  };
  const replyTo = (request: RecordedRequest) => {
    const asked = askedIn(request);
    const tag = asked?.tag ?? "";
    const count = (counts.get(tag) ?? 0) + 1;
    counts.set(tag, count);
    if (request.path.endsWith("/embeddings")) return embeddings(request, asked?.name);
    if (request.path.endsWith("/audio/speech")) return speech(asked?.name);
    if (request.path.endsWith("/audio/transcriptions")) return transcription();
    if (request.path.endsWith("/v1/completions"))
      return bodyOf(request)["stream"] === true ? completionStream() : completionJson();
    const name = stepOf(asked?.name ?? "plain", request);
    const failsFirst = count === 1 ? firstFailures[name] : undefined;
    if (failsFirst !== undefined) return failsFirst();
    const answer = chatAnswersByName[name] ?? plain;
    return bodyOf(request)["stream"] === true
      ? answer.streamed(gateOf(tag).promise)
      : answer.whole();
  };
  return { replyTo, release: (tag) => gateOf(tag).resolve() };
}

const loops: Readonly<Record<string, string>> = {
  "tool-loop": "tool",
  "two-tools-loop": "two-tools",
};

/** A loop calls its tools once, and answers when their results are there. */
function stepOf(name: string, request: RecordedRequest): string {
  const { messages } = bodyOf(request);
  const last = Array.isArray(messages) ? messages.at(-1) : undefined;
  return last?.role === "tool" && name in loops ? "plain" : (loops[name] ?? name);
}

const firstFailures: Readonly<Record<string, () => Recording>> = {
  "limited-once": () => rateLimits.milliseconds(limitedMs),
  "overloaded-once": () => failures.unavailable(1),
};

const plain: Answer = {
  whole: () => chatAnswers.plain(),
  streamed: () => chatStreams.openai(),
};

/** The role and the first two pieces of the text. */
const textParts = 3;
const structured = '{"city":"Zürich","degrees":21}';

const chatAnswersByName: Readonly<Record<string, Answer>> = {
  plain,
  /** One byte a packet, so that characters and events are split wherever they can be. */
  "multi-byte": { ...plain, streamed: () => byteByByte(chatStreams.multiByte()) },
  "role-again": { ...plain, streamed: () => chatStreams.roleInEveryChunk() },
  structured: {
    whole: () => chatJson({ text: structured }),
    streamed: () => chatStreams.openai({ pieces: structured.match(/.{1,7}/gu) ?? [] }),
  },
  /** Streamed, this vendor repeats the call's id and name with every piece. */
  tool: { whole: () => chatAnswers.toolCall(), streamed: () => chatStreams.toolCallRepeated() },
  "two-tools": { whole: twoToolCalls, streamed: () => chatStreams.twoToolCalls() },
  "two-choices": { whole: twoChoices, streamed: () => chatStreams.twoChoices() },
  logprobs: { whole: logprobsWhole, streamed: logprobsStreamed },
  reasoning: { whole: () => chatAnswers.reasoning(), streamed: () => chatStreams.reasoning() },
  "readable-thoughts": { whole: () => chatAnswers.reasoning(), streamed: readableThoughts },
  "signed-thoughts": { whole: () => chatAnswers.reasoning(), streamed: signedThoughts },
  limited: both(() => rateLimits.milliseconds(limitedMs)),
  refused: both(() => badRequests.plain()),
  "too-long": both(() => badRequests.contextTooLong()),
  failed: both(() => failures.internal()),
  /** Ends with an error event. */
  broken: {
    ...plain,
    streamed: (until) =>
      pausedAfter({ recording: chatStreams.errorAfterStart(), parts: textParts, until }),
  },
  /** Ends with the connection. */
  cut: {
    ...plain,
    streamed: (until) =>
      cutAfter({ recording: chatStreams.openai(), parts: textParts, by: "reset", until }),
  },
  hang: {
    whole: () => [{ hang: true }],
    streamed: () => cutAfter({ recording: chatStreams.openai(), parts: textParts, by: "hang" }),
  },
};

function both(reply: () => Reply): Answer {
  return { whole: reply, streamed: reply };
}

function twoToolCalls(): Recording {
  const calls = ["Bern", "Oslo"].map((city, at) => ({
    ...TOOL_CALL,
    id: `call_vendor_${at}`,
    function: { name: "get_weather", arguments: JSON.stringify({ city }) },
  }));
  return chatJson({ text: null, finishReason: "tool_calls", message: { tool_calls: calls } });
}

function twoChoices(): Recording {
  const choices = ["Heads", "Tails"].map((content, index) => ({
    index,
    message: { role: "assistant", content, refusal: null },
    logprobs: null,
    finish_reason: index === 0 ? "stop" : "length",
  }));
  return chatJson({ choices });
}

const token = (text: string, logprob: number) => ({
  token: text,
  logprob,
  bytes: [...Buffer.from(text)],
  top_logprobs: [{ token: text, logprob, bytes: [...Buffer.from(text)] }],
});

function logprobsWhole(): Recording {
  const message = { role: "assistant", content: "Hi!", refusal: null };
  const logprobs = { content: [token("Hi", -0.25), token("!", -0.5)], refusal: null };
  return chatJson({ choices: [{ index: 0, message, logprobs, finish_reason: "stop" }] });
}

function logprobsStreamed(): Recording {
  const piece = (content: string, logprob: number) => {
    const logprobs = { content: [token(content, logprob)], refusal: null };
    return chatChunk({
      choices: [{ index: 0, delta: { content }, logprobs, finish_reason: null }],
    });
  };
  return chatStream({
    events: [
      chatChunk({ delta: { role: "assistant", content: "" } }),
      piece("Hi", -0.25),
      piece("!", -0.5),
      chatChunk({ finish: "stop" }),
      chatChunk({ choices: [], usage: CHAT_USAGE }),
      DONE,
    ],
  });
}

/**
 * A vector for each input, of the size asked for, all values exact in float32. Some vendors speak
 * floats only, whatever they are asked for.
 */
function embeddings(request: RecordedRequest, name: string | undefined): Recording {
  const { input, dimensions, encoding_format: encoding } = bodyOf(request);
  const size = typeof dimensions === "number" ? dimensions : 4;
  const vectors = Array.from({ length: countOf(input) }, (_, index) =>
    Array.from({ length: size }, (__, at) => (at === 0 ? index + 1 : 1 / 2 ** (at % 16))),
  );
  const speaksBase64 = encoding === "base64" && name !== "floats-only";
  return embeddingsReply({ vectors, encoding: speaksBase64 ? "base64" : "float" });
}

/** One array of token ids is one input. */
function countOf(input: unknown): number {
  if (!Array.isArray(input)) return 1;
  return typeof input[0] === "number" ? 1 : input.length;
}

function speech(name: string | undefined): Reply {
  const options = { seconds: speechSeconds };
  return name === "known-length"
    ? speechReplies.pcmWithLength(options)
    : speechReplies.pcmChunked(options);
}

const transcribed = "Nothing was said.";

/** The richest form; the gateway writes the others from it. */
function transcription(): Recording {
  const segment = {
    id: 0,
    seek: 0,
    start: 0,
    end: 1,
    text: transcribed,
    tokens: [],
    temperature: 0,
  };
  const likely = { avg_logprob: -0.2, compression_ratio: 1, no_speech_prob: 0.1 };
  return jsonReply({
    body: {
      task: "transcribe",
      language: "english",
      duration: 1,
      text: transcribed,
      segments: [{ ...segment, ...likely }],
    },
  });
}

function bodyOf(request: RecordedRequest): Readonly<Record<string, unknown>> {
  return request.json as Readonly<Record<string, unknown>>;
}

/** Two thoughts in pieces, each with its signature. */
function signedThoughts(): Recording {
  const piece = (fields: object) =>
    chatChunk({ delta: { reasoning_details: [{ type: "reasoning.text", ...fields }] } });
  return chatStream({
    events: [
      piece({ index: 0, text: "First " }),
      piece({ index: 0, text: "this.", signature: "c2lnMQ==" }),
      piece({ index: 1, text: "Then that.", signature: "c2lnMg==" }),
      chatChunk({ delta: { content: "42" } }),
      chatChunk({ delta: {}, finish: "stop" }),
      DONE,
    ],
  });
}

/** The same thoughts for people to read, and signed for the model, as OpenRouter sends them. */
function readableThoughts(): Recording {
  const piece = (text: string, fields: object) =>
    chatChunk({
      delta: {
        reasoning_content: text,
        reasoning_details: [{ type: "reasoning.text", index: 0, text, ...fields }],
      },
    });
  return chatStream({
    events: [
      piece("First this. ", {}),
      piece("Then that.", { signature: "c2lnMQ==" }),
      chatChunk({ delta: { content: "42" } }),
      chatChunk({ delta: {}, finish: "stop" }),
      DONE,
    ],
  });
}
