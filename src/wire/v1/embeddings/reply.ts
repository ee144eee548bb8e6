import type { Vector } from "../../../call/embed.ts";
import type { EmbeddingResponse } from "../openapi/replies.ts";

export type EmbeddingUsage = EmbeddingResponse["usage"];

export interface EmbeddingsReply {
  readonly model: string;
  readonly vectors: readonly Vector[];
  readonly encoding: "float" | "base64";
  readonly usage: EmbeddingUsage;
}

/** In the encoding that was asked for, whatever the upstream spoke. */
export function toEmbeddingsReply(reply: EmbeddingsReply): string {
  return [...embeddingsReplyPieces(reply)].join("");
}

/** The same text in pieces, one for each vector: a hundred long ones take a while to write. */
export function* embeddingsReplyPieces(reply: EmbeddingsReply): Generator<string> {
  const { model, vectors, encoding, usage } = reply;
  // There is nothing to escape in base64.
  const write = (vector: Vector) =>
    encoding === "base64" ? `"${toBase64(vector)}"` : JSON.stringify(toNumbers(vector));
  yield '{"object":"list","data":[';
  for (const [index, vector] of vectors.entries())
    yield `${index === 0 ? "" : ","}{"object":"embedding","index":${index},"embedding":${write(vector)}}`;
  yield `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`;
}

/** Little-endian float32, as the SDKs decode it. */
function toBase64(vector: Vector): string {
  // Some servers leave the padding out, which strict decoders want.
  if (typeof vector === "string")
    return vector.length % 4 === 0 ? vector : Buffer.from(vector, "base64").toString("base64");
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes.toString("base64");
}

function toNumbers(vector: Vector): readonly number[] {
  if (typeof vector !== "string") return vector;
  const bytes = Buffer.from(vector, "base64");
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, at) => bytes.readFloatLE(at * 4));
}
