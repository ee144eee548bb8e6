/**
 * The bytes of embeddings and speech. Vectors are random but the same in every process. Each number
 * is written in the shortest form that keeps a float32, with at most nine digits, as vendors do: a
 * proxy that reads and writes it again, whatever its language, writes the same number.
 */
import { type HttpRequest, httpReply, httpRequest, models } from "./traffic.ts";

export type Encoding = "float" | "base64";
export const vectorCount = 100;
export const vectorLength = 3_072;

export type MediaRequest = Omit<HttpRequest, "path" | "body"> & { readonly model: string };

export function embeddingsRequest(request: MediaRequest & { readonly encoding: Encoding }): Buffer {
  const { model, encoding, key, headers } = request;
  const body = { model, input: inputs, encoding_format: encoding };
  return httpRequest({ path: "embeddings", key, headers, body });
}

export function speechRequest({ model, key, headers }: MediaRequest): Buffer {
  const body = { model, input: sentence, voice: "Kore", response_format: "pcm" };
  return httpRequest({ path: "audio/speech", key, headers, body });
}

const inputs = Array.from(
  { length: vectorCount },
  (_, at) => `Paragraph ${at} of a handbook for booksellers, about parcels that arrive incomplete.`,
);
const sentence =
  "We are sorry that a book was missing. Please send us your order number, and the second one will leave our shop within two days.";

let vectorsKept: readonly (readonly number[])[] | undefined;

export function vectors(): readonly (readonly number[])[] {
  vectorsKept ??= makeVectors();
  return vectorsKept;
}

export function embeddingsReply(encoding: Encoding): Buffer {
  const data = vectors().map((vector, index) => ({
    object: "embedding",
    index,
    embedding: encoding === "float" ? vector : toBase64(vector),
  }));
  const usage = { prompt_tokens: 1_900, total_tokens: 1_900 };
  return httpReply({ object: "list", data, model: models.embeddings.upstream, usage });
}

/** Five seconds of 24 kHz, mono, 16-bit. */
export const speechBytes = makeSpeech(240_000);

export const speechReply = Buffer.concat([
  Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nContent-Length: ${speechBytes.length}\r\n\r\n`,
    "latin1",
  ),
  speechBytes,
]);

export function toBase64(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString("base64");
}

function makeVectors(): readonly (readonly number[])[] {
  const random = randoms(20_261_115);
  return Array.from({ length: vectorCount }, () =>
    Array.from({ length: vectorLength }, () => shortest(random())),
  );
}

/** Away from 0, where languages differ in when they begin to write exponents. */
function shortest(random: number): number {
  const value = Math.fround((random < 0.5 ? -1 : 1) * (0.001 + (random % 0.5) * 0.2));
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}

function makeSpeech(length: number): Buffer {
  const random = randoms(7);
  return Buffer.from(Uint8Array.from({ length }, () => Math.floor(random() * 256)));
}

/** A linear congruential generator. */
function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
