import { type EmbedCall, type EmbedResult, lengthOf } from "../../call/embed.ts";
import type { Usage } from "../../call/usage.ts";
import { toCount } from "../kit/count.ts";
import { upstreamError } from "../kit/failure.ts";
import { refusal } from "./content.ts";
import { type EmbeddingModel, type Fields, familyOf, isFields, optionsKey } from "./model.ts";

/** Vectors of texts: as many at a time as the package takes, one after the other, in order. */
export async function embedTexts(options: {
  readonly call: EmbedCall;
  readonly model: EmbeddingModel;
  readonly modelId: string;
  readonly provider: string;
  readonly signal: AbortSignal;
}): Promise<EmbedResult> {
  const { call, model, modelId, provider, signal } = options;
  const { input, dimensions } = call;
  if (input.kind !== "texts")
    throw refusal("input", "must be a string, or a list of strings, for this model");
  const most: unknown = await model.maxEmbeddingsPerCall;
  const size = typeof most === "number" && most >= 1 ? most : input.texts.length;
  const vectors: number[][] = [];
  let tokens: number | undefined = 0;
  for (let from = 0; from < input.texts.length; from += size) {
    const values = input.texts.slice(from, from + size);
    const sized = toDimensions({ dimensions, model, modelId });
    const result = await model.doEmbed({ ...sized, values, abortSignal: signal });
    const { embeddings, usage } = result;
    if (!Array.isArray(embeddings) || embeddings.length !== values.length)
      throw broken(provider, "a wrong number of vectors");
    for (const vector of embeddings) {
      if (!isVector(vector)) throw broken(provider, "a vector that is none");
      vectors.push(vector);
    }
    const told = isFields(usage) ? toCount(usage["tokens"]) : undefined;
    // Where one of them is not told, the whole is not known.
    tokens = tokens === undefined || told === undefined ? undefined : tokens + told;
  }
  const length = vectors[0] === undefined ? 0 : lengthOf(vectors[0]);
  const isEven = vectors.every((vector) => vector.length === length);
  if (!isEven || (dimensions !== undefined && dimensions !== length))
    throw broken(provider, `vectors of other lengths than were asked for`);
  return { vectors, usage: toUsage(tokens) };
}

function toUsage(tokens: number | undefined): Usage | undefined {
  return tokens === undefined || tokens === 0
    ? undefined
    : { inputTokens: tokens, outputTokens: 0, estimated: false };
}

/** Newer packages have a word for it; older ones each one of their own. */
function toDimensions(options: {
  readonly dimensions: number | undefined;
  readonly model: EmbeddingModel;
  readonly modelId: string;
}): Fields {
  const { dimensions, model, modelId } = options;
  if (dimensions === undefined) return {};
  const name =
    familyOf(model) !== "bedrock"
      ? "dimensions"
      : modelId.includes("cohere.embed-")
        ? "outputDimension"
        : modelId.includes("nova")
          ? "embeddingDimension"
          : "dimensions";
  return { dimensions, providerOptions: { [optionsKey(model)]: { [name]: dimensions } } };
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every(isFloat);
}

/** A number that float32 can hold, too: it may have to go out as one. */
const isFloat = (value: unknown) => typeof value === "number" && Math.abs(value) <= 3.4028235e38;

function broken(provider: string, what: string) {
  return upstreamError("upstream_error", { detail: `${provider} sent ${what}` });
}
