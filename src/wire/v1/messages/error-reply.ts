import type { ApiError, ErrorCode } from "../../../base/errors.ts";

/** An error in the Messages format. `code` and `param` are ours, as in the other formats. */
export interface MessagesError {
  readonly type: "error";
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly code: ErrorCode;
    readonly param: string | null;
    readonly details?: Readonly<Record<string, string | readonly string[]>>;
  };
  readonly request_id: string;
}

/** By these words, SDKs send the whole conversation instead of what was added to it. */
const unthreaded = { error_code: "thread_unsupported_request", unsupported: ["thread"] };

/** Where the status alone is ambiguous. */
const typesByCode: Readonly<Partial<Record<ErrorCode, string>>> = {
  gateway_overloaded: "overloaded_error",
  upstream_overloaded: "overloaded_error",
  model_loading: "overloaded_error",
};

const typesByStatus: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
};

/**
 * Anthropic's status for an overloaded model. SDKs have an error class for it, and Claude Code may take
 * its fallback model. The gateway's own overload stays 503: another model would not help.
 */
export const messagesStatus = ({ code, status }: Pick<ApiError, "code" | "status">) =>
  code === "upstream_overloaded" ? 529 : status;

export function toMessagesError(
  { code, status, message, param }: Pick<ApiError, "code" | "status" | "message" | "param">,
  requestId: string,
): MessagesError {
  const usual = status >= 500 ? "api_error" : "invalid_request_error";
  const type = typesByCode[code] ?? typesByStatus[status] ?? usual;
  const error = {
    type,
    message,
    code,
    param,
    ...(param === "thread" ? { details: unthreaded } : {}),
  };
  return { type: "error", error, request_id: requestId };
}
