import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Dialect } from "../../call/dialect.ts";
import { costOf, type Units } from "../../call/price.ts";
import { type Model, type PriceInForce, routeCost } from "../../catalog/model.ts";
import type { ReceiptAttempt } from "../../ledger/attempt.ts";
import { type Journal, JournalError } from "../../ledger/journal.ts";
import type { Hold } from "../../ledger/purse.ts";
import type { Receipt, ReceiptTerms } from "../../ledger/receipt.ts";
import type { Permit } from "../../limits/permit.ts";
import type { RequestLimiter } from "../../limits/request-limiter.ts";
import { type Attempt, shortDetail } from "../../router/attempt.ts";
import { type ActiveCall, callerLeft, isCallerLeft } from "../active-calls.ts";
import type { OpenClaim, Reply } from "../idempotency.ts";
import type { CallTrace } from "../tracing.ts";
import { storeUnavailable } from "./refusals.ts";

/** What a call has used. */
export interface Measured {
  readonly units: Units;
  readonly reasoningTokens: number;
  /** No upstream counted it. */
  readonly estimated: boolean;
}

export interface ChargeOptions {
  readonly requestId: string;
  readonly startedMs: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: Model;
  readonly pricing: PriceInForce;
  readonly hold: Hold;
  readonly terms: ReceiptTerms;
  /** How long the answer may become, once the hold is taken. */
  readonly cap: number;
  readonly permit: Permit | undefined;
  readonly claim: OpenClaim | undefined;
  readonly call: Pick<ActiveCall, "heard" | "isLeft" | "carry">;
  readonly dialect: Dialect | undefined;
  readonly isStreamed: boolean;
  readonly trace?: CallTrace | undefined;
  readonly dependencies: {
    readonly journal: Journal;
    readonly limiter: Pick<RequestLimiter, "release">;
    readonly clock: Clock;
    readonly log: Log;
  };
}

/** A charge as the call and its endpoint see it. */
export type CallCharge = Pick<Charge, keyof Charge>;

const ignore = () => {};
const nothing: Measured = { units: {}, reasoningTokens: 0, estimated: false };

/**
 * The money of one call: a hold when it is admitted, one receipt when it is over. It belongs to the
 * call, not to its stream: whichever end comes first settles it, and any other changes nothing.
 */
export class Charge {
  readonly cap: number;
  /** What was produced so far; set once there may be something. */
  measure: (() => Measured | Promise<Measured>) | undefined;
  /** Called where the answer is whole and its receipt cannot be written: the caller gets an error. */
  onUnsettled?: (() => void) | undefined;
  readonly #options: ChargeOptions;
  /** How often a target was asked. */
  attempts = 0;
  #isAccepted = false;
  #firstByteMs: number | undefined;
  #attempt: Attempt | undefined;
  #failure: ApiError | undefined;
  #settled: Promise<void> | undefined;

  constructor(options: ChargeOptions) {
    this.#options = options;
    this.cap = options.cap;
  }

  get isSettled(): boolean {
    return this.#settled !== undefined;
  }

  /** Who was asked last, if anybody was. */
  get provider(): string | undefined {
    return this.#attempt?.target.provider;
  }

  /** Whether the caller may ask for the same reply again. */
  get keepsReply(): boolean {
    return this.#options.claim !== undefined;
  }

  /** An upstream has taken the call, and has not failed. */
  get isTaken(): boolean {
    return this.#isAccepted && this.#attempt?.hasFailed !== true;
  }

