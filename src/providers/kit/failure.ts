import { ApiError, type ErrorCode, type UpstreamTrouble } from "../../base/errors.ts";
import { readErrorBody, toldDelayMs } from "./error-body.ts";
import { verdictOf } from "./failure-rules.ts";

/** What an upstream said when it did not do what it was asked. */
export interface UpstreamFailure {
  readonly provider: string;
  readonly status: number;
  readonly headers?: Headers;
  /** The start of its body as text, or an error that was told inside a reply, parsed. */
  readonly body: unknown;
  /** Our own engine: its words hold no vendor, key or address, and name the field at fault. */
  readonly isOwn?: boolean;
  /** The server where the provider signs in answered so. */
  readonly isSignIn?: boolean;
}

const words: Readonly<Partial<Record<ErrorCode, string>>> = {
  // LangChain looks for "maximum context length" in the words, not for the code.
  context_length_exceeded:
    "The conversation is longer than this model's maximum context length. Shorten it, or ask for fewer output tokens.",
  content_filtered: "The model's content filter refused this request.",
  upstream_rejected:
    "The model does not accept this request. Check the values it was sent, such as tools, images or response_format.",
  upstream_rate_limited:
    "The model is receiving too many requests just now. Try again after the time in Retry-After.",
  upstream_overloaded:
    "The model is overloaded or still starting. Try again after the time in Retry-After.",
  upstream_unavailable:
    "The model cannot be reached at present. The operator finds the reason in the log.",
  upstream_timeout: "The model took too long to answer.",
  upstream_error: "The model failed to answer.",
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
    // Messages are left out: upstreams quote keys and prompts in them.
    detail: `${placeName(provider, isSignIn)} answered ${status}${said.code === "" ? "" : ` (${said.code})`}`,
    reason,
    status,
    vendorCode: said.code === "" ? undefined : said.code,
    delayMs: toldDelayMs(headers) ?? said.delayMs,
    isReply: byInput,
    isSignIn,
  });
}

/** In the log's words, whose answer it was. */
export function placeName(provider: string, isSignIn = false): string {
  return isSignIn ? `${provider} (sign-in)` : provider;
}

interface UpstreamErrorOptions extends Partial<UpstreamTrouble> {
  readonly detail: string;
  readonly cause?: unknown;
}

export function upstreamError(
  code: ErrorCode,
  { detail, cause, reason = "failed", ...trouble }: UpstreamErrorOptions,
): ApiError {
  const waits = code === "upstream_rate_limited" || code === "upstream_overloaded";
  return new ApiError({
    code,
    message: words[code] ?? "The model failed to answer.",
    detail,
    retryAfterMs: waits ? boundedWaitMs(trouble.delayMs) : undefined,
    upstream: { reason, ...trouble },
    cause,
  });
}

const waitUnknownMs = 2_000;

/** What a caller is told to wait: between 1 s and 60 s. */
export function boundedWaitMs(delayMs: number | undefined): number {
  return Math.min(60_000, Math.max(1_000, Math.ceil(delayMs ?? waitUnknownMs)));
}
