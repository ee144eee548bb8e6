import { ApiError } from "../../base/errors.ts";
import { isJsonObject } from "../../call/chat.ts";
import {
  type EmbedCall,
  type EmbedInput,
  type EmbedResult,
  lengthOf,
  type Vector,
} from "../../call/embed.ts";
import type { Provider, ProviderCall } from "../contract.ts";
import { upstreamError } from "../kit/failure.ts";
import { toBody } from "../kit/http.ts";
import { LengthMemory } from "../kit/length-memory.ts";
import { maxReplyBytes, readJson, type UpstreamReply } from "../kit/reply.ts";
import { isPlace } from "./chat-reply.ts";
import { fromOpenAiUsage } from "./usage.ts";

type Sending = Pick<ProviderCall<unknown>, "signal" | "onAccepted" | "onDial">;
type Send = (path: string, body: string, sending: Sending) => Promise<UpstreamReply>;

/** 8,192 numbers as text, each on a line of its own: twice as long as those of any vendor. */
const bytesPerVector = 8_192 * 32;
const bytesAroundVectors = 64 * 1024;

/**
 * Some servers refuse base64, which most SDKs ask for by default, and some models have one length and
 * refuse to be told any. What nobody asked for by name is left away then, and from then on.
 */
export function createEmbed(name: string, send: Send): NonNullable<Provider["embed"]> {
  // What went well once is hardly doubted again: what is refused from then on is the input.
  const encodings = new Map<string, EmbedCall["encoding"]>();
  const lengths = new LengthMemory();
  return (options) => {
    const { call, target, signal } = options;
    const { model } = target;
    const ask = async (dimensions: number | undefined, encoding: EmbedCall["encoding"]) => {
      const body = toBody(toEmbedBody({ ...call, encoding, dimensions }, model));
      const expected = inputCount(call.input);
      const reply = await readJson(await send("/embeddings", body, options), {
        provider: name,
        signal,
        maxBytes: Math.min(maxReplyBytes, bytesAroundVectors + expected * bytesPerVector),
      });
      return fromEmbedReply(reply, { expected, encoding: call.encoding, provider: name });
    };
    return lengths.ask({ call, model }, async (dimensions) => {
      if (call.encoding === "float" || encodings.get(model) === "float")
        return ask(dimensions, "float");
      try {
        const result = await ask(dimensions, "base64");
        encodings.set(model, "base64");
        return result;
      } catch (refusal) {
        if (!(refusal instanceof ApiError) || refusal.code !== "upstream_rejected") throw refusal;
        const result = await ask(dimensions, "float").catch((error: unknown) => {
          throw error instanceof ApiError && error.code === "upstream_rejected" ? refusal : error;
        });
        encodings.set(model, "float");
        return result;
      }
    });
  };
}

function toEmbedBody({ input, dimensions, encoding }: EmbedCall, model: string) {
  const shape = dimensions === undefined ? {} : { dimensions };
  return { model, input: toEmbedInput(input), encoding_format: encoding, ...shape };
}

function toEmbedInput(input: EmbedInput): unknown {
  switch (input.kind) {
    case "texts":
      return input.texts;
    case "tokens":
      return input.tokens;
    case "images":
      return input.dataUris;
    case "video":
      return { video: { bytesBase64Encoded: input.base64 } };
    default:
      return input satisfies never;
  }
}

function inputCount(input: EmbedInput): number {
  switch (input.kind) {
    case "texts":
      return input.texts.length;
    case "tokens":
      return input.tokens.length;
    case "images":
      return input.dataUris.length;
    case "video":
      return 1;
    default:
      return input satisfies never;
  }
}

/** One vector an input, put in the order of the input; anything else is a broken reply. */
function fromEmbedReply(
  reply: unknown,
  {
    expected,
    encoding,
    provider,
  }: { expected: number; encoding: EmbedCall["encoding"]; provider: string },
): EmbedResult {
  const rows = isJsonObject(reply) && Array.isArray(reply["data"]) ? reply["data"] : [];
  const vectors: Vector[] = [];
  for (const [position, row] of rows.slice(0, expected).entries()) {
    if (!isJsonObject(row)) continue;
    const vector: unknown = row["embedding"];
    const index = typeof row["index"] === "number" ? row["index"] : position;
    if (isPlace(index) && index < expected && isVector(vector, encoding)) vectors[index] = vector;
  }
  const filled = Object.keys(vectors).length;
  const lengths = new Set(vectors.map(lengthOf));
  if (
    rows.length !== expected ||
    filled !== expected ||
    vectors.length !== expected ||
    lengths.size > 1
  )
    throw upstreamError("upstream_error", {
      detail: `${provider} sent ${rows.length} vectors, ${filled} of them valid, of ${lengths.size} different lengths; expected ${expected}`,
    });
  return { vectors, usage: isJsonObject(reply) ? fromOpenAiUsage(reply["usage"], 0) : undefined };
}

/** The largest number that float32 can hold: a vector may have to go out as float32s. */
const maxFloat = 3.4028235e38;

/** Numbers, or base64 of whole float32s: anything else would reach the caller as a wrong vector. */
function isVector(value: unknown, encoding: EmbedCall["encoding"]): value is Vector {
  if (typeof value === "string") return isBase64Vector(value, encoding);
  return Array.isArray(value) && value.length > 0 && areFloats(value);
}

/** A loop, because a call for each of 300,000 numbers takes ten times as long. */
function areFloats(values: readonly unknown[]): boolean {
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (typeof value !== "number" || !(Math.abs(value) <= maxFloat)) return false;
  }
  return true;
}

/** Vectors of up to 16,384 numbers are decoded into the same bytes, one after the other. */
const scratch = Buffer.alloc(64 * 1024);

/** Base64 that ends as strict decoders want, or without the padding. */
function isBase64Vector(text: string, encoding: EmbedCall["encoding"]): boolean {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const digits = text.length - padding;
  const sizeBytes = Math.floor((digits * 3) / 4);
  if (sizeBytes === 0 || sizeBytes % 4 !== 0 || digits % 4 === 1) return false;
  // The runtime leaves out what is no digit, takes those of URLs for digits, and reads no more than a
  // byte of a letter.
  if (Buffer.byteLength(text) !== text.length) return false;
  const bytes = sizeBytes <= scratch.length ? scratch : Buffer.alloc(sizeBytes);
  if (bytes.write(text, "base64") !== sizeBytes) return false;
  if (text.includes("-") || text.includes("_")) return false;
  // JSON has no word for what is no number; where it stays base64, it is the caller's to read.
  if (encoding === "base64") return true;
  for (let at = 0; at < sizeBytes; at += 4)
    if (!Number.isFinite(bytes.readFloatLE(at))) return false;
  return true;
}
