import { decode } from "gpt-tokenizer/encoding/cl100k_base";
import { EngineError, type ImageJob, type ImageResult, type TextResult } from "../contract.ts";
import { type Body, isRecord, numberIn } from "./body.ts";
import type { ModelProcess } from "./model-process.ts";

const sizes = [768, 1536, 3072];
const maxTexts = 100;
const maxImages = 8;

interface EmbedOptions {
  readonly model: ModelProcess;
  readonly body: Body;
  readonly signal: AbortSignal;
}

/** `POST /v1/embeddings` with text. */
export async function answerText({ model, body, signal }: EmbedOptions): Promise<Response> {
  const dimensions = numberIn(body, "dimensions", { minimum: 1, maximum: 3072 }) ?? 3072;
  if (!sizes.includes(dimensions))
    throw new EngineError({
      message: `dimensions must be one of ${sizes.join(", ")}.`,
      param: "dimensions",
    });
  const texts = toTexts(body["input"]);
  const result = (await model.run({ texts, dimensions }, signal, () => {})) as TextResult;
  return reply(body, result.vectors, result.tokens);
}

/** `POST /v1/embeddings` with images or a video. */
export async function answerMedia({ model, body, signal }: EmbedOptions): Promise<Response> {
  const result = (await model.run(toImageJob(body["input"]), signal, () => {})) as ImageResult;
  return reply(body, result.vectors, 0);
}

function reply(body: Body, vectors: readonly Float32Array[], tokens: number): Response {
  const isPacked = body["encoding_format"] === "base64";
  return Response.json({
    object: "list",
    model: body["model"],
    data: vectors.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: isPacked
        ? Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64")
        : [...vector],
    })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

function toTexts(input: unknown): readonly string[] {
  if (typeof input === "string") return [input];
  const list: readonly unknown[] = Array.isArray(input) ? input : [];
  const texts = isTokens(list) ? [fromTokens(list)] : list.map(toOneText);
  if (texts.length >= 1 && texts.length <= maxTexts) return texts;
  throw new EngineError({
    message: `input must be a string or a list of 1 to ${maxTexts} strings.`,
    param: "input",
  });
}

function toOneText(value: unknown, at: number): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && isTokens(value)) return fromTokens(value);
  throw new EngineError({ message: `input[${at}] must be a string.`, param: `input[${at}]` });
}

function isTokens(list: readonly unknown[]): list is readonly number[] {
  return list.length > 0 && list.every((value) => Number.isSafeInteger(value));
}

/** Clients that send token ids made them with this vocabulary; the model has another of its own. */
function fromTokens(tokens: readonly number[]): string {
  try {
    return decode(tokens);
  } catch {
    throw new EngineError({
      message: "input contains token ids outside the cl100k_base vocabulary. Send text.",
      param: "input",
    });
  }
}

function toImageJob(input: unknown): ImageJob {
  const one: unknown = Array.isArray(input) && input.length === 1 ? input[0] : input;
  const video = isRecord(one) ? one["video"] : undefined;
  const bytes = isRecord(video) ? video["bytesBase64Encoded"] : undefined;
  if (typeof bytes === "string") return { kind: "video", video: Buffer.from(bytes, "base64") };
  const list: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (list.length < 1 || list.length > maxImages)
    throw new EngineError({
      message: `input must contain 1 to ${maxImages} images.`,
      param: "input",
    });
  return { kind: "images", images: list.map(toImage) };
}

function toImage(value: unknown, at: number): Uint8Array {
  const start = typeof value === "string" ? /^data:[^,]*;base64,/i.exec(value)?.[0] : undefined;
  if (typeof value === "string" && start !== undefined)
    return Buffer.from(value.slice(start.length), "base64");
  throw new EngineError({
    message: `input[${at}] must be an image as a data URI (data:image/png;base64,…).`,
    param: `input[${at}]`,
  });
}
