import { ApiError, faultOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Model } from "../catalog/model.ts";
import { JournalError } from "../ledger/journal.ts";
import { isCallerLeft } from "./active-calls.ts";
import type { Exchange } from "./exchange.ts";

/** Counts replies without a receipt; the others are counted by theirs. */
export interface ReplyCounter {
  count(exchange: Pick<Exchange, "endpoint" | "model">, outcome: string): void;
  countRejection(error: ApiError): void;
}

/** Records rejected calls, so that people can see why they failed. */
export interface RejectionLog {
  add(exchange: Failed, error: ApiError): void;
}

interface FailureDependencies {
  readonly log: Log;
  readonly replyCounter: ReplyCounter;
  readonly rejections: RejectionLog;
  readonly clock: { nowMs(): number };
}

type Failed = Pick<
  Exchange,
  | "requestId"
  | "endpoint"
  | "dialect"
  | "model"
  | "askedModel"
  | "refusedFor"
  | "key"
  | "charge"
  | "startedMs"
> &
  Partial<Pick<Exchange, "trace">>;

/**
 * A request that did not get what it asked for: one line in the log, and one count. Where it was
 * refused, and has no receipt, also a record of it.
 */
export function noteFailure(
  dependencies: FailureDependencies,
  exchange: Failed,
  error: ApiError,
): void {
  const isLeft = isCallerLeft(error);
  if (!hasReceipt(exchange, error)) {
    const outcome = isLeft ? "left" : error.code;
    dependencies.replyCounter.count(exchange, outcome);
    exchange.trace?.endWithout(exchange, {
      outcome,
      status: isLeft ? undefined : error.status,
      nowMs: dependencies.clock.nowMs(),
    });
    if (error.status < 500) {
      dependencies.replyCounter.countRejection(error);
      dependencies.rejections.add(exchange, error);
    }
  }
  logFailure(dependencies, exchange, error);
}

/** One that could not be written, and of which nothing was delivered, is taken back. */
function hasReceipt({ charge }: Failed, { cause }: ApiError): boolean {
  return charge !== undefined && !(cause instanceof JournalError && cause.isTakenBack);
}

/** Failures of ours and of upstreams; never a prompt, a reply, a key or what an upstream wrote. */
function logFailure({ log, clock }: FailureDependencies, exchange: Failed, error: ApiError): void {
  const { requestId, endpoint, model, key, charge, startedMs } = exchange;
  const fields = {
    request_id: requestId,
    endpoint,
    model: model?.id,
    provider: charge?.provider,
    code: error.code,
    status: error.status,
    attempts: charge?.attempts ?? 0,
    duration_ms: Math.max(0, clock.nowMs() - startedMs),
    account_id: key?.accountId,
    key_id: key?.id,
    trace_id: exchange.trace?.recordedId,
    detail: detailOf(error),
  };
  if (isCallerLeft(error)) return log.debug("caller disconnected", fields);
  const fault = faultOf(error.code);
  switch (fault) {
    case "caller":
      return log.debug("request rejected", fields);
    case "upstream":
      return log.warn("request failed", fields);
    case "gateway":
      // Not a defect: the server is stopping, or callers send more than it can hold.
      if (error.code === "shutting_down" || error.code === "gateway_overloaded")
        return log.warn("request failed", fields);
      return log.error("request failed", fields);
    default:
      return fault satisfies never;
  }
}

const mostFrames = 8;

/**
 * Unexpected exceptions are logged with their stack location only: their message may quote a prompt
 * or a reply.
 */
function detailOf({ code, cause, detail }: ApiError): string | undefined {
  if (code !== "internal_error" || cause === undefined) return detail;
  if (!(cause instanceof Error)) return "a value that is not an Error was thrown";
  const frames = (cause.stack ?? "").split("\n").filter((line) => /^\s*at /.test(line));
  return [cause.name, ...frames.slice(0, mostFrames).map((frame) => frame.trim())].join(" ");
}

export function notProvided(model: Model): ApiError {
  return new ApiError({
    code: "upstream_unavailable",
    message:
      "The model is unavailable. If this continues, give the operator the x-request-id of this response.",
    detail: `a provider of ${model.id} does not support ${model.endpoint}`,
  });
}
