/**
 * What the contract suite needs to know of a vendor: how it says a thing on the wire, and how a
 * request to it reads. The suite describes answers in neutral words; a dialect turns them into the
 * vendor's documented bytes, and turns the vendor's requests back into neutral words.
 */

import type { ErrorCode, UpstreamReason } from "../../src/base/errors.ts";
import type { FinishReason, JsonObject } from "../../src/call/chat.ts";
import type { Usage } from "../../src/call/usage.ts";
import type { Provider } from "../../src/providers/contract.ts";
import type { DialerOptions } from "../../src/providers/kit/dial.ts";
import type { Bytes } from "../fake/http/reply.ts";
import type { RecordedRequest } from "../fake/upstream.ts";

/** The key that `credential` must read back. Where the vendor has a sign-in, it is the token of it. */
export const operatorKey = "sk-of-the-operator-4711-very-secret";

/** A reply as the vendor forms it; the suite frames, packs, splits and cuts it. */
export interface VendorReply {
  /** 200 unless told. */
  readonly status?: number;
  /** With `content-type`; never those of the framing. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; of a stream, each event or frame a packet of its own. */
  readonly packets: readonly Bytes[];
}

export interface VendorStream extends VendorReply {
  /**
   * A body of at least so many bytes may count as whole: what follows adds nothing, such as the
   * blank line behind the last event. One that is shorter must never give a `done` part.
   */
  readonly wholeFromBytes: number;
}

/** Counts as `Usage` has them: `input` holds the cached and written ones, `output` the reasoning. */
export interface Counts {
  readonly input: number;
  readonly output: number;
  /** Given only where `can` says that the vendor tells it. */
  readonly cached?: number;
  readonly written?: number;
  readonly reasoning?: number;
}

export interface SaidCall {
  /** Vendors without ids leave it out. */
  readonly id: string;
  readonly name: string;
  /** Pieces of JSON text; a vendor that sends no pieces joins them. */
  readonly pieces: readonly string[];
  /** Sent between the first piece and the second, by vendors that mix calls with other content. */
  readonly between?: readonly Exclude<Piece, { readonly call: SaidCall }>[];
}

export type Piece =
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly call: SaidCall };

/** What a model answers, in the order in which it does. */
export interface Answer {
  readonly pieces: readonly Piece[];
  readonly finish: FinishReason;
  /** The vendor's own word, instead of its usual one for `finish`. */
  readonly finishWord?: string;
  /** Left out: the vendor tells none, in the way in which it leaves it out. */
  readonly usage?: Counts;
}

export const errorClasses = [
  "badKey",
  "noPermission",
  "outOfMoney",
  "dailyQuota",
  "overloaded",
  "loading",
  "modelMissing",
  "badRequest",
  "tooLong",
  "blocked",
  "serverError",
  "requestTimeout",
  "gatewayTimeout",
] as const;
export type ErrorClass = (typeof errorClasses)[number];

/** How a vendor that limits us tells the time to wait. `body`: inside its JSON. */
export const waitForms = ["none", "milliseconds", "seconds", "date", "body"] as const;
export interface Wait {
  readonly form: (typeof waitForms)[number];
  readonly delayMs: number;
  /** `delayMs` from now, for the form `date`. */
  readonly date: Date;
}

/** How an error is asked for. */
export interface ErrorOptions {
  /** Stands in the vendor's message, beside what it usually says: keys, prompts, addresses. */
  readonly words: string;
  /** The request was for a stream. */
  readonly streamed: boolean;
}

export interface ExpectedError {
  readonly code: ErrorCode;
  readonly reason: UpstreamReason | undefined;
  readonly delayMs?: number;
}

/** What is held against the vendor's own oddities, beyond the classes that all have. */
export interface OddError {
  readonly name: string;
  readonly reply: (options: ErrorOptions) => VendorReply;
  readonly expected: ExpectedError;
}

/** `failed`: an unforeseen failure of the server. */
export type StreamFault = "failed" | "overloaded" | "limited";

export interface OddUsage {
  /** Such as "repeated in every event and growing". */
  readonly name: string;
  readonly whole?: VendorReply;
  readonly streamed?: VendorStream;
  /** Of a stream: what `latestUsage` makes of its usage parts. */
  readonly expected: Usage | undefined;
}

