import { monotonicMs } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { CallSignal, type Signal, type TraceHeaders } from "../call/signal.ts";
import type { RoutedCall } from "../router/attempt.ts";
import { type CallLimits, limitsFor, type TimedModel } from "./call-limits.ts";

/** How many calls whose caller has gone are being read on. */
interface ReadOnSlots {
  used: number;
}

interface ActiveCallOptions {
  readonly accountId?: string;
  readonly slots?: ReadOnSlots;
  readonly nowMs?: () => number;
}

/**
 * A call in flight: what may end it early. Times are monotonic, and are looked at by one ticker for
 * all calls, which is far cheaper than timers per call.
 */
export class ActiveCall implements RoutedCall {
  readonly accountId: string;
  #signal = new CallSignal();
  readonly #limits: CallLimits;
  readonly #slots: ReadOnSlots;
  /** In the time of the ticker. */
  readonly nowMs: () => number;
  readonly #startedMs: number;
  /** When the upstream was last heard; undefined while the caller is not reading. */
  #upstreamSinceMs: number | undefined;
  #readerSinceMs: number | undefined;
  /** For how long the reader has kept us waiting, all in all. */
  #readerWaitMs = 0;
  #hasBegun = false;
  /** When the upstream last said something, if only what is no news to the caller. */
  #heardMs = 0;
  #attempts = 0;
  /** When the target was asked that is being waited for. */
  #attemptMs: number;
  /** Looks whether that target can be reached; gone once it has answered. */
  #probe: ((withinMs: number) => Promise<string | undefined>) | undefined;
  #reason: ApiError | undefined;
  /** Called when the call is ended early. */
  onAbort: (() => void) | undefined;
  isLong = false;
  #isLeft = false;
  /** The request: its signal shows, when it is looked at, whether the caller is still there. */
  caller: { readonly signal: Pick<AbortSignal, "aborted"> } | undefined;
  /** The caller has gone, and the upstream is read on for what it counts. */
  isReadingOn = false;
  /** Whether what the caller has seen is less than what the vendor will bill; set by streams. */
  hidesWork: (() => boolean) | undefined;
  /** Called when the caller has gone and the call goes on. */
  onLeave: ((reason: ApiError) => void) | undefined;
  /** The upstream has said that the answer is complete, but not yet what it used. */
  isFinishing = false;
  /** Called once, when the call has lasted longer than most. */
  onLong: (() => void) | undefined;
  /** Sends a comment to a waiting reader; set by streams that can. */
  onSilence: (() => void) | undefined;
  #spokeMs: number;

  constructor(
    limits: CallLimits,
    nowMs: number,
    { accountId = "", slots = { used: 0 }, nowMs: clock = monotonicMs }: ActiveCallOptions = {},
  ) {
    this.accountId = accountId;
    this.nowMs = clock;
    this.#limits = limits;
    this.#slots = slots;
    this.#startedMs = nowMs;
    this.#upstreamSinceMs = nowMs;
    this.#attemptMs = nowMs;
    this.#spokeMs = nowMs;
  }

  /** Of the attempt under way: another target gets another one. */
  get signal(): Signal {
    return this.#signal;
  }

  get isWaitingForReader(): boolean {
    return this.#readerSinceMs !== undefined;
  }

  /** The caller has gone. */
  get isLeft(): boolean {
    return this.#isLeft || this.caller?.signal.aborted === true;
  }

  /** Why it was ended early, if it was. */
  get reason(): ApiError | undefined {
    return this.#reason;
  }

  get isOver(): boolean {
    return this.#reason !== undefined;
  }

  /** Ends the call: fetches stop, and whoever waits gets this error. */
  abort(reason: ApiError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#signal.abort(reason);
    this.onAbort?.();
  }

