import { RateLimit } from "../../base/rate-limit.ts";
import { CallRecord, type EndedCall } from "./call-record.ts";
import { readTraceParent } from "./trace-context.ts";

/** What becomes of the trace that a caller names in its headers. */
export type TraceParents = "continue" | "follow" | "ignore";

export interface TracerOptions {
  /** The share of requests that are recorded. */
  readonly sample: number;
  readonly parents: TraceParents;
  readonly goesUpstream: boolean;
  readonly hasContent: boolean;
  readonly onEnd: (ended: EndedCall) => void;
  /** A request without a receipt was not recorded, because there were too many. */
  readonly onExcess: () => void;
  readonly random?: () => number;
  readonly nowMs?: () => number;
}

/** Requests without a receipt cost their senders nothing, so no sender may fill the queue with them. */
const unbilledPerSecond = 50;

/**
 * Decides which requests are recorded. A caller can name any trace and mark it as sampled, so that
 * mark counts only where the operator says so; otherwise the dice are thrown here, not read from an
 * id that the caller chose.
 */
export class Tracer {
  readonly #options: TracerOptions;
  readonly #random: () => number;
  readonly #onEnd: (ended: EndedCall) => void;
  readonly #unbilled: RateLimit;

  constructor(options: TracerOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#unbilled = new RateLimit(unbilledPerSecond, options.nowMs);
    this.#onEnd = (ended) => this.#take(ended);
  }

  begin(headers: Headers, startedMs: number): CallRecord | undefined {
    const { sample, parents, goesUpstream, hasContent } = this.#options;
    const parent = parents === "ignore" ? undefined : readTraceParent(headers);
    const isRecorded =
      parents === "follow" && parent !== undefined
        ? parent.isSampled
        : sample >= 1 || this.#random() < sample;
    if (!isRecorded && !goesUpstream) return undefined;
    const onEnd = this.#onEnd;
    return new CallRecord({ parent, isRecorded, goesUpstream, hasContent, startedMs, onEnd });
  }

  #take(ended: EndedCall): void {
    if ("unbilled" in ended.end && !this.#unbilled.admits()) return this.#options.onExcess();
    this.#options.onEnd(ended);
  }
}
