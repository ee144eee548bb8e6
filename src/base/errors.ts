/**
 * Every error a caller can meet, in one list. docs/errors.md explains each of them, and a test
 * holds the two together both ways.
 */
export interface ErrorKind {
  readonly status: number;
  readonly type: string;
  /** Whether the same request may succeed later; if not, the reply asks clients not to retry. */
  readonly retryable: boolean;
  /** The endpoints whose contract has no 403 answer with 400 instead. */
  readonly statusOffChat?: number;
}

const invalid = { status: 400, type: "invalid_request_error", retryable: false } as const;
const upstream = { type: "upstream_error", retryable: true } as const;
const money = { status: 402, type: "insufficient_quota", retryable: false } as const;
const repeated = { status: 409, type: "idempotency_error" } as const;
const server = { type: "server_error", retryable: true } as const;

export const errorKinds = {
  invalid_json: invalid,
  invalid_request: invalid,
  context_length_exceeded: invalid,
  content_filtered: invalid,
  upstream_rejected: invalid,
  wrong_endpoint: invalid,
  invalid_api_key: { ...invalid, status: 401 },
  insufficient_quota: money,
  budget_exceeded: money,
  account_suspended: money,
  model_not_allowed: { ...invalid, status: 403, type: "permission_error", statusOffChat: 400 },
  model_retired: { ...invalid, status: 403, type: "permission_error", statusOffChat: 400 },
  not_found: { ...invalid, status: 404 },
  model_not_found: { ...invalid, status: 404 },
  response_not_found: { ...invalid, status: 404 },
  method_not_allowed: { ...invalid, status: 405 },
  idempotency_in_progress: { ...repeated, retryable: true },
  idempotency_key_reused: { ...repeated, retryable: false },
  idempotency_reply_not_kept: { ...repeated, retryable: false },
  request_too_large: { ...invalid, status: 413 },
  unsupported_media_type: { ...invalid, status: 415 },
  rate_limit_exceeded: { status: 429, type: "rate_limit_error", retryable: true },
  upstream_rate_limited: { status: 429, type: "rate_limit_error", retryable: true },
  internal_error: { ...server, status: 500 },
  gateway_overloaded: { ...server, status: 503 },
  upstream_error: { ...upstream, status: 502 },
  upstream_unavailable: { ...upstream, status: 502 },
  upstream_overloaded: { ...upstream, status: 503 },
  model_loading: { ...server, status: 503 },
  shutting_down: { ...server, status: 503 },
  store_unavailable: { ...server, status: 503 },
  upstream_timeout: { ...upstream, status: 504 },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

/** The side that can fix the error. */
type Fault = "caller" | "upstream" | "gateway";

export function faultOf(code: ErrorCode): Fault {
  const { type, status } = errorKinds[code];
  if (type === "upstream_error" || code === "upstream_rate_limited" || code === "model_loading")
    return "upstream";
  return status >= 500 ? "gateway" : "caller";
}

/** Why an upstream did not serve a call, for the code that picks the next target. */
export type UpstreamReason =
  | "auth"
  | "quota"
  | "missing"
  | "limited"
  | "overloaded"
  | "timeout"
  | "unreachable"
  | "failed"
  | "refused";

/** What our own side saw of a failure, where that says more than the reason. */
export type UpstreamSymptom =
  | "unsendable_key"
  /** Of the operator's own network, which was not allowed. */
  | "private_address"
  /** Link-local, or where a cloud keeps credentials. */
  | "forbidden_address"
  | "unknown_name"
  | "unconnected"
  /** It sent something other than JSON, such as a web page. */
  | "not_an_api";

/** What would be served in place of what an upstream refused, where its words say so. */
export type UpstreamRemedy =
  /** The model has no chat completions, only Responses. */
  | "responses"
  /** The model takes tools only in Responses, unless it is asked not to reason. */
  | "responses-for-tools"
  /** Encrypted reasoning of an earlier answer that it cannot read. */
  | "no-encrypted-reasoning"
  /** The model has no reasoning to encrypt, or the account may see no summaries of it. */
  | "no-reasoning-include"
  | "no-reasoning-summary"
  /** The server does not know `cache_control`. */
  | "no-cache-control";

export interface UpstreamTrouble {
  readonly reason: UpstreamReason;
  /** The status that the upstream answered with, if it answered. */
  readonly status?: number | undefined;
  /** Its words of code, such as `invalid_api_key`; never its sentences. */
  readonly vendorCode?: string | undefined;
  readonly symptom?: UpstreamSymptom | undefined;
  readonly remedy?: UpstreamRemedy | undefined;
  /** The time limit of ours that passed. */
  readonly withinMs?: number | undefined;
  /** It was the server where the provider signs in, and not the provider's own. */
  readonly isSignIn?: boolean | undefined;
  /** How long the upstream asks to be left alone, if it does. */
  readonly delayMs?: number | undefined;
  /** It answered so to this request, and what the caller sent can be the cause. */
  readonly isReply?: boolean | undefined;
}

export interface ApiErrorOptions {
  readonly code: ErrorCode;
  /** For the caller: what is wrong and what to do next. Never a vendor, key or address. */
  readonly message: string;
  readonly param?: string | undefined;
  /** For the operator's log only. */
  readonly detail?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Where this one is otherwise than its kind. */
  readonly retryable?: boolean | undefined;
  /** The earlier request that this one repeats. */
  readonly firstRequestId?: string | undefined;
  /** Set by endpoints whose contract has no 403. */
  readonly offChat?: boolean | undefined;
  readonly upstream?: UpstreamTrouble | undefined;
  readonly cause?: unknown;
}

/** The one error class. Only wire/v1/error-reply turns it into bytes. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly retryable: boolean;
  readonly param: string | null;
  readonly detail: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly firstRequestId: string | undefined;
  /** Set where an upstream failed. */
  readonly upstream: UpstreamTrouble | undefined;

  constructor(options: ApiErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    const kind: ErrorKind = errorKinds[options.code];
    this.code = options.code;
    const moved = options.offChat === true && kind.statusOffChat !== undefined;
    this.status = moved ? (kind.statusOffChat ?? kind.status) : kind.status;
    this.type = moved ? invalid.type : kind.type;
    this.retryable = options.retryable ?? kind.retryable;
    this.param = options.param ?? null;
    this.detail = options.detail;
    this.retryAfterMs = options.retryAfterMs;
    this.firstRequestId = options.firstRequestId;
    this.upstream = options.upstream;
  }
}

/** Anything thrown becomes an ApiError; unexpected exceptions are the gateway's fault, not the caller's. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return new ApiError({
    code: "internal_error",
    message: "Internal error in the gateway. Give the operator the x-request-id of this response.",
    detail: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    cause: thrown,
  });
}