  beginAttempt(): void {
    this.#probe = undefined;
    // The first one began with the call.
    if (this.#attempts++ === 0) return;
    this.#attemptMs = this.nowMs();
    if (this.#signal.aborted && !this.isOver) this.#signal = new CallSignal();
  }

  /** Headers that go upstream with the attempt under way. */
  carry(trace: TraceHeaders | undefined): void {
    this.#signal.trace = trace;
  }

  /** A target is being asked, and how to see whether it is there. */
  readonly onDial = (probe: (withinMs: number) => Promise<string | undefined>): void => {
    this.#probe = probe;
  };

  /** The upstream gave a sign of life within its answer. */
  readonly onHeard = (): void => {
    this.#heardMs = this.nowMs();
  };

  /** It has answered: whether it can be reached is no question any more. */
  heard(): void {
    this.#probe = undefined;
  }

  /** Ends the attempt and not the call: another target may still serve it. */
  #failAttempt(reason: ApiError): void {
    this.#probe = undefined;
    this.#signal.abort(reason);
  }

  #look(): void {
    const probe = this.#probe;
    if (probe === undefined) return;
    this.#probe = undefined;
    const signal = this.#signal;
    probe(this.#limits.connectMs).then((problem) => {
      if (problem !== undefined && signal === this.#signal && !this.#hasBegun)
        this.#failAttempt(unreachable(problem));
    });
  }

