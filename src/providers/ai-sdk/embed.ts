import { type EmbedCall, type EmbedResult, lengthOf } from "../../call/embed.ts";
import type { Signal } from "../../call/signal.ts";
import type { Usage } from "../../call/usage.ts";
import { toCount } from "../kit/count.ts";
import { upstreamError } from "../kit/failure.ts";
import { refusal } from "./chat/content.ts";
import { toBridgeError } from "./failure.ts";
import { type EmbeddingModel, type Fields, isFields } from "./model.ts";

export interface EmbedOptions {
  readonly call: EmbedCall;
  readonly model: EmbeddingModel;
  readonly modelId: string;
  readonly provider: string;
  readonly signal: Signal;
}

/** Vectors of texts: as many at a time as the package takes, one after the other, in order. */
export async function embedTexts(options: EmbedOptions): Promise<EmbedResult> {
  const { call, model, modelId, provider } = options;
  const { input, dimensions } = call;
  if (input.kind !== "texts")
    throw refusal("input", "must be a string or a list of strings for this model");
  const most: unknown = await model.maxEmbeddingsPerCall;
  const size = typeof most === "number" && most >= 1 ? most : input.texts.length;
  const sized = toDimensions(dimensions, modelId);
  const vectors: number[][] = [];
  let tokens: number | undefined = 0;
  for (let from = 0; from < input.texts.length; from += size) {
    const values = input.texts.slice(from, from + size);
    const { embeddings, usage } = await embedSome(options, { ...sized, values });
    if (!Array.isArray(embeddings) || embeddings.length !== values.length)
      throw broken(provider, "a wrong number of vectors");
    for (const vector of embeddings) {
      if (!isVector(vector)) throw broken(provider, "an invalid vector");
      vectors.push(vector);
    }
    const told = isFields(usage) ? toCount(usage["tokens"]) : undefined;
    // If one reply reports no usage, the total is unknown.
    tokens = tokens === undefined || told === undefined ? undefined : tokens + told;
  }
  const length = vectors[0] === undefined ? 0 : lengthOf(vectors[0]);
  if (!vectors.every((vector) => vector.length === length))
    throw broken(provider, "vectors of different lengths");
  return { vectors, usage: toUsage(tokens) };
}

/** A package that knows its model's lengths refuses others before it sends anything. */
async function embedSome(
  { call, model, provider, signal }: EmbedOptions,
  asked: Fields,
): Promise<Fields> {
  try {
    return await model.doEmbed({ ...asked, abortSignal: signal });
  } catch (thrown) {
    const isRefused = isFields(thrown) && thrown["name"] === "AI_InvalidArgumentError";
    if (!isRefused || call.dimensions === undefined)
      throw toBridgeError({ provider, signal, thrown });
    if (call.isUsualLength !== true)
      throw refusal("dimensions", "is not supported by this model. Omit it");
    const detail = `${provider}: the provider package rejected the vector length`;
    throw upstreamError("upstream_rejected", { detail, reason: "refused" });
  }
}

function toUsage(tokens: number | undefined): Usage | undefined {
  return tokens === undefined || tokens === 0
    ? undefined
    : { inputTokens: tokens, outputTokens: 0, estimated: false };
}

/** The package looks for it under a name for each maker of models. */
function toDimensions(dimensions: number | undefined, modelId: string): Fields {
  if (dimensions === undefined) return {};
  const name = modelId.includes("cohere.embed-")
    ? "outputDimension"
    : modelId.includes("nova")
      ? "embeddingDimension"
      : "dimensions";
  return { dimensions, providerOptions: { amazonBedrock: { [name]: dimensions } } };
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every(isFloat);
}

/** A number that float32 can hold, too: it may have to go out as one. */
const isFloat = (value: unknown) => typeof value === "number" && Math.abs(value) <= 3.4028235e38;

function broken(provider: string, what: string) {
  return upstreamError("upstream_error", { detail: `${provider} sent ${what}` });
}
