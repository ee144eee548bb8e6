import type { JsonObject } from "../call/chat.ts";
import type { Dialect } from "../call/dialect.ts";
import type { TraceHeaders } from "../call/signal.ts";
import type { Receipt } from "../ledger/receipt.ts";

/** Follows requests for a tracing system. Absent where nothing is traced. */
export interface Tracing {
  /** Undefined where this request is neither recorded nor has anything to pass on. */
  begin(headers: Headers, startedMs: number): CallTrace | undefined;
}

/** A request without a receipt, as it is traced. */
export interface TracedRequest {
  readonly requestId: string;
  readonly endpoint: string;
  readonly dialect: Dialect | undefined;
  readonly model: { readonly id: string } | undefined;
  readonly key: { readonly id: string; readonly accountId: string } | undefined;
}

/** How a request without a receipt ended. */
export interface TracedEnd {
  readonly outcome: string;
  readonly status: number | undefined;
  readonly nowMs: number;
  /** The request whose reply was given again. */
  readonly replayOf?: string;
}

/**
 * The trace of one request. It gets what no receipt has; the rest is read from the receipt when
 * the call is over, so that tracing costs a call as little as possible.
 */
export interface CallTrace {
  /** Undefined where the request is not recorded. */
  readonly recordedId: string | undefined;
  /** Prompts and replies are recorded, too. */
  readonly hasContent: boolean;
  /** Starts the next attempt; returns the headers that go upstream with it. */
  beginAttempt(provider: string): TraceHeaders | undefined;
  /** The upstream has taken the attempt. */
  accepted(nowMs: number): void;
  finished(reason: string): void;
  setInput(messages: readonly JsonObject[]): void;
  setOutput(text: string): void;
  /** The receipt is written: the call is over. */
  end(receipt: Receipt): void;
  /** The request is over without a receipt. */
  endWithout(request: TracedRequest, end: TracedEnd): void;
}