  /** Starts the next attempt, unless no caller is left to receive the reply. */
  begin(attempt: Attempt): void {
    if (this.#options.call.isLeft && !this.keepsReply)
      throw callerLeft("the caller closed the connection");
    this.#isAccepted = false;
    this.attempts++;
    this.#attempt = attempt;
    const { trace, call } = this.#options;
    if (trace !== undefined) call.carry(trace.beginAttempt(attempt.target.provider));
  }

  /** An upstream has taken the call: a caller who disconnects from now on pays. */
  readonly accepted = (): void => {
    this.#isAccepted = true;
    const { trace, call, dependencies } = this.#options;
    call.heard();
    trace?.accepted(dependencies.clock.nowMs());
  };

  /** Something of the answer goes to the caller. */
  deliver(): void {
    if (this.#firstByteMs !== undefined) return;
    const { dependencies, startedMs } = this.#options;
    this.#firstByteMs = Math.max(0, dependencies.clock.nowMs() - startedMs);
  }

  /**
   * The whole answer is there: resolves when its receipt is durable, and only then may the last
   * bytes leave. `reply`: kept for who sends the same Idempotency-Key again.
   */
  settle(measured: Measured, reply?: Reply): Promise<void> {
    const isLeft = this.#options.call.isLeft && !this.keepsReply;
    return this.#write(measured, isLeft ? "left" : "ok", reply);
  }

  /** The call is over. What nobody has settled is settled here; resolves when that is written. */
  async close(failure: ApiError | undefined): Promise<void> {
    if (this.#settled === undefined) {
      // Between two attempts nobody has the call: the one that had it failed.
      const { isTaken } = this;
      if (failure !== undefined) this.#attempt?.fail(failure);
      this.#failure = failure;
      const isLeft = failure !== undefined && isCallerLeft(failure);
      const pays = isLeft ? isTaken : this.#firstByteMs !== undefined;
      const measured = pays && this.measure !== undefined ? await this.measure() : nothing;
      this.#write(measured, isLeft ? "left" : (failure?.code ?? "internal_error"), undefined).catch(
        () => {},
      );
    }
    await this.#settled?.catch(() => {});
  }

  #write(measured: Measured, outcome: string, reply: Reply | undefined): Promise<void> {
    if (this.#settled !== undefined) return this.#settled;
    const { hold, permit, claim, trace, dependencies } = this.#options;
    const nowMs = dependencies.clock.nowMs();
    const receipt = this.#toReceipt({ measured, outcome, nowMs });
    const { units, charged } = receipt;
    if (receipt.cost > receipt.hold) this.#logAnomaly(receipt);
    if (permit !== undefined) dependencies.limiter.release(permit, tokensOf(units), nowMs);
    // Nothing but the end of a stream has gone out before its receipt; a whole reply not at all.
    const mayTakeBack = outcome === "ok" && this.#firstByteMs === undefined;
    // Who fails may try again with the same key, whatever was delivered; who left has been served.
    const isDone = outcome === "ok" || (outcome === "left" && charged > 0n);
    this.#settled = dependencies.journal
      .append(
        {
          type: "receipt",
          receipt,
          hold,
          claim: isDone ? claim?.done(reply) : undefined,
        },
        mayTakeBack,
      )
      .catch((cause: unknown) => {
        if (cause instanceof JournalError && cause.isTakenBack) {
          hold.giveBack();
          claim?.reopen();
        } else trace?.end(receipt);
        this.onUnsettled?.();
        throw storeUnavailable(cause);
      });
    if (trace !== undefined) this.#settled.then(() => trace.end(receipt), ignore);
    return this.#settled;
  }

  #toReceipt(options: {
    readonly measured: Measured;
    readonly outcome: string;
    readonly nowMs: number;
  }): Receipt {
    const { measured, outcome, nowMs } = options;
    const { units, reasoningTokens, estimated } = measured;
    const { hold, pricing, model, terms } = this.#options;
    const cost = costOf(units, pricing.price);
    const route = this.#attempt?.target;
    const durationMs = Math.max(0, nowMs - this.#options.startedMs);
    return {
      id: this.#options.requestId,
      accountId: this.#options.accountId,
      keyId: this.#options.keyId,
      model: model.id,
      endpoint: model.endpoint,
      dialect: this.#options.dialect,
      provider: route?.provider ?? "",
      attempts: this.#toAttempts(durationMs),
      priceVersion: pricing.version,
      units,
      reasoningTokens,
      estimated,
      hold: hold.nano,
      cost,
      charged: hold.settle(cost),
      vendorCost: route?.cost === undefined ? undefined : costOf(units, route.cost),
      outcome,
      // A whole answer goes out in one piece, when it is done.
      firstByteMs: this.#firstByteMs ?? (outcome === "ok" ? durationMs : undefined),
      durationMs,
      isStreamed: this.#options.isStreamed,
      terms: route === undefined ? terms : { ...terms, cost: routeCost(model, route) },
    };
  }

  /** The caller never pays more than the hold: the operator bears the difference. */
  #logAnomaly(receipt: Receipt): void {
    const { id, model, provider, units, estimated, hold, cost, charged } = receipt;
    this.#options.dependencies.log.warn("call cost more than its hold", {
      request_id: id,
      model,
      provider,
      tokens: tokensOf(units),
      usage: estimated ? "estimated" : "reported",
      hold_nano: String(hold),
      cost_nano: String(cost),
      shortfall_nano: String(cost - charged),
    });
  }

  #toAttempts(durationMs: number): readonly ReceiptAttempt[] {
    if (this.#attempt === undefined) return this.#whyNone();
    const { target, key, startedMs, hasFailed, failures } = this.#attempt;
    const { provider, model } = target;
    const sinceMs = this.#since(startedMs, durationMs);
    const times = { startedMs: sinceMs, durationMs: durationMs - sinceMs };
    const last =
      key === undefined ? { provider, model, ...times } : { provider, model, key, ...times };
    if (failures.length === 0) return [last];
    const failed = failures.map(({ startedMs, endedMs, ...failure }) => {
      const sinceMs = this.#since(startedMs, durationMs);
      return {
        ...failure,
        startedMs: sinceMs,
        durationMs: this.#since(endedMs, durationMs) - sinceMs,
      };
    });
    return hasFailed ? failed : [...failed, last];
  }

  /** From the start of the request; within it, because any clock can be set back. */
  #since(ms: number, durationMs: number): number {
    return Math.min(Math.max(0, ms - this.#options.startedMs), durationMs);
  }

  /** No target was asked: the reason is all there is to record. */
  #whyNone(): readonly ReceiptAttempt[] {
    const failure = this.#failure;
    if (failure?.upstream === undefined) return [];
    return [{ provider: "", model: "", code: failure.code, detail: shortDetail(failure) }];
  }
}

function tokensOf(units: Units): number {
  const { input = 0, cached_input = 0, cache_write = 0, output = 0, audio_output = 0 } = units;
  return input + cached_input + cache_write + output + audio_output;
}
