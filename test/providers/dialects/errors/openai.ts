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
const tooLong = { code: "context_length_exceeded", reason: "refused" } as const;
const outOfMoney = { code: "upstream_unavailable", reason: "quota" } as const;
const failed = { code: "upstream_error", reason: "failed" } as const;

const odd = (name: string, said: Said, expected: OddError["expected"]): OddError => ({
  name,
  reply: (options) => vendorError(said, options),
  expected,
});

/** A body of another form than OpenAI's. */
const bare = (
  name: string,
  { status, body }: { readonly status: number; readonly body: (words: string) => object },
  expected: OddError["expected"],
): OddError => ({
  name,
  reply: ({ words }) => ({
    status,
    headers: { "content-type": "application/json" },
    packets: [JSON.stringify(body(words))],
  }),
  expected,
});

const oddErrors: readonly OddError[] = [
  odd("an empty purse", { status: 402, message: "Insufficient balance." }, outOfMoney),
  odd("a body too large", { status: 413, message: "Request body too large." }, rejected),
  odd("a value that cannot be", { status: 422, message: "Unprocessable." }, rejected),
  odd(
    "vLLM's word for a conversation too long",
    {
      status: 400,
      message: "This model's maximum context length is 4096 tokens. However, you requested 5000.",
      type: "BadRequestError",
      code: 400,
    },
    tooLong,
  ),
  odd(
    "llama.cpp's word for a conversation too long",
    {
      status: 400,
      message: "the request exceeds the available context size, try increasing it",
      type: "exceed_context_size_error",
      code: 400,
    },
    tooLong,
  ),
  bare(
    "TGI's refusal",
    {
      status: 422,
      body: (words) => ({ error: `Input validation ${words}`, error_type: "validation" }),
    },
    rejected,
  ),
  bare(
    "TGI's failure",
    { status: 424, body: (words) => ({ error: `Failed ${words}`, error_type: "generation" }) },
    failed,
  ),
  bare(
    "an overload with the status of a limit",
    {
      status: 429,
      body: (words) => ({ error: `Model is overloaded ${words}`, error_type: "overloaded" }),
    },
    { code: "upstream_rate_limited", reason: "limited" },
  ),
  bare(
    "an overload with a status of its own",
    { status: 529, body: (words) => ({ error: { type: "overloaded_error", message: words } }) },
    { code: "upstream_overloaded", reason: "overloaded" },
  ),
  odd(
    "an overload that tells when it is over",
    { status: 503, message: "Busy.", type: "server_error", headers: { "retry-after": "3" } },
    { code: "upstream_overloaded", reason: "overloaded", delayMs: 3_000 },
  ),
  odd("a bad gateway", { status: 502, message: "Bad gateway.", type: "server_error" }, failed),
  odd(
    "a limit told in a reply of status 200",
    { status: 200, message: "Slow down.", code: 429 },
    { code: "upstream_rate_limited", reason: "limited" },
  ),
  odd(
    "a failure told in a reply of status 200",
    { status: 200, message: "No.", code: 500 },
    failed,
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
