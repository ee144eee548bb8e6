/** How Anthropic refuses and fails. */

import { anthropicError } from "../../../fake/vendors/anthropic-messages.ts";
import type { Dialect, ErrorClass, ErrorOptions, StreamFault, VendorReply } from "../../dialect.ts";

interface Said {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

function vendorError(
  { status, type, message }: Said,
  {
    words,
    headers = {},
  }: Pick<ErrorOptions, "words"> & { readonly headers?: Record<string, string> },
): VendorReply {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    packets: [anthropicError(type, `${message} ${words}`)],
  };
}

const refused = { status: 400, type: "invalid_request_error" } as const;

const classes: Readonly<Partial<Record<ErrorClass, Said>>> = {
  badKey: { status: 401, type: "authentication_error", message: "invalid x-api-key" },
  noPermission: {
    status: 403,
    type: "permission_error",
    message: "Your API key does not have permission to use the specified resource.",
  },
  outOfMoney: {
    ...refused,
    message: "Your credit balance is too low to access the API. Please go to Plans & Billing.",
  },
  overloaded: { status: 529, type: "overloaded_error", message: "Overloaded" },
  modelMissing: { status: 404, type: "not_found_error", message: "model: claude-nine" },
  badRequest: { ...refused, message: "temperature: range: 0..1" },
  tooLong: { ...refused, message: "prompt is too long: 210000 tokens > 200000 maximum" },
  blocked: { ...refused, message: "Output blocked by content filtering policy" },
  serverError: { status: 500, type: "api_error", message: "Internal server error" },
  gatewayTimeout: { status: 504, type: "timeout_error", message: "Request timed out" },
};

const faults: Readonly<Record<StreamFault, string>> = {
  failed: "api_error",
  overloaded: "overloaded_error",
  limited: "rate_limit_error",
};

export const anthropicErrors: Pick<Dialect, "error" | "rateLimited" | "fault"> = {
  error: (kind, options) => {
    const said = classes[kind];
    return said === undefined ? undefined : vendorError(said, options);
  },
  rateLimited: ({ form, delayMs }, { words }) => {
    const headers = {
      none: {},
      seconds: { "retry-after": String(Math.ceil(delayMs / 1000)) },
      milliseconds: undefined,
      date: undefined,
      body: undefined,
    }[form];
    const message = "This request would exceed your organization's rate limit";
    const said = { status: 429, type: "rate_limit_error", message };
    return headers === undefined ? undefined : vendorError(said, { words, headers });
  },
  fault: (kind, words) =>
    `event: error\ndata: ${anthropicError(faults[kind], `Something failed ${words}`)}\n\n`,
};
