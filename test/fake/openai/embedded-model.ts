/**
 * The embedded models without their weights: plays what they answered when they were recorded
 * (`fixtures/embedded-model/`). It answers by what is sent, and has no reply for anything else.
 */

import {
  chatRequest,
  type EmbeddingInput,
  type RecordedEmbedding,
  readChat,
  readEmbeddings,
  readSpeech,
  speechRequest,
  toWire,
} from "../../fixtures/embedded-model/recorded.ts";
import { httpReply, jsonReply, type Recording } from "../http/reply.ts";
import type { RecordedRequest } from "../upstream.ts";
import { embeddingsReply } from "./embedding-replies.ts";

type Body = Readonly<Record<string, unknown>>;

/** Pass it to `upstream.replyWith`. */
export function embeddedModel({ path, json }: RecordedRequest): Recording {
  const body = json as Body;
  const reply = answerTo(path, body);
  if (reply !== undefined) return reply;
  const message = `nothing was recorded for ${path} with ${JSON.stringify(body).slice(0, 500)}`;
  return jsonReply({ status: 501, body: { error: { message, type: "fake_upstream" } } });
}

function answerTo(path: string, body: Body): Recording | undefined {
  switch (path) {
    case "/v1/chat/completions":
      return chat(body);
    case "/v1/embeddings":
      return embeddings(body);
    case "/v1/audio/speech":
      return speech(body);
    default:
      return undefined;
  }
}

/** What the client of each kind of reply must have read. */
export const embeddedChat = {
  get whole(): { readonly text: string; readonly usage: Usage } {
    const { choices, usage } = JSON.parse(readChat().whole);
    return { text: choices[0].message.content, usage };
  },
  get streamed(): { readonly text: string; readonly usage: Usage } {
    const chunks = readChat()
      .streamed.split("\n\n")
      .flatMap((event) => (event.startsWith("data: {") ? [JSON.parse(event.slice(6))] : []));
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    return { text, usage: chunks.at(-1).usage };
  },
};

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** A text's vector has 3,072 values by default. The models for images have one size. */
export function embeddedVector(input: EmbeddingInput, dimensions = sizeOf(input)): number[] {
  const found = embeddingOf(toWire(input), dimensions);
  if (found === undefined) throw new Error(`nothing was recorded for ${JSON.stringify(input)}`);
  return fromBase64(found.embedding);
}

const sizeOf = (input: EmbeddingInput) => (typeof input === "string" ? 3_072 : undefined);

export const embeddedSpeech = readSpeech;

function chat(body: Body): Recording | undefined {
  const limit = body["max_tokens"] ?? body["max_completion_tokens"];
  const isRecorded =
    limit === chatRequest.max_tokens && isSame(body["messages"], chatRequest.messages);
  if (!isRecorded) return undefined;
  const { whole, streamed } = readChat();
  if (body["stream"] !== true) return jsonReply({ body: JSON.parse(whole) });
  return httpReply({
    headers: { "content-type": "text/event-stream" },
    // Each event is a packet of its own.
    body: streamed.split(/(?<=\n\n)/),
    framing: "chunked",
  });
}

function embeddings({ input, dimensions, encoding_format: encoding }: Body) {
  const inputs = Array.isArray(input) ? input : [input];
  const found = inputs.map((one) => embeddingOf(one, dimensions));
  const known = found.filter((one) => one !== undefined);
  if (known.length < inputs.length) return undefined;
  const tokens = known.reduce((sum, one) => sum + one.tokens, 0);
  return embeddingsReply({
    vectors: known.map(({ embedding }) => fromBase64(embedding)),
    encoding: encoding === "base64" ? "base64" : "float",
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

function speech({ input, voice, response_format: format }: Body): Recording | undefined {
  if (!isSame({ input, voice }, speechRequest) || format !== "pcm") return undefined;
  return httpReply({
    headers: { "content-type": "audio/pcm" },
    body: [readSpeech()],
    framing: "chunked",
  });
}

/** By what a client sends, and the size it asks for. */
const byRequest = new Map<string, RecordedEmbedding>();

function embeddingOf(wire: unknown, dimensions: unknown): RecordedEmbedding | undefined {
  if (byRequest.size === 0)
    for (const entry of readEmbeddings())
      byRequest.set(keyOf(toWire(entry.input), entry.dimensions), entry);
  return byRequest.get(keyOf(wire, dimensions));
}

const keyOf = (wire: unknown, dimensions: unknown) => JSON.stringify([wire, dimensions ?? null]);

const isSame = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right);

function fromBase64(text: string): number[] {
  const bytes = Buffer.from(text, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}
