import type { ApiError } from "../../base/errors.ts";
import { isJsonObject, type JsonObject } from "../../call/chat.ts";
import type { EmbedCall, EmbedInput, EmbedResult } from "../../call/embed.ts";
import { toCount } from "../kit/count.ts";
import { upstreamError } from "../kit/failure.ts";
import { fieldError, fromDataUri, objectsOf, type Part, withoutFolder } from "./wire.ts";

export interface EmbedRequest {
  readonly method: "embedContent" | "batchEmbedContents";
  readonly body: JsonObject;
  /** How many vectors must come back. */
  readonly expected: number;
}

/** One request an input: several parts of one would become one vector. */
export function toEmbedRequest({ input, dimensions }: EmbedCall, model: string): EmbedRequest {
  const shape = dimensions === undefined ? {} : { outputDimensionality: dimensions };
  const requests = toParts(input).map((part) => ({
    model: `models/${withoutFolder(model)}`,
    content: { parts: [part as JsonObject] },
    ...shape,
  }));
  const [only] = requests;
  if (requests.length === 1 && only !== undefined)
    return { method: "embedContent", body: only, expected: 1 };
  return { method: "batchEmbedContents", body: { requests }, expected: requests.length };
}

function toParts(input: EmbedInput): readonly Part[] {
  switch (input.kind) {
    case "texts":
      return input.texts.map((text) => ({ text }));
    case "tokens":
      throw fieldError("input", "must be text. This model does not accept token ids");
    case "images":
      return input.dataUris.map((uri, at) => {
        const inlineData = fromDataUri(uri);
        if (inlineData === undefined) throw fieldError(`input[${at}]`, "must be a data URI");
        return { inlineData };
      });
    case "video": {
      // The first bytes of WebM; all others that are let through are MP4.
      const mimeType = input.base64.startsWith("GkXfo") ? "video/webm" : "video/mp4";
      return [{ inlineData: { mimeType, data: input.base64 } }];
    }
    default:
      return input satisfies never;
  }
}

export function fromEmbedReply(
  reply: unknown,
  { expected, provider }: { readonly expected: number; readonly provider: string },
): EmbedResult {
  const fields: JsonObject = isJsonObject(reply) ? reply : {};
  const rows = objectsOf(fields["embeddings"] ?? [fields["embedding"]]);
  const vectors = rows.map(({ values }) => toUnit(values, provider));
  const lengths = new Set(vectors.map(({ length }) => length));
  if (vectors.length !== expected || lengths.size > 1)
    throw broken(
      provider,
      `${vectors.length} vectors of ${lengths.size} different lengths; expected ${expected}`,
    );
  const usage = fields["usageMetadata"];
  const inputTokens = isJsonObject(usage) ? toCount(usage["promptTokenCount"]) : undefined;
  return {
    vectors,
    usage:
      inputTokens === undefined ? undefined : { inputTokens, outputTokens: 0, estimated: false },
  };
}

/** Some models shorten vectors without making them whole again. */
const tolerance = 1e-3;

/** Of length 1, as callers who compare by products expect it. */
function toUnit(values: unknown, provider: string): readonly number[] {
  if (!Array.isArray(values) || values.length === 0) throw broken(provider, "no vector");
  let sum = 0;
  for (const value of values) sum += typeof value === "number" ? value * value : Number.NaN;
  const norm = Math.sqrt(sum);
  // Also where one of them is no number.
  if (!Number.isFinite(norm) || norm === 0) throw broken(provider, "an invalid vector");
  const numbers: readonly number[] = values;
  return Math.abs(norm - 1) > tolerance ? numbers.map((value) => value / norm) : numbers;
}

function broken(provider: string, what: string): ApiError {
  return upstreamError("upstream_error", { detail: `${provider} sent ${what}` });
}
