import { ApiError, type ErrorCode } from "../../base/errors.ts";

/** What an upstream said when it did not do what it was asked. */
export interface UpstreamFailure {
  readonly provider: string;
  readonly status: number;
  readonly headers?: Headers;
  /** The start of its body. */
  readonly body: string;
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
  const said = readErrorBody(failure.body);
  const code = failureCode(failure.status, said);
  if (failure.isOwn === true && failure.status === 400)
    return new ApiError({
      code: code === "context_length_exceeded" ? code : "invalid_request",
      message: said.words,
      param: said.param,
    });
  const waits = code === "upstream_rate_limited" || code === "upstream_overloaded";
  return upstreamError(code, {
    // Messages are left out: upstreams quote keys and prompts in them.
    detail: `${failure.provider} answered ${failure.status}${said.code === "" ? "" : ` (${said.code})`}`,
    retryAfterMs: waits ? retryAfterMs(failure.headers) : undefined,
  });
}

export function upstreamError(
  code: ErrorCode,
  {
    detail,
    retryAfterMs,
    cause,
  }: { detail: string; retryAfterMs?: number | undefined; cause?: unknown },
): ApiError {
  return new ApiError({
    code,
    message: words[code] ?? "The model failed to answer.",
    detail,
    retryAfterMs,
    cause,
  });
}

interface Said {
  /** Lower-case words of code, type and status. */
  readonly code: string;
  /** Lower-case, to look for words in. */
  readonly message: string;
  /** As they were said. */
  readonly words: string;
  readonly param: string | undefined;
}

const nothingSaid: Said = { code: "", message: "", words: "", param: undefined };

function failureCode(status: number, said: Said): ErrorCode {
  if (status === 400 || status === 413 || status === 422) return refusalCode(said);
  if (status === 429) return isOutOfMoney(said) ? "upstream_unavailable" : "upstream_rate_limited";
  if (status === 503 || status === 529) return "upstream_overloaded";
  if (status === 408 || status === 504) return "upstream_timeout";
  if (status === 401 || status === 402 || status === 403 || status === 404)
    return "upstream_unavailable";
  return "upstream_error";
}

function refusalCode({ code, message }: Said): ErrorCode {
  if (/context_length|exceed_context|context_window/.test(code)) return "context_length_exceeded";
  if (/maximum context length|context (size|window|length)|prompt is too long/.test(message))
    return "context_length_exceeded";
  if (/content_filter|content_policy|safety/.test(code)) return "content_filtered";
  if (/api_key_invalid/.test(code)) return "upstream_unavailable";
  return "upstream_rejected";
}

function isOutOfMoney({ code }: Said): boolean {
  return /insufficient_quota|credit_balance|billing/.test(code);
}

function readErrorBody(body: string): Said {
  try {
    const parsed: unknown = JSON.parse(body);
    const error = isRecord(parsed) && isRecord(parsed["error"]) ? parsed["error"] : parsed;
    if (!isRecord(error)) return nothingSaid;
    // Single words only: what has blanks in it may be a sentence with somebody's text.
    const code = [error["code"], error["type"], error["status"], error["error_type"]].filter(
      (word) => typeof word === "string" && /^[\w.-]{1,60}$/.test(word),
    );
    const message = error["message"] ?? error["error"];
    const words = typeof message === "string" ? message : "";
    const param = error["param"];
    return {
      words,
      param: typeof param === "string" ? param : undefined,
      code: code.join(" ").toLowerCase(),
      message: words.toLowerCase(),
    };
  } catch {
    return { ...nothingSaid, message: body.slice(0, 500).toLowerCase() };
  }
}

const waitUnknownMs = 2_000;

/** `retry-after-ms` before `Retry-After` (seconds or a date); between 1 s and 60 s. */
export function retryAfterMs(headers: Headers | undefined, nowMs = Date.now()): number {
  const bounded = (ms: number) => Math.min(60_000, Math.max(1_000, Math.ceil(ms)));
  const exact = Number(headers?.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact)) return bounded(exact);
  const text = headers?.get("retry-after");
  if (text === null || text === undefined) return waitUnknownMs;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return bounded(seconds * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? waitUnknownMs : bounded(date - nowMs);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