/** One thing that a request says, in order. What vendors gather into one turn comes apart here. */
export type AskedPiece =
  | { readonly by: "user" | "assistant"; readonly text: string }
  | {
      readonly by: "user";
      readonly image: { readonly mediaType: string; readonly base64: string };
    }
  | { readonly by: "assistant"; readonly call: AskedCall }
  /** `name`: of the tool whose call this is the result of, found by the id where the vendor has ids. */
  | { readonly by: "tool"; readonly name: string; readonly result: string };

export interface AskedCall {
  readonly name: string;
  /** Parsed. */
  readonly arguments: unknown;
}

export interface AskedTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: JsonObject | undefined;
}

/** A chat request in neutral words. */
export interface Asked {
  readonly model: string;
  readonly streamed: boolean;
  /** The texts of system and developer messages, in order. */
  readonly system: readonly string[];
  readonly pieces: readonly AskedPiece[];
  readonly tools: readonly AskedTool[];
  readonly toolChoice: "auto" | "none" | "required" | { readonly name: string } | undefined;
  readonly cap: number | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly stop: readonly string[] | undefined;
  /** `json`: any JSON, without a schema. */
  readonly answerForm: "json" | { readonly schema: JsonObject } | undefined;
}

export type SentRequest = Pick<RecordedRequest, "method" | "path" | "json">;

/** What a vendor knows at all; the suite leaves the cases out of what it does not. */
export interface Abilities {
  readonly tools: boolean;
  readonly parallelTools: boolean;
  /** Text and reasoning may arrive between two pieces of one call. */
  readonly mixedCalls?: true;
  readonly images: boolean;
  /** Answers of a given schema, natively. */
  readonly schemas: boolean;
  /** Any JSON, natively. */
  readonly anyJson: boolean;
  /** Answers that carry reasoning, given to our callers as `reasoning_content`. */
  readonly reasoning: boolean;
  readonly cachedTokens: boolean;
  readonly writtenTokens: boolean;
  readonly reasoningTokens: boolean;
  /** It has no words at which it stops: callers who name some are refused. */
  readonly stops?: false;
}

/** All but what few vendors can. */
export const fullAbilities = {
  tools: true,
  parallelTools: true,
  images: true,
  schemas: true,
  anyJson: true,
  reasoning: true,
  cachedTokens: true,
  writtenTokens: true,
  reasoningTokens: true,
} as const satisfies Abilities;

export interface Dialect {
  /** Of the suite's cases, such as `gemini`. */
  readonly name: string;
  readonly can: Abilities;
  /**
   * Through `new ProviderRegistry(network).build(settings)`, `allowPrivate` true, with `name` as the
   * operator's name for it, `operatorKey` as its key, and an address at `origin` (no slash behind).
   */
  create(options: {
    readonly origin: string;
    readonly name: string;
    readonly network?: Pick<DialerOptions, "usesProxy">;
  }): Provider;
  /** A model by the vendor's name. */
  readonly model: string;
  /** Names that must never be in a message to a caller: `openai`, `gpt`, `cloudflare` … */
  readonly vendorWords: readonly string[];
  /** Header names that a request may carry, beside those of HTTP itself; lower case. */
  readonly headers: readonly string[];
  /** Requests beside the calls, such as a sign-in: what they get. Others: undefined. */
  beside?(request: RecordedRequest): VendorReply | undefined;

  whole(answer: Answer): VendorReply;
  streamed(answer: Answer): VendorStream;
  /** Words for an end that differ from the usual one of each reason. */
  readonly finishWords: Readonly<Record<string, FinishReason>>;
  readonly usages: readonly OddUsage[];

  /** Undefined where the vendor has no such answer. */
  error(kind: ErrorClass, options: ErrorOptions): VendorReply | undefined;
  rateLimited(wait: Wait, options: ErrorOptions): VendorReply | undefined;
  readonly oddErrors?: readonly OddError[];
  /** An event or frame in the middle of a stream that tells of a failure. */
  fault(kind: StreamFault, words: string): Bytes | undefined;
  /** Events or frames that cannot be read: half of a JSON text, a wrong checksum … */
  readonly brokenPackets: readonly Bytes[];
  /** How an event or frame begins that is too large to be kept; `data: ` unless told. */
  readonly endlessOpening?: Bytes;

  asked(request: SentRequest): Asked;
  /** The key that was sent, however it is. */
  credential(request: RecordedRequest): string | undefined;

  /** The reply to a question for its models; left out where the provider lists none. */
  models?(ids: readonly string[]): VendorReply;
  /** Where it is asked, up to the query. */
  readonly modelsPath?: string;
}
