import type { ApiError } from "../../base/errors.ts";
import type { ErrorReply } from "./replies.ts";

/** The one shape of errors, on every path and in streams: all four keys, always. */
export function toErrorBody({ message, type, param, code }: ApiError): ErrorReply {
  return { error: { message, type, param, code } };
}

const defaultWaitMs = 1_000;

/** Tells clients when to try again, in both forms they read, or that it is of no use. */
export function setRetryHeaders(headers: Headers, error: ApiError): void {
  if (!error.retryable) return headers.set("x-should-retry", "false");
  if (error.status !== 429 && error.status !== 503) return;
  const waitMs = Math.max(1, error.retryAfterMs ?? defaultWaitMs);
  headers.set("retry-after", String(Math.min(60, Math.max(1, Math.ceil(waitMs / 1000)))));
  headers.set("retry-after-ms", String(Math.min(60_000, waitMs)));
}
