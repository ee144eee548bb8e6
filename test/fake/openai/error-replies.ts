/** Refusals and failures of vendors, before any answer has begun. */

import { httpReply, type JsonReplyOptions, jsonReply, type Recording } from "../http/reply.ts";

interface VendorError {
  readonly message: string;
  readonly type?: string;
  readonly param?: string | null;
  readonly code?: string | number | null;
}

/** Any status with any JSON body. */
export function errorReply(options: JsonReplyOptions & { readonly status: number }): Recording {
  return jsonReply(options);
}

/** In the shape of OpenAI. */
export function vendorError(
  status: number,
  options: VendorError & { readonly headers?: Readonly<Record<string, string>> },
): Recording {
  const { message, type = "invalid_request_error", param = null, code = null } = options;
  const body = { error: { message, type, param, code } };
  return errorReply({ status, body, headers: options.headers ?? {} });
}

export const badRequests = {
  plain: () =>
    vendorError(400, {
      message: "Invalid 'temperature': must be at most 2.",
      param: "temperature",
      code: "decimal_above_max_value",
    }),
  contextTooLong: () =>
    vendorError(400, {
      message: "This model's maximum context length is 128000 tokens.",
      param: "messages",
      code: "context_length_exceeded",
    }),
  anthropicTooLong: () =>
    errorReply({
      status: 400,
      body: {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "prompt is too long: 210000 tokens > 200000 maximum",
        },
        request_id: "req_vendor",
      },
    }),
  llamaContextTooLong: () =>
    errorReply({
      status: 400,
      body: {
        error: {
          code: 400,
          message: "the request exceeds the available context size, try increasing it",
          type: "exceed_context_size_error",
          n_prompt_tokens: 9001,
          n_ctx: 4096,
        },
      },
    }),
  contentFilter: () =>
    vendorError(400, {
      message: "The response was filtered due to the prompt triggering the content policy.",
      param: "prompt",
      code: "content_filter",
    }),
  unprocessable: () => vendorError(422, { message: "Unprocessable entity." }),
} as const;

/** What is wrong between the operator and the vendor; the caller can do nothing about it. */
export const operatorErrors = {
  /** Vendors echo the key they were given, masked or not. */
  badKey: () =>
    vendorError(401, {
      message: "Incorrect API key provided: sk-vendor****cret.",
      code: "invalid_api_key",
    }),
  outOfMoney: () =>
    vendorError(402, { message: "Insufficient balance.", code: "credit_balance_exhausted" }),
  forbidden: () =>
    vendorError(403, { message: "Country not supported.", code: "unsupported_country" }),
  modelMissing: () =>
    vendorError(404, {
      message: "The model `gpt-9` does not exist or you do not have access to it.",
      code: "model_not_found",
    }),
  outOfQuota: () =>
    vendorError(429, {
      message: "You exceeded your current quota, please check your plan and billing details.",
      type: "insufficient_quota",
      code: "insufficient_quota",
    }),
  redirect: (location = "http://127.0.0.1:9/v1/elsewhere") =>
    httpReply({ status: 302, headers: { location }, body: [], framing: "length" }),
} as const;

export const rateLimits = {
  seconds: (seconds = 7) => rateLimited({ "retry-after": String(seconds) }),
  milliseconds: (ms = 1_500) => rateLimited({ "retry-after-ms": String(ms), "retry-after": "2" }),
  millisecondsAlone: (ms = 1_500) => rateLimited({ "retry-after-ms": String(ms) }),
  date: (date: Date) => rateLimited({ "retry-after": date.toUTCString() }),
  withoutHint: () => rateLimited({}),
} as const;

/** Failures that another target, or the same one a little later, may not have. */
export const failures = {
  timeout: () => vendorError(408, { message: "Request timed out.", type: "timeout" }),
  internal: () => vendorError(500, { message: "The server had an error.", type: "server_error" }),
  htmlBadGateway: () =>
    httpReply({
      status: 502,
      headers: { "content-type": "text/html" },
      body: [
        "<html><head><title>502 Bad Gateway</title></head><body>nginx/1.27.1</body></html>\r\n",
      ],
      framing: "length",
    }),
  unavailable: (retryAfterSeconds?: number) =>
    vendorError(503, {
      message: "The engine is currently overloaded, please try again later.",
      type: "server_error",
      headers: retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
    }),
  llamaLoading: () =>
    errorReply({
      status: 503,
      body: { error: { code: 503, message: "Loading model", type: "unavailable_error" } },
    }),
  gatewayTimeout: () => vendorError(504, { message: "Deadline exceeded.", type: "server_error" }),
  overloaded: () =>
    errorReply({
      status: 529,
      body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    }),
} as const;

function rateLimited(headers: Readonly<Record<string, string>>): Recording {
  return vendorError(429, {
    message: "Rate limit reached for gpt-4o-mini in organization org-of-the-operator.",
    type: "requests",
    code: "rate_limit_exceeded",
    headers: {
      "x-ratelimit-limit-requests": "500",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "7s",
      ...headers,
    },
  });
}
