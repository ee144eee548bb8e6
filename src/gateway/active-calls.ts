import { ApiError } from "../base/errors.ts";

export interface CallLimits {
  readonly maxCallMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly readerMs: number;
  readonly keepAliveMs: number;
}

/**
 * A call under way: what may end it early. Times are looked at by one ticker for all calls, which
 * is far cheaper than timers a call.
 */
export class ActiveCall {
  readonly #controller = new AbortController();
  readonly #limits: CallLimits;
  readonly #startedMs: number;
  /** When the upstream was last heard; undefined while the caller is not reading. */
  #upstreamSinceMs: number | undefined;
  #readerSinceMs: number | undefined;
  #hasBegun = false;
  isLong = false;
  /** The upstream has said that the answer is complete, but not yet what it used. */
  isFinishing = false;
  /** Called once, when the call has lasted longer than most. */
  onLong: (() => void) | undefined;
  /** Sends a comment to a waiting reader; set by streams that can. */
  onSilence: (() => void) | undefined;
  #spokeMs: number;

  constructor(limits: CallLimits, nowMs: number) {
    this.#limits = limits;
    this.#startedMs = nowMs;
    this.#upstreamSinceMs = nowMs;
    this.#spokeMs = nowMs;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isWaitingForReader(): boolean {
    return this.#readerSinceMs !== undefined;
  }

  /** Ends the call: fetches stop, and whoever waits gets this error. */
  abort(reason: ApiError): void {
    if (!this.signal.aborted) this.#controller.abort(reason);
  }

  /**
   * The caller has gone. Where the answer is complete and only the count of its tokens is still to
   * come, the upstream gets a moment for it.
   */
  leave(reason: ApiError): void {
    if (this.isFinishing) setTimeout(() => this.abort(reason), usageWithinMs).unref();
    else this.abort(reason);
  }

  /** The caller wants more: from now on it is the upstream who keeps us waiting. */
  waitForUpstream(nowMs: number): void {
    this.#upstreamSinceMs = nowMs;
    this.#readerSinceMs = undefined;
  }

  /**
   * Something went to the caller: from now on it is the reader who keeps us waiting. A comment is
   * not the beginning of the answer.
   */
  waitForReader(nowMs: number, isComment = false): void {
    if (!isComment) this.#hasBegun = true;
    this.#upstreamSinceMs = undefined;
    this.#readerSinceMs = nowMs;
    this.#spokeMs = nowMs;
  }

  tick(nowMs: number): void {
    const { maxCallMs, firstByteMs, idleMs, readerMs, keepAliveMs } = this.#limits;
    if (!this.isLong && nowMs - this.#startedMs >= longMs) {
      this.isLong = true;
      this.onLong?.();
    }
    if (nowMs - this.#startedMs >= maxCallMs)
      return this.abort(tooLong(`the call took ${maxCallMs} ms`));
    if (this.#readerSinceMs !== undefined && nowMs - this.#readerSinceMs >= readerMs)
      return this.abort(callerLeft("the caller has stopped reading"));
    if (this.#upstreamSinceMs === undefined) return;
    const patienceMs = this.#hasBegun ? idleMs : firstByteMs;
    const sinceMs = this.#hasBegun ? this.#upstreamSinceMs : this.#startedMs;
    if (nowMs - sinceMs >= patienceMs)
      return this.abort(tooLong(`the upstream was silent for ${patienceMs} ms`));
    if (
      this.onSilence !== undefined &&
      nowMs - Math.max(this.#spokeMs, this.#upstreamSinceMs) >= keepAliveMs
    ) {
      this.#spokeMs = nowMs;
      this.onSilence();
    }
  }
}

const usageWithinMs = 500;

/** Well below the time after which the runtime cuts a silent connection (server.ts). */
const longMs = 5_000;

const leftMessage = "The caller has left.";

/** The caller hears nothing of it: nobody is there. */
export function callerLeft(detail: string): ApiError {
  return new ApiError({ code: "internal_error", message: leftMessage, detail });
}

export function isCallerLeft({ message }: ApiError): boolean {
  return message === leftMessage;
}

function tooLong(detail: string): ApiError {
  return new ApiError({
    code: "upstream_timeout",
    message: "The model took too long to answer.",
    detail,
  });
}

export class ActiveCalls {
  readonly #limits: CallLimits;
  readonly #nowMs: () => number;
  readonly #calls = new Set<ActiveCall>();
  readonly #ticker: ReturnType<typeof setInterval>;
  #whenEmpty: (() => void) | undefined;

  constructor(limits: CallLimits, nowMs: () => number = Date.now) {
    this.#limits = limits;
    this.#nowMs = nowMs;
    const { firstByteMs, idleMs, readerMs, keepAliveMs, maxCallMs } = limits;
    const tickMs = Math.min(
      1000,
      Math.max(10, Math.min(firstByteMs, idleMs, readerMs, keepAliveMs, maxCallMs) / 4),
    );
    this.#ticker = setInterval(() => this.#tick(), tickMs);
    this.#ticker.unref();
  }

  get size(): number {
    return this.#calls.size;
  }

  begin(): ActiveCall {
    const call = new ActiveCall(this.#limits, this.#nowMs());
    this.#calls.add(call);
    return call;
  }

  end(call: ActiveCall): void {
    this.#calls.delete(call);
    if (this.#calls.size === 0) this.#whenEmpty?.();
  }

  /** Resolves when no call is left, or after `withinMs`, having ended those that were. */
  async drain(withinMs: number): Promise<void> {
    if (this.#calls.size > 0) {
      const empty = new Promise<void>((resolve) => (this.#whenEmpty = resolve));
      const timer = setTimeout(() => this.#abortAll(), withinMs);
      await empty;
      clearTimeout(timer);
    }
    clearInterval(this.#ticker);
  }

  #abortAll(): void {
    const reason = new ApiError({
      code: "shutting_down",
      message: "The gateway is shutting down. Try again.",
    });
    for (const call of this.#calls) call.abort(reason);
  }

  #tick(): void {
    const nowMs = this.#nowMs();
    for (const call of this.#calls) call.tick(nowMs);
  }
}
