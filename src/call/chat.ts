import type { Dialect } from "./dialect.ts";
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
  /** Set where the caller did not speak chat completions. */
  readonly original?: OriginalRequest | undefined;
}

/**
 * A request in the caller's own dialect. An upstream that speaks it gets it as it is; for all others,
 * `messages` and `options` say the same.
 */
export interface OriginalRequest {
  readonly dialect: Exclude<Dialect, "chat">;
  /** The fields that may go upstream, by allow-list. Model, cap and stream are the adapter's to set. */
  readonly body: JsonObject;
  /** Set where only an upstream that speaks the dialect can serve it: the first field that needs it. */
  readonly nativeField?: string | undefined;
  /** Tokens of a prompt that was sent as token ids, which `messages` do not have. */
  readonly promptTokens?: number | undefined;
  /** Headers that such an upstream gets besides its own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The most input tokens that such an upstream may count beyond what `messages` and `options` hold. */
  readonly addedTokens?: number | undefined;
  /** The caller wants to read the thoughts, where no option says so. */
  readonly showsThoughts?: true | undefined;
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
  /** The whole reply in the caller's dialect, from an upstream that speaks it. */
  readonly native?: JsonObject | undefined;
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

/** An event of an upstream that speaks the caller's dialect. */
export interface NativeEvent {
  readonly type: "native";
  /** As it goes to the caller, its blank line included. */
  readonly text: string;
  /** Parsed, where the writer has to change it: it names the reply or its model, or tells its end. */
  readonly data?: JsonObject | undefined;
  /** What the model said in it. */
  readonly words: string;
  /** The words are thoughts. */
  readonly isReasoning?: true | undefined;
  /** It tells the end of the reply, and is held until the call is settled. */
  readonly isLast?: true | undefined;
}

/** What can be read in entries of `reasoning_details`. */
export function thoughtIn(details: Json | undefined): string {
  if (!Array.isArray(details)) return "";
  let thought = "";
  for (const detail of details) {
    const { type, text, summary } = isJsonObject(detail) ? detail : {};
    if (type === "reasoning.text" && typeof text === "string") thought += text;
    if (type === "reasoning.summary" && typeof summary === "string") thought += summary;
  }
  return thought;
}

/** Whether a thought with these details is all that a model thought: not if it is signed or a summary. */
export const isRawThought = (details: readonly Json[]) =>
  details.every((detail) => {
    const { type, signature, data } = isJsonObject(detail) ? detail : {};
    return type === "reasoning.text" && typeof signature !== "string" && data === undefined;
  });

/** The one stream vocabulary. A stream that ends without `done` was cut. */
export type ChatPart =
  | {
      readonly type: "delta";
      readonly index: number;
      readonly delta: JsonObject;
      /** Words of signed thoughts, where the delta itself does not have them. */
      readonly signedThought?: string | undefined;
      /** The upstream signs its thoughts, or sums them up: they are not all that the model thought. */
      readonly isSigned?: boolean;
      readonly logprobs: Json;
    }
  | {
      readonly type: "text-delta";
      readonly index: number;
      readonly text: string;
      /** It stands in JSON as it is, without an escape. */
      readonly isPlain?: true;
    }
  | {
      /** A thought has ended that its vendor signs or encrypts, to get it back with the next request. */
      readonly type: "reasoning-detail";
      readonly index: number;
      /** An entry of `reasoning_details`. */
      readonly detail: JsonObject;
    }
  | NativeEvent
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
