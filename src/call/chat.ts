import type { Usage } from "./usage.ts";

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json | undefined };
export type JsonObject = { readonly [name: string]: Json | undefined };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const finishReasons = ["stop", "length", "content_filter", "tool_calls"] as const;
export type FinishReason = (typeof finishReasons)[number];

/** A chat request after validation, in the vocabulary of the contract. Adapters never change it. */
export interface ChatCall {
  readonly messages: readonly JsonObject[];
  /** The one cap: both names of the wire, and the model's own maximum, made into one. */
  readonly maxOutputTokens: number | undefined;
  /** The other fields that may go upstream, by allow-list. */
  readonly options: JsonObject;
}

export interface ChatChoice {
  readonly index: number;
  readonly message: JsonObject;
  readonly logprobs: Json;
  readonly finishReason: FinishReason;
}

export interface ChatResult {
  readonly choices: readonly ChatChoice[];
  readonly usage: Usage | undefined;
  readonly extras?: JsonObject | undefined;
}

/**
 * The fields of a message or a delta that hold no words of the model: labels, what a vendor signs or
 * encrypts, sounds, sources, and thoughts that were said in `reasoning_content` already.
 */
const wordless: ReadonlySet<string> = new Set([
  "role",
  "id",
  "type",
  "object",
  "format",
  "tool_call_id",
  "signature",
  "thought_signature",
  "encrypted_content",
  "data",
  "annotations",
  "reasoning_details",
]);

/** Deeper than any field that a vendor has. */
const maxWordDepth = 16;

/**
 * What a message or a delta says, and nothing of the JSON around it. Whatever is delivered counts,
 * also under names that are not known here: it would be free otherwise.
 */
export function wordsOf(message: JsonObject): string {
  const { reasoning, reasoning_content: thought } = message;
  let words = "";
  for (const name in message) {
    // Some servers say the same under both names.
    const isSaid = name === "reasoning" && reasoning === thought;
    if (!isSaid && !wordless.has(name)) words += wordsIn(message[name], 0);
  }
  return words;
}

function wordsIn(value: Json | undefined, depth: number): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth >= maxWordDepth) return "";
  let words = "";
  if (Array.isArray(value)) {
    for (const entry of value) words += wordsIn(entry, depth + 1);
    return words;
  }
  const fields = value as JsonObject;
  for (const name in fields) {
    if (wordless.has(name)) continue;
    const inner = fields[name];
    // Arguments of a call are JSON as text; some servers send the object itself.
    if (name === "arguments" && isJsonObject(inner)) words += JSON.stringify(inner);
    else words += wordsIn(inner, depth + 1);
  }
  return words;
}

/** The one stream vocabulary. A stream that ends without `done` was cut. */
export type ChatPart =
  | {
      readonly type: "delta";
      readonly index: number;
      readonly delta: JsonObject;
      readonly logprobs: Json;
    }
  | {
      readonly type: "text-delta";
      readonly index: number;
      readonly text: string;
      /** It stands in JSON as it is, without an escape. */
      readonly isPlain?: true;
    }
  | { readonly type: "finish"; readonly index: number; readonly reason: FinishReason }
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "done" };

/**
 * Parts in the batches in which they arrived: one promise a packet, not one a token. `read` gives
 * undefined at the end and throws an ApiError when the upstream fails; `cancel` frees the upstream.
 */
export interface ChatStream {
  /**
   * What the upstream says of the whole reply, as far as it was read: its fingerprint, its sources.
   * Additive fields of the reply under the names of the wire; another object whenever it changes.
   */
  readonly extras?: JsonObject | undefined;
  read(): Promise<readonly ChatPart[] | undefined>;
  cancel(): void;
}