  /**
   * The caller has gone: the upstream is aborted. It is read on where it does work that nobody sees
   * and that only its count tells, and for a moment where the answer is complete and only the count
   * is still to come.
   */
  leave(reason: ApiError): void {
    if (this.#isLeft || this.isOver) return;
    this.#isLeft = true;
    const hidesWork = this.hidesWork?.() === true;
    if (hidesWork && this.#slots.used < maxReadOn) {
      this.isReadingOn = true;
      this.#slots.used++;
    } else if (!this.isFinishing) return this.abort(reason);
    const withinMs = this.isReadingOn ? readOnMs : usageWithinMs;
    setTimeout(() => this.abort(reason), withinMs).unref();
    this.onLeave?.(reason);
  }

  /** It is over, however it ended. */
  end(): void {
    if (this.isReadingOn) this.#slots.used--;
    this.isReadingOn = false;
    this.hidesWork = undefined;
  }

  /** The caller wants more: from now on it is the upstream who keeps us waiting. */
  waitForUpstream(nowMs: number): void {
    this.#upstreamSinceMs = nowMs;
    if (this.#readerSinceMs !== undefined) this.#readerWaitMs += nowMs - this.#readerSinceMs;
    this.#readerSinceMs = undefined;
  }

  /** The upstream spoke, though nothing of it goes to the caller yet. */
  hear(nowMs = this.nowMs()): void {
    this.#heardMs = nowMs;
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

  /**
   * The call would be over by now if its caller had read it: a caller who takes an answer slowly,
   * and a little faster just before the end, must not get it free.
   */
  #isReaderSlow(nowMs: number): boolean {
    if (this.isWaitingForReader) return true;
    return 2 * this.#readerWaitMs >= nowMs - this.#startedMs;
  }

  tick(nowMs: number): void {
    const { maxCallMs, connectMs, firstByteMs, idleMs, readerMs, keepAliveMs } = this.#limits;
    if (!this.isLong && nowMs - this.#startedMs >= longMs) {
      this.isLong = true;
      this.onLong?.();
    }
    if (nowMs - this.#startedMs >= maxCallMs) {
      const detail = `the call exceeded ${maxCallMs} ms`;
      return this.abort(this.#isReaderSlow(nowMs) ? readTooSlowly(detail) : lasted(detail));
    }
    if (this.isReadingOn) return;
    if (this.#readerSinceMs !== undefined && nowMs - this.#readerSinceMs >= readerMs)
      return this.leave(callerLeft("the caller stopped reading"));
    if (this.#upstreamSinceMs === undefined) return;
    if (this.#hasBegun) {
      if (nowMs - Math.max(this.#upstreamSinceMs, this.#heardMs) >= idleMs)
        return this.abort(tooLong(`the provider sent nothing for ${idleMs} ms`));
    } else {
      const waitedMs = nowMs - this.#attemptMs;
      if (waitedMs >= firstByteMs)
        return this.#failAttempt(tooLong(`the provider sent nothing for ${firstByteMs} ms`));
      if (waitedMs >= connectMs) this.#look();
    }
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
/** How long, and how many at a time, calls are read on after their callers have gone. */
const readOnMs = 60_000;
const maxReadOn = 100;

/** Well below the time after which the runtime cuts a silent connection (server.ts). */
const longMs = 5_000;

export function shuttingDown(): ApiError {
  return new ApiError({
    code: "shutting_down",
    message: "The gateway is shutting down. Try again in a moment.",
  });
}

export function callerLeft(detail: string): ApiError {
  return new CallerLeft({ code: "internal_error", message: "The caller disconnected.", detail });
}

export function isCallerLeft(error: ApiError): boolean {
  return error instanceof CallerLeft;
}

class CallerLeft extends ApiError {}

/** The caller read the reply too slowly, and pays like a caller who disconnects. */
function readTooSlowly(detail: string): ApiError {
  return new CallerLeft({
    code: "internal_error",
    message: "The call took too long because its reply was read too slowly. Read it faster.",
    detail: `${detail}, and its reader was slow`,
  });
}

function tooLong(detail: string): ApiError {
  return new ApiError({
    code: "upstream_timeout",
    message: "The model took too long to respond. Try again.",
    detail,
    upstream: { reason: "timeout" },
  });
}

/** The call as a whole: its upstream may have spoken all the time. */
function lasted(detail: string): ApiError {
  return new ApiError({
    code: "upstream_timeout",
    message: "The model took too long to respond. Try again.",
    detail,
  });
}

function unreachable(detail: string): ApiError {
  return new ApiError({
    code: "upstream_timeout",
    message: "The model is unavailable. Try again.",
    detail,
    upstream: { reason: "unreachable" },
  });
}

export class ActiveCalls {
  readonly #limits: CallLimits;
  readonly #nowMs: () => number;
  readonly #limitsByModel = new WeakMap<TimedModel, CallLimits>();
  readonly #calls = new Set<ActiveCall>();
  readonly #slots: ReadOnSlots = { used: 0 };
  readonly #ticker: ReturnType<typeof setInterval>;
  #whenEmpty: (() => void) | undefined;
  #isDraining = false;

  constructor(limits: CallLimits, nowMs: () => number = monotonicMs) {
    this.#limits = limits;
    this.#nowMs = nowMs;
    const { connectMs, firstByteMs, idleMs, readerMs, keepAliveMs, maxCallMs } = limits;
    const leastMs = Math.min(connectMs, firstByteMs, idleMs, readerMs, keepAliveMs, maxCallMs);
    // A model's own limits can be shorter; they are then up to a quarter of a second late.
    const tickMs = Math.min(250, Math.max(10, leastMs / 4));
    this.#ticker = setInterval(() => this.#tick(), tickMs);
    this.#ticker.unref();
  }

  get size(): number {
    return this.#calls.size;
  }

  /** No call should begin any more. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  begin(model: TimedModel, accountId = ""): ActiveCall {
    let limits = this.#limitsByModel.get(model);
    if (limits === undefined) {
      limits = limitsFor(model, this.#limits);
      this.#limitsByModel.set(model, limits);
    }
    const call = new ActiveCall(limits, this.#nowMs(), {
      accountId,
      slots: this.#slots,
      nowMs: this.#nowMs,
    });
    this.#calls.add(call);
    return call;
  }

  end(call: ActiveCall): void {
    call.end();
    this.#calls.delete(call);
    if (this.#calls.size === 0) this.#whenEmpty?.();
  }

  /**
   * Resolves when no call is left. After `withinMs`, those that are left are ended, and may take
   * `endMs` for it: a database that does not answer keeps them longer.
   */
  async drain(withinMs: number, endMs = Number.POSITIVE_INFINITY): Promise<void> {
    this.#isDraining = true;
    // Nobody waits for these: they pay what they are estimated to have used.
    const reason = shuttingDown();
    for (const call of this.#calls) if (call.isReadingOn) call.abort(reason);
    if (this.#calls.size > 0) {
      const empty = new Promise<void>((resolve) => (this.#whenEmpty = resolve));
      const over = Promise.withResolvers<void>();
      let timer = setTimeout(() => {
        this.#abortAll();
        if (Number.isFinite(endMs)) timer = setTimeout(over.resolve, endMs);
      }, withinMs);
      await Promise.race([empty, over.promise]);
      clearTimeout(timer);
    }
    clearInterval(this.#ticker);
  }

  #abortAll(): void {
    const reason = shuttingDown();
    for (const call of this.#calls) call.abort(reason);
  }

  #tick(): void {
    const nowMs = this.#nowMs();
    for (const call of this.#calls) call.tick(nowMs);
  }
}
