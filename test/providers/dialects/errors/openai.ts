/** How OpenAI and compatible servers refuse and fail. */

import type {
  Dialect,
  ErrorClass,
  ErrorOptions,
  OddError,
  StreamFault,
  VendorReply,
  Wait,
} from "../../dialect.ts";

interface Said {
  readonly status: number;
  readonly message: string;
  readonly type?: string | null;
  readonly code?: string | number | null;
  readonly headers?: Readonly<Record<string, string>>;
}

function vendorError(said: Said, { words }: Pick<ErrorOptions, "words">): VendorReply {
  const { status, message, type = "invalid_request_error", code = null, headers } = said;
  const error = { message: `${message} ${words}`, type, param: null, code };
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    packets: [JSON.stringify({ error })],
  };
}

const classes: Readonly<Partial<Record<ErrorClass, Said>>> = {
  badKey: { status: 401, message: "Incorrect API key provided:", code: "invalid_api_key" },
  noPermission: { status: 403, message: "Country not supported.", code: "unsupported_country" },
  outOfMoney: {
    status: 429,
    message: "You exceeded your current quota, please check your plan and billing details.",
    type: "insufficient_quota",
    code: "insufficient_quota",
  },
  overloaded: { status: 503, message: "The engine is currently overloaded.", type: "server_error" },
  loading: { status: 503, message: "Loading model", type: "unavailable_error", code: 503 },
  modelMissing: {
    status: 404,
    message: "The model does not exist or you do not have access to it.",
    code: "model_not_found",
  },
  badRequest: { status: 400, message: "Invalid 'temperature'.", code: "decimal_above_max_value" },
  tooLong: {
    status: 400,
    message: "This model's maximum context length is 128000 tokens.",
    code: "context_length_exceeded",
  },
  blocked: {
    status: 400,
    message: "The response was filtered due to the prompt triggering the content policy.",
    code: "content_filter",
  },
  serverError: { status: 500, message: "The server had an error.", type: "server_error" },
  requestTimeout: { status: 408, message: "Request timed out.", type: "timeout" },
  gatewayTimeout: { status: 504, message: "Deadline exceeded.", type: "server_error" },
};

function rateLimited({ form, delayMs, date }: Wait, options: ErrorOptions) {
  const seconds = String(Math.ceil(delayMs / 1000));
  const headers = {
    none: {},
    // The coarser one beside it, as Azure sends them.
    milliseconds: { "retry-after-ms": String(delayMs), "retry-after": "60" },
    seconds: { "retry-after": seconds },
    date: { "retry-after": date.toUTCString() },
    body: undefined,
  }[form];
  if (headers === undefined) return undefined;
  const code = "rate_limit_exceeded";
  const message = "Rate limit reached for requests.";
  return vendorError({ status: 429, message, type: "requests", code, headers }, options);
}

const rejected = { code: "upstream_rejected", reason: "refused" } as const;

const odd = (name: string, said: Said, expected: OddError["expected"]): OddError => ({
  name,
  reply: (options) => vendorError(said, options),
  expected,
});

const oddErrors: readonly OddError[] = [
  odd("a body too large", { status: 413, message: "Request body too large." }, rejected),
  odd(
    "an overload with a status of its own",
    { status: 529, message: "Overloaded.", type: "overloaded_error" },
    { code: "upstream_overloaded", reason: "overloaded" },
  ),
  odd(
    "an overload that tells when it is over",
    { status: 503, message: "Busy.", type: "server_error", headers: { "retry-after": "3" } },
    { code: "upstream_overloaded", reason: "overloaded", delayMs: 3_000 },
  ),
  odd(
    "a limit told in a reply of status 200",
    { status: 200, message: "Slow down.", code: 429 },
    { code: "upstream_rate_limited", reason: "limited" },
  ),
  odd(
    "a failure told in a reply of status 200",
    { status: 200, message: "No.", code: 500 },
    { code: "upstream_error", reason: "failed" },
  ),
];

const faults: Readonly<Record<StreamFault, object>> = {
  failed: { message: "The server had an error", type: "server_error", param: null, code: null },
  overloaded: { message: "The engine is overloaded", type: "overloaded_error", code: null },
  limited: { message: "Rate limit reached", type: "requests", code: "rate_limit_exceeded" },
};

export const openAiErrors: Pick<Dialect, "error" | "rateLimited" | "oddErrors" | "fault"> = {
  error: (kind, options) => {
    const said = classes[kind];
    return said === undefined ? undefined : vendorError(said, options);
  },
  rateLimited,
  oddErrors,
  fault: (kind, words) => {
    const error = faults[kind];
    const message = "message" in error ? `${String(error.message)} ${words}` : words;
    return `data: ${JSON.stringify({ error: { ...error, message } })}\n\n`;
  },
};
