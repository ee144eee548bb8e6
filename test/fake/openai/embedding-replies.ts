/** Answers of `/embeddings`. */

import { jsonReply, type Recording } from "../http/reply.ts";

interface EmbeddingsOptions {
  /** In the order of the input. */
  readonly vectors?: readonly (readonly number[])[];
  readonly encoding?: "float" | "base64";
  /** Positions in `vectors`, in the order in which the reply lists them. */
  readonly order?: readonly number[];
  /** `null` leaves the block out. */
  readonly usage?: { readonly prompt_tokens: number; readonly total_tokens: number } | null;
}

/** Exact in float32, so that floats and base64 compare equal. */
export const VECTORS = [
  [0.5, -0.25, 0.125, 0.75],
  [-0.5, 0.0625, 1, 0],
  [0.375, 0.875, -1, 0.03125],
] as const;

export function embeddingsReply(options: EmbeddingsOptions = {}): Recording {
  const { vectors = VECTORS, encoding = "float" } = options;
  const { usage = { prompt_tokens: 9, total_tokens: 9 } } = options;
  const order = options.order ?? vectors.map((_, at) => at);
  const data = order.map((index) => {
    const vector = vectors[index] ?? [];
    const embedding = encoding === "base64" ? toBase64(vector) : vector;
    return { object: "embedding", index, embedding };
  });
  const block = usage === null ? {} : { usage };
  return jsonReply({ body: { object: "list", data, model: "text-embedding-3-small", ...block } });
}

export const embeddingReplies = {
  float: () => embeddingsReply(),
  base64: () => embeddingsReply({ encoding: "base64" }),
  outOfOrder: () => embeddingsReply({ order: [2, 0, 1] }),
  /** One vector fewer than the three that `VECTORS` has. */
  wrongCount: () => embeddingsReply({ order: [0, 1] }),
  repeatedIndex: () => embeddingsReply({ order: [0, 1, 1] }),
  empty: () => embeddingsReply({ vectors: [] }),
} as const;

/** Little-endian float32, the form the SDKs decode. */
function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes.toString("base64");
}
