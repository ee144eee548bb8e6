import type { Clock } from "../../base/clock.ts";
import type { ApiError } from "../../base/errors.ts";
import type { ChatCall, ChatPart, ChatResult, JsonObject } from "../../call/chat.ts";
import type { Dialect } from "../../call/dialect.ts";
import type { Usage } from "../../call/usage.ts";
import type { Said } from "./said.ts";

/** A chat request that was checked, whichever dialect it came in. */
export interface ChatOrder {
  readonly call: ChatCall;
  readonly stream: boolean;
  /** How many answers were asked for. */
  readonly choices: number;
  /** How many answers are written for each that is returned; 1 by default. */
  readonly writtenPerReturned?: number | undefined;
  /** The caller named how long the answer may become. */
  readonly isCapNamed: boolean;
}

/** What all replies and events of one call share. */
export interface ReplyIdentity {
  readonly id: string;
  readonly createdS: number;
  readonly clock: Clock;
  /** As the caller named it. */
  readonly model: string;
  /** Its id in our catalog, which the caller may have named by an alias. */
  readonly modelId: string;
  /** About how long the prompt is, for formats whose streams begin with a count. */
  readonly aboutInputTokens?: number | undefined;
}

/** Turns the parts of one streamed answer into the events of a dialect. */
export interface ChatWriter {
  /** What keeps a silent stream alive. */
  readonly keepAlive: string;
  /** What the model said, for the cap and for counting if the upstream reports no usage. */
  readonly said: Said;
  /** How much of its thoughts the upstream has shown with its words. */
  readonly reasoningChars: number;
  /** How many answers were asked for. */
  readonly choices: number;
  readonly hasBegun: boolean;
  /** The upstream speaks the caller's dialect. */
  readonly isNative?: boolean;
  /** Every answer that was asked for has ended. */
  readonly isFinished: boolean;
  /** What the upstream says of the whole reply. */
  extras: JsonObject | undefined;
  /** Events for one part; "" when it has none. Usage and the end are for `end`. */
  write(part: ChatPart): string;
  /**
   * The last bytes of a stream that ended well, or was cut because it became too long. A promise
   * where something must be durable before them.
   */
  end(usage: Usage, isCut?: boolean): string | Promise<string>;
  /** The last bytes of a stream that broke: never a clean end. */
  fail(error: ApiError): string;
}

export interface ReadOptions {
  /** The id of the model in our catalog. */
  readonly modelId: string;
  /** The model's own limit. */
  readonly maxOutputTokens: number | undefined;
  readonly headers: Headers;
}

/** How one dialect reads requests and writes replies. All else is the same for all of them. */
export interface ChatDialect<Order extends ChatOrder = ChatOrder> {
  readonly name: Dialect;
  /** What the ids of its replies begin with. */
  readonly idPrefix: string;
  /** The field that holds the prompt. */
  readonly promptField: string;
  /** Checks a body and makes it a call. */
  readonly read: (body: JsonObject, options: ReadOptions) => Order;
  /** The caller's name for a field of the call, where it is another one. */
  readonly toField?: (param: string, order: Order) => string;
  readonly createWriter: (identity: ReplyIdentity, order: Order) => ChatWriter;
  /** A promise where something must be durable before the reply. */
  readonly toReply: (options: WholeReply<Order>) => string | Promise<string>;
}

export interface WholeReply<Order extends ChatOrder = ChatOrder> {
  readonly identity: ReplyIdentity;
  readonly order: Order;
  readonly result: ChatResult;
  readonly usage: Usage;
}
