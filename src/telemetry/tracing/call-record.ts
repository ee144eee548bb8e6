import type { JsonObject } from "../../call/chat.ts";
import type { Dialect } from "../../call/dialect.ts";
import type { TraceHeaders } from "../../call/signal.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import { toContent } from "./content.ts";
import { newHexId, type TraceParent } from "./trace-context.ts";

/** One attempt, as it was told to the upstream. */
export interface TracedAttempt {
  readonly provider: string;
  readonly spanId: string;
  acceptedMs: number | undefined;
}

/** A request that ended without a receipt. */
export interface Unbilled {
  readonly requestId: string;
  readonly endpoint: string;
  readonly dialect: Dialect | undefined;
  readonly model: string | undefined;
  readonly keyId: string | undefined;
  readonly accountId: string | undefined;
  readonly outcome: string;
  readonly status: number | undefined;
  readonly endMs: number;
  readonly replayOf: string | undefined;
}

/** How it ended; the spans are made of it when they are sent. */
export type CallEnd = { readonly receipt: Receipt } | { readonly unbilled: Unbilled };

export interface EndedCall {
  readonly record: CallRecord;
  readonly end: CallEnd;
}

export interface CallRecordOptions {
  readonly parent: TraceParent | undefined;
  readonly isRecorded: boolean;
  /** Attempts say to their upstreams which trace they belong to. */
  readonly goesUpstream: boolean;
  readonly hasContent: boolean;
  readonly startedMs: number;
  readonly onEnd: (ended: EndedCall) => void;
}

interface Ending {
  readonly outcome: string;
  readonly status: number | undefined;
  readonly nowMs: number;
  readonly replayOf?: string;
}

interface Request {
  readonly requestId: string;
  readonly endpoint: string;
  readonly dialect: Dialect | undefined;
  readonly model: { readonly id: string } | undefined;
  readonly key: { readonly id: string; readonly accountId: string } | undefined;
}

/** What is noted of a request while it runs. No text and no span is made before it is over. */
export class CallRecord {
  readonly traceId: string;
  readonly spanId = newHexId(16);
  readonly parent: TraceParent | undefined;
  readonly startedMs: number;
  readonly attempts: TracedAttempt[] = [];
  readonly reasons: string[] = [];
  readonly hasContent: boolean;
  input: string | undefined;
  output: string | undefined;
  readonly #options: CallRecordOptions;
  #isOver = false;

  constructor(options: CallRecordOptions) {
    const { parent, startedMs, hasContent, isRecorded } = options;
    this.#options = options;
    this.parent = parent;
    this.traceId = parent?.traceId ?? newHexId(32);
    this.startedMs = startedMs;
    this.hasContent = hasContent && isRecorded;
  }

  get recordedId(): string | undefined {
    return this.#options.isRecorded ? this.traceId : undefined;
  }

  beginAttempt(provider: string): TraceHeaders | undefined {
    const { isRecorded, goesUpstream } = this.#options;
    const spanId = newHexId(16);
    if (isRecorded) this.attempts.push({ provider, spanId, acceptedMs: undefined });
    if (!goesUpstream) return undefined;
    const traceparent = `00-${this.traceId}-${spanId}-${isRecorded ? "01" : "00"}`;
    const tracestate = this.parent?.state;
    return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
  }

  accepted(nowMs: number): void {
    const attempt = this.attempts.at(-1);
    if (attempt !== undefined) attempt.acceptedMs ??= nowMs;
  }

  finished(reason: string): void {
    if (this.reasons.length < mostReasons) this.reasons.push(reason);
  }

  setInput(messages: readonly JsonObject[]): void {
    this.input = toContent(messages);
  }

  setOutput(text: string): void {
    this.output = toContent([{ role: "assistant", content: text }]);
  }

  end(receipt: Receipt): void {
    this.#end({ receipt });
  }

  endWithout(request: Request, { outcome, status, nowMs, replayOf }: Ending): void {
    const { requestId, endpoint, dialect, model, key } = request;
    this.#end({
      unbilled: {
        requestId,
        endpoint,
        dialect,
        model: model?.id,
        keyId: key?.id,
        accountId: key?.accountId,
        outcome,
        status,
        endMs: nowMs,
        replayOf,
      },
    });
  }

  #end(end: CallEnd): void {
    if (this.#isOver || !this.#options.isRecorded) return;
    this.#isOver = true;
    this.#options.onEnd({ record: this, end });
  }
}

/** As many answers as a call may ask for, and more. */
const mostReasons = 128;
