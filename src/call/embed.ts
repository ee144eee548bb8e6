import type { Usage } from "./usage.ts";

export type EmbedInput =
  | { readonly kind: "texts"; readonly texts: readonly string[] }
  | { readonly kind: "tokens"; readonly tokens: readonly (readonly number[])[] }
  | { readonly kind: "images"; readonly dataUris: readonly string[] }
  | { readonly kind: "video"; readonly base64: string; readonly durationS: number };

export interface EmbedCall {
  readonly input: EmbedInput;
  /** For text only. */
  readonly dimensions: number | undefined;
  /** Nobody asked for that length by name: a model with another one of its own gives that. */
  readonly isUsualLength?: boolean;
  /** What the caller wants; asked of the upstream too, converted where it answers otherwise. */
  readonly encoding: "float" | "base64";
}

/** A vector as the upstream sent it: numbers, or base64 of little-endian float32. */
export type Vector = readonly number[] | string;

/** How many numbers it has. */
export function lengthOf(vector: Vector): number {
  return typeof vector === "string" ? Buffer.byteLength(vector, "base64") / 4 : vector.length;
}

export interface EmbedResult {
  /** In the order of the input. */
  readonly vectors: readonly Vector[];
  readonly usage: Usage | undefined;
}
