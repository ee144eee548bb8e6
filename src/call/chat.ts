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
}

/** The fields of a message or a delta that hold words of the model. */
const wordFields = ["content", "refusal", "reasoning_content", "reasoning"] as const;

/** What a message or a delta says, tool calls included, and nothing of the JSON around it. */
export function wordsOf(message: JsonObject): string {
  let words = "";
  for (const name of wordFields) {
    const value = message[name];
    if (typeof value === "string") words += value;
  }
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return words;
  for (const call of calls) {
    const called = isJsonObject(call) ? call["function"] : undefined;
    if (!isJsonObject(called)) continue;
    for (const value of [called["name"], called["arguments"]])
      if (typeof value === "string") words += value;
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
  | { readonly type: "text-delta"; readonly index: number; readonly text: string }
  | { readonly type: "finish"; readonly index: number; readonly reason: FinishReason }
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "done" };

/**
 * Parts in the batches in which they arrived: one promise a packet, not one a token. `read` gives
 * undefined at the end and throws an ApiError when the upstream fails; `cancel` frees the upstream.
 */
export interface ChatStream {
  read(): Promise<readonly ChatPart[] | undefined>;
  cancel(): void;
}
