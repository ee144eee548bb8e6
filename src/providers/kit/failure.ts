import { ApiError, type ErrorCode, type UpstreamReason } from "../../base/errors.ts";
import { readErrorBody, type Said, toldDelayMs } from "./error-body.ts";

/** What an upstream said when it did not do what it was asked. */
export interface UpstreamFailure {
  readonly provider: string;
  readonly status: number;
  readonly headers?: Headers;
  /** The start of its body as text, or an error that was told inside a reply, parsed. */
  readonly body: unknown;
  /** Our own engine: its words hold no vendor, key or address, and name the field at fault. */
  readonly isOwn?: boolean;
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
  const { code, reason } = verdict(failure.status, said);
  if (failure.isOwn === true && failure.status === 400)
    return new ApiError({
      code: code === "context_length_exceeded" ? code : "invalid_request",
      message: said.words,
      param: said.param,
    });
  return upstreamError(code, {
    // Messages are left out: upstreams quote keys and prompts in them.
    detail: `${failure.provider} answered ${failure.status}${said.code === "" ? "" : ` (${said.code})`}`,
    reason,
    delayMs: toldDelayMs(failure.headers) ?? said.delayMs,
    isReply: reason === "timeout" ? true : undefined,
  });
}

export function upstreamError(
  code: ErrorCode,
  {
    detail,
    reason = "failed",
    delayMs,
    isReply,
    cause,
  }: {
    readonly detail: string;
    readonly reason?: UpstreamReason;
    /** How long the upstream asks to be left alone. */
    readonly delayMs?: number | undefined;
    readonly isReply?: boolean | undefined;
    readonly cause?: unknown;
  },
): ApiError {
  const waits = code === "upstream_rate_limited" || code === "upstream_overloaded";
  return new ApiError({
    code,
    message: words[code] ?? "The model failed to answer.",
    detail,
    retryAfterMs: waits ? boundedWaitMs(delayMs) : undefined,
    upstream: isReply === undefined ? { reason, delayMs } : { reason, delayMs, isReply },
    cause,
  });
}

interface Verdict {
  readonly code: ErrorCode;
  readonly reason: UpstreamReason;
}

const outOfMoney: Verdict = { code: "upstream_unavailable", reason: "quota" };
const badKey: Verdict = { code: "upstream_unavailable", reason: "auth" };
const missing: Verdict = { code: "upstream_unavailable", reason: "missing" };
const overloaded: Verdict = { code: "upstream_overloaded", reason: "overloaded" };

function verdict(status: number, said: Said): Verdict {
  // Too much for what is left, by the caller's own wish: who asks for less may be served.
  if (status === 402 && /fewer max_tokens/.test(said.message))
    return { code: "upstream_unavailable", reason: "failed" };
  if (status === 402 || isOutOfMoney(status, said)) return outOfMoney;
  if (said.isModerated) return { code: "content_filtered", reason: "refused" };
  switch (status) {
    case 400:
    case 413:
    case 422:
      return refusal(said);
    case 401:
    case 403:
      return badKey;
    case 404:
      return missing;
    case 408:
    case 504:
      return { code: "upstream_timeout", reason: "timeout" };
    case 429:
      // One that is still being loaded answers as if we were too many.
      return /modelnotready/.test(said.code)
        ? overloaded
        : { code: "upstream_rate_limited", reason: "limited" };
    case 503:
    case 529:
      return overloaded;
    default:
      return { code: "upstream_error", reason: "failed" };
  }
}

function refusal({ code, message }: Said): Verdict {
  const refused = (word: ErrorCode): Verdict => ({ code: word, reason: "refused" });
  if (/context_length|exceed_context|context_window/.test(code))
    return refused("context_length_exceeded");
  if (isTooLong.test(message)) return refused("context_length_exceeded");
  if (/content_filter|content_policy|safety/.test(code) || /content filtering policy/.test(message))
    return refused("content_filtered");
  // One vendor answers 400 to a bad key, and to callers from places that it does not serve.
  if (
    /api_key_invalid|failed_precondition/.test(code) ||
    /^api key (not valid|expired)/.test(message)
  )
    return badKey;
  // Another answers 400 to a model that it does not have, or not in this way.
  if (
    code.includes("validationexception") &&
    /model identifier is invalid|on-demand throughput isn.t supported/.test(message)
  )
    return missing;
  return refused("upstream_rejected");
}

const isTooLong =
  /maximum context length|context (size|window|length|limit)|(prompt|input) is too long|input token count|tokens \+ .?max_new_tokens|exceeds the maximum number of tokens/;

/**
 * Of the operator: a purse that is empty, or a quota of a day. A quota of a minute is a limit. Words are
 * looked for where a vendor's sentence begins: behind that may stand what a caller has sent.
 */
function isOutOfMoney(status: number, { code, message, quotas }: Said): boolean {
  if (/insufficient_quota|credit_balance|billing|servicequotaexceeded/.test(code)) return true;
  if (message.startsWith("your credit balance is too low") || /perday/.test(quotas)) return true;
  if (code.includes("throttling") && /tokens per day/.test(message)) return true;
  // One vendor says these words of every quota, and which one in its details.
  return (
    status === 429 &&
    message.startsWith("you exceeded your current quota, please check your plan") &&
    !code.includes("resource_exhausted")
  );
}

const waitUnknownMs = 2_000;

/** What a caller is told to wait: between 1 s and 60 s. */
export function boundedWaitMs(delayMs: number | undefined): number {
  return Math.min(60_000, Math.max(1_000, Math.ceil(delayMs ?? waitUnknownMs)));
}
