import { isJsonObject, type JsonObject } from "../../call/chat.ts";
import { type EmbedCall, type EmbedResult, lengthOf } from "../../call/embed.ts";
import type { ProviderCall } from "../contract.ts";
import { fromEmbedReply } from "../gemini/embeddings.ts";
import { objectsOf } from "../gemini/wire.ts";
import { toCount } from "../kit/count.ts";
import { upstreamError } from "../kit/failure.ts";
import { toBody } from "../kit/http.ts";
import { LengthMemory } from "../kit/length-memory.ts";
import { readJson } from "../kit/reply.ts";
import { inLanes } from "./in-lanes.ts";
import type { VertexSend } from "./send.ts";
import { type EmbedAsk, toEmbedAsks } from "./to-embed-asks.ts";

interface EmbedOptions {
  readonly name: string;
  readonly send: VertexSend;
  readonly toPath: (model: string, method: string) => string;
}

const mostAtOnce = 8;

/** Vectors in the order of the input, whatever number of requests it takes. */
export function createEmbed({ name, send, toPath }: EmbedOptions) {
  const lengths = new LengthMemory();
  const embed = async (options: ProviderCall<EmbedCall>): Promise<EmbedResult> => {
    const { call, target, onDial } = options;
    let isAccepted = false;
    const onAccepted = () => {
      if (!isAccepted) options.onAccepted();
      isAccepted = true;
    };
    const results = await inLanes({
      items: toEmbedAsks(call, target.model),
      most: mostAtOnce,
      signal: options.signal,
      work: async (ask, signal) => {
        const path = toPath(target.model, ask.method);
        const body = toBody(ask.body);
        const response = await send({ path, body, call: { signal, onAccepted, onDial } });
        const reply = await readJson(response, { provider: name, signal });
        return fromReply(isJsonObject(reply) ? reply : {}, { ask, provider: name });
      },
    });
    const vectors = results.flatMap((one) => one.vectors);
    const lengths = new Set(vectors.map(lengthOf));
    if (lengths.size > 1)
      throw upstreamError("upstream_error", {
        detail: `${name} sent vectors of ${lengths.size} different lengths`,
      });
    return { vectors, usage: sumOf(results) };
  };
  return (options: ProviderCall<EmbedCall>): Promise<EmbedResult> => {
    const { call, target } = options;
    return lengths.ask({ call, model: target.model }, (dimensions) =>
      embed({ ...options, call: { ...call, dimensions } }),
    );
  };
}

function fromReply(
  reply: JsonObject,
  { ask, provider }: { readonly ask: EmbedAsk; readonly provider: string },
): EmbedResult {
  const expected = ask.count;
  if (ask.method === "embedContent") return fromEmbedReply(reply, { expected, provider });
  const predictions = objectsOf(reply["predictions"]);
  const embeddings = predictions.map(toEmbedding);
  const { vectors } = fromEmbedReply({ embeddings }, { expected, provider });
  return { vectors, usage: sumOf(embeddings.map((one) => ({ usage: usageOf(one) }))) };
}

/** Texts, an image and a video are each answered in a form of their own. */
function toEmbedding({ embeddings, imageEmbedding, videoEmbeddings }: JsonObject): JsonObject {
  if (isJsonObject(embeddings)) return embeddings;
  if (imageEmbedding !== undefined) return { values: imageEmbedding };
  return { values: middleOf(objectsOf(videoEmbeddings).map(({ embedding }) => embedding)) };
}

/** Should a video come in several pieces after all, it lies between them; its length is made one later. */
function middleOf(vectors: readonly JsonObject[string][]): JsonObject[string] {
  const [first] = vectors;
  if (!Array.isArray(first) || vectors.length === 1) return first;
  const sum = Array<number>(first.length).fill(0);
  for (const vector of vectors) {
    if (!Array.isArray(vector) || vector.length !== sum.length) return undefined;
    for (const [at, value] of vector.entries())
      sum[at] = (sum[at] ?? 0) + (typeof value === "number" ? value : Number.NaN);
  }
  return sum;
}

function usageOf({ statistics }: JsonObject): EmbedResult["usage"] {
  const tokens = isJsonObject(statistics) ? toCount(statistics["token_count"]) : undefined;
  return tokens === undefined
    ? undefined
    : { inputTokens: tokens, outputTokens: 0, estimated: false };
}

/** Of all, or of none: a part of the count would be billed as the whole. */
function sumOf(parts: readonly Pick<EmbedResult, "usage">[]): EmbedResult["usage"] {
  let inputTokens = 0;
  for (const { usage } of parts) {
    if (usage === undefined) return undefined;
    inputTokens += usage.inputTokens;
  }
  return { inputTokens, outputTokens: 0, estimated: false };
}
