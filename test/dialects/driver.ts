/**
 * One client per dialect, in neutral words: it writes a question as the dialect's public format has
 * it, and reads replies to the letter. None of it shares code with the gateway.
 */

import type { FinishReason, Json, JsonObject } from "../../src/call/chat.ts";
import type { Dialect } from "../../src/call/dialect.ts";
import type { AskedTool, Counts } from "../providers/dialect.ts";

export interface Picture {
  readonly mediaType: string;
  readonly base64: string;
  readonly detail?: "low" | "high";
}

/** A PDF. */
export interface File {
  readonly filename: string;
  readonly base64: string;
}

export type Content = readonly (string | Picture | File)[];

export interface CalledTool {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export type Turn =
  | { readonly by: "user"; readonly content: Content }
  | { readonly by: "system" | "developer"; readonly text: string }
  | {
      readonly by: "assistant";
      readonly text?: string;
      readonly refusal?: string;
      readonly calls?: readonly CalledTool[];
      /** What it said after the first of the calls. */
      readonly between?: string;
    }
  /** What was heard before, sent back as clients of the dialect do. */
  | { readonly by: "assistant"; readonly echo: Json }
  | {
      readonly by: "tool";
      readonly id: string;
      readonly content: Content;
      readonly isError?: true;
    };

export interface WantedTool extends AskedTool {
  readonly strict?: boolean;
}

export interface Question {
  readonly model: string;
  readonly turns: readonly Turn[];
  readonly stream?: boolean;
  readonly system?: string;
  readonly tools?: readonly WantedTool[];
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string };
  readonly cap?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stop?: readonly string[];
  readonly schema?: JsonObject;
  /** Asks the model to think, and to give what it signs. */
  readonly thinks?: boolean;
}

export interface HeardCall {
  readonly id: string;
  readonly name: string;
  /** Parsed. */
  readonly arguments: unknown;
}

export interface HeardError {
  readonly code: string;
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
}

/** What a client learns of an answer. */
export interface Heard {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly HeardCall[];
  readonly finish: FinishReason | undefined;
  readonly usage: Counts | undefined;
  /** These where the dialect has a place for them. */
  readonly refusal?: string;
  readonly sources?: readonly JsonObject[];
  readonly logprobs?: readonly Json[];
  /** The assistant's turn as clients send it back. */
  readonly echo: Json;
}

export interface HeardStream extends Heard {
  /** The error that ended it. */
  readonly error: HeardError | undefined;
  /** It ended as an answer does. */
  readonly isDone: boolean;
  /** Signs of life without words. */
  readonly keepAlives: number;
}

/** What the dialect has a place for. */
export interface DriverAbilities {
  readonly turns: boolean;
  readonly tools: boolean;
  readonly images: boolean;
  readonly schemas: boolean;
  readonly thinking: boolean;
  readonly stop: boolean;
  /** Its usage has a place for these. */
  readonly cachedTokens: boolean;
  readonly writtenTokens: boolean;
  readonly reasoningTokens: boolean;
}

/** All of them. */
export const fullAbilities: DriverAbilities = {
  turns: true,
  tools: true,
  images: true,
  schemas: true,
  thinking: true,
  stop: true,
  cachedTokens: true,
  writtenTokens: true,
  reasoningTokens: true,
};

export interface Driver {
  readonly name: Dialect;
  /** Below /v1. */
  readonly path: string;
  readonly can: DriverAbilities;
  readonly idForm: RegExp;
  /** The field in which the cap is named. */
  readonly capField: string;
  /** Stands at the end of each stream that ended well, and of no other. */
  readonly endMark: string;
  /** What keeps a silent stream alive. */
  readonly keepAlive: string;
  headers(key: string): Readonly<Record<string, string>>;
  toBody(question: Question): Record<string, Json | undefined>;
  /** Throws on anything that the format does not have. */
  fromReply(body: unknown): Heard;
  fromStream(text: string): HeardStream;
  /** Of a reply with a status of 400 or more. */
  fromError(body: unknown): HeardError;
}
