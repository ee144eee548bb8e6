import type { ApiError } from "../../base/errors.ts";
import type { ErrorReply } from "./openapi/replies.ts";

/** The one shape of errors, on every path and in streams: all four keys, always. */
export function toErrorBody({
  message,
  type,
  param,
  code,
}: Pick<ApiError, "message" | "type" | "param" | "code">): ErrorReply {
  return { error: { message, type, param, code } };
}

const defaultWaitMs = 1_000;
/** Clients take no longer wait from an upstream's word; our own limits know what they say. */
const longestWaitMs = 60_000;

/** Tells clients when to try again, in both forms they read, or that it is of no use. */
export function setRetryHeaders(headers: Headers, error: ApiError): void {
  const { firstRequestId, status } = error;
  if (firstRequestId !== undefined) headers.set("x-original-request-id", firstRequestId);
  if (!error.retryable) return headers.set("x-should-retry", "false");
  if (status !== 429 && status !== 503 && status !== 409) return;
  const longestMs = error.code === "rate_limit_exceeded" ? Number.POSITIVE_INFINITY : longestWaitMs;
  const waitMs = Math.min(longestMs, Math.max(1, Math.ceil(error.retryAfterMs ?? defaultWaitMs)));
  headers.set("retry-after", String(Math.max(1, Math.ceil(waitMs / 1000))));
  headers.set("retry-after-ms", String(waitMs));
}
