import { promptTooLong } from "../../base/context-length.ts";
import { ApiError, type ErrorCode, type UpstreamTrouble } from "../../base/errors.ts";
import { tryAgainIn } from "../../base/text/try-again.ts";
import { contextSizesIn } from "./context-sizes.ts";
import { type ReplyHeaders, readErrorBody, toldDelayMs } from "./error-body.ts";
import { verdictOf } from "./failure-rules.ts";
import { remedyOf } from "./remedy.ts";

/** What an upstream sent when it did not serve a call. */
export interface UpstreamFailure {
  readonly provider: string;
  readonly status: number;
  readonly headers?: ReplyHeaders;
  /** The start of its body as text, or an error that was told inside a reply, parsed. */
  readonly body: unknown;
  /** Our own engine: its words hold no vendor, key or address, and name the field at fault. */
  readonly isOwn?: boolean;
  /** The server where the provider signs in answered so. */
  readonly isSignIn?: boolean;
}

const words: Readonly<Partial<Record<ErrorCode, string>>> = {
  content_filtered: "The model's content filter rejected this request. Change the input.",
  upstream_rejected:
    "The model rejected this request. Check its parameters, such as tools, images, or response_format.",
  upstream_rate_limited: "The model is receiving too many requests.",
  upstream_overloaded: "The model is overloaded or still starting.",
  upstream_unavailable:
    "The model is unavailable. If this continues, give the operator the x-request-id of this response.",
  upstream_timeout: "The model took too long to respond. Try again.",
  upstream_error: "The model failed to respond. Try again.",
};

/**
 * The caller learns what happened in our words; which upstream failed stays in `detail`, because
 * it may name the vendor or its address. An upstream's 401 or empty purse is
 * the operator's affair and never looks like the caller's.
 */
export function toApiFailure(failure: UpstreamFailure): ApiError {
  const said = readErrorBody(failure.body, failure.headers);
  const { code, reason, byInput } = verdictOf(failure.status, said);
  if (failure.isOwn === true && failure.status === 400)
    return new ApiError({
      code: code === "context_length_exceeded" ? code : "invalid_request",
      message: said.words,
      param: said.param,
    });
  const { provider, status, headers, isSignIn } = failure;
  return upstreamError(code, {
    message: code === "context_length_exceeded" ? promptTooLong(contextSizesIn(said)) : undefined,
    // Messages are left out: upstreams quote keys and prompts in them.
    detail: `${placeName(provider, isSignIn)} returned ${status}${said.code === "" ? "" : ` (${said.code})`}`,
    reason,
    status,
    vendorCode: said.code === "" ? undefined : said.code,
    delayMs: toldDelayMs(headers) ?? said.delayMs,
    isReply: byInput,
    isSignIn,
    remedy: remedyOf(said),
  });
}

/** It has no such path, or its model is not served there. */
export const isUnserved = ({ upstream: { reason, status } = { reason: "failed" } }: ApiError) =>
  reason === "missing" || status === 405 || status === 501;

/** For the log: who answered. */
export function placeName(provider: string, isSignIn = false): string {
  return isSignIn ? `${provider} (sign-in)` : provider;
}

interface UpstreamErrorOptions extends Partial<UpstreamTrouble> {
  /** Absent: that of its code. */
  readonly message?: string | undefined;
  readonly detail: string;
  readonly cause?: unknown;
}

export function upstreamError(
  code: ErrorCode,
  { message: own, detail, cause, reason = "failed", ...trouble }: UpstreamErrorOptions,
): ApiError {
  const waits = code === "upstream_rate_limited" || code === "upstream_overloaded";
  const message = own ?? words[code] ?? "The model failed to respond. Try again.";
  const retryAfterMs = waits ? boundedWaitMs(trouble.delayMs) : undefined;
  return new ApiError({
    code,
    message: retryAfterMs === undefined ? message : `${message} ${tryAgainIn(retryAfterMs)}`,
    detail,
    retryAfterMs,
    upstream: { reason, ...trouble },
    cause,
  });
}

const waitUnknownMs = 2_000;

/** What a caller is told to wait: between 1 s and 60 s. */
export function boundedWaitMs(delayMs: number | undefined): number {
  return Math.min(60_000, Math.max(1_000, Math.ceil(delayMs ?? waitUnknownMs)));
}
