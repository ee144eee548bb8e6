/** How the Gemini API refuses and fails. */

import type { JsonObject } from "../../../../src/call/chat.ts";
import {
  errorDetails,
  geminiError,
  geminiEvent,
  quotaMessage,
} from "../../../fake/vendors/gemini-replies.ts";
import type {
  Dialect,
  ErrorClass,
  ErrorOptions,
  ExpectedError,
  OddError,
  StreamFault,
  VendorReply,
  Wait,
} from "../../dialect.ts";

interface Said {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly details?: readonly JsonObject[];
}

const json = { "content-type": "application/json; charset=UTF-8" };
const sse = { "content-type": "text/event-stream" };

const quoting = (said: Said, words: string) =>
  geminiError({ ...said, message: `${said.message} ${words}` });

function refused(said: Said, { words }: Pick<ErrorOptions, "words">): VendorReply {
  return {
    status: said.code,
    headers: json,
    packets: [JSON.stringify(quoting(said, words), null, 2)],
  };
}

const { reason, quota, retry } = errorDetails;
const perDay = "GenerateRequestsPerDayPerProjectPerModel-FreeTier";
const perMinute = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier";
const exhausted = { code: 429, status: "RESOURCE_EXHAUSTED", message: quotaMessage };

const said = (
  code: number,
  status: string,
  message: string,
  ...details: readonly JsonObject[]
): Said => ({ code, status, message, ...(details.length === 0 ? {} : { details }) });
const disabled =
  "Generative Language API has not been used in this project before or it is disabled.";
const tooMany =
  "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
const noKey = "API key not valid. Please pass a valid API key.";

const classes: Readonly<Partial<Record<ErrorClass, Said>>> = {
  badKey: said(400, "INVALID_ARGUMENT", noKey, reason("API_KEY_INVALID")),
  noPermission: said(403, "PERMISSION_DENIED", disabled, reason("SERVICE_DISABLED")),
  outOfMoney: said(402, "FAILED_PRECONDITION", "Your prepaid credits ran out."),
  dailyQuota: { ...exhausted, details: [quota(perDay), retry("34.4s")] },
  overloaded: said(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
  modelMissing: said(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta."),
  badRequest: said(400, "INVALID_ARGUMENT", "Unable to process input image."),
  tooLong: said(400, "INVALID_ARGUMENT", tooMany),
  serverError: said(500, "INTERNAL", "An internal error has occurred."),
  gatewayTimeout: said(504, "DEADLINE_EXCEEDED", "The request timed out. Please try again."),
};

/** The prompt was blocked: a reply of status 200 without candidates. */
function blocked(blockReason: string, { streamed }: ErrorOptions): VendorReply {
  const body = {
    promptFeedback: {
      blockReason,
      safetyRatings: [{ category: "HARM_CATEGORY_HARASSMENT", probability: "HIGH", blocked: true }],
    },
    usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
    modelVersion: "gemini-3-flash-preview",
  };
  if (streamed) return { headers: sse, packets: [geminiEvent(body)] };
  return { headers: json, packets: [JSON.stringify(body)] };
}

function rateLimited({ form, delayMs }: Wait, options: ErrorOptions): VendorReply | undefined {
  const limit = { ...exhausted, details: [quota(perMinute)] };
  if (form === "none") return refused(limit, options);
  if (form !== "body") return undefined;
  return refused({ ...limit, details: [quota(perMinute), retry(`${delayMs / 1000}s`)] }, options);
}

const odd = (name: string, said: Said, expected: ExpectedError): OddError => ({
  name,
  reply: (options) => refused(said, options),
  expected,
});

const limited: ExpectedError = { code: "upstream_rate_limited", reason: "limited" };
const failed: ExpectedError = { code: "upstream_error", reason: "failed" };

/** A candidate that says nothing, and why. */
const nothingSaid = (finishReason: string, { streamed }: ErrorOptions): VendorReply => {
  const body = { candidates: [{ content: {}, finishReason, index: 0 }] };
  return streamed
    ? { headers: sse, packets: [geminiEvent(body)] }
    : { headers: json, packets: [JSON.stringify(body)] };
};

const oddErrors: readonly OddError[] = [
  odd(
    "a delay with parts of a second",
    { ...exhausted, details: [retry("34.4s"), quota(perMinute)] },
    { ...limited, delayMs: 34_400 },
  ),
  {
    name: "a limit in a list, as streams without events have it",
    reply: ({ words }) => ({
      status: 429,
      headers: json,
      packets: [
        JSON.stringify([quoting({ ...exhausted, details: [retry("3s")] }, words)], null, 2),
      ],
    }),
    expected: { ...limited, delayMs: 3_000 },
  },
  {
    name: "a failure told in a reply of status 200",
    reply: ({ words }) => ({
      ...refused({ code: 500, status: "INTERNAL", message: "Internal." }, { words }),
      status: 200,
    }),
    expected: failed,
  },
  ...["SAFETY", "PROHIBITED_CONTENT", "OTHER"].map(
    (blockReason): OddError => ({
      name: `a prompt blocked for ${blockReason}`,
      reply: (options) => blocked(blockReason, options),
      expected: { code: "content_filtered", reason: "refused" },
    }),
  ),
  ...["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER"].map(
    (finishReason): OddError => ({
      name: `an answer of nothing that ends with ${finishReason}`,
      reply: (options) => nothingSaid(finishReason, options),
      expected: failed,
    }),
  ),
];

const faults: Readonly<Record<StreamFault, Said>> = {
  failed: { code: 500, status: "INTERNAL", message: "An internal error has occurred." },
  overloaded: { code: 503, status: "UNAVAILABLE", message: "The model is overloaded." },
  limited: { ...exhausted, details: [retry("7s")] },
};

export const geminiErrors: Pick<Dialect, "error" | "rateLimited" | "oddErrors" | "fault"> = {
  error: (kind, options) => {
    if (kind === "blocked") return blocked("SAFETY", options);
    const said = classes[kind];
    return said === undefined ? undefined : refused(said, options);
  },
  rateLimited,
  oddErrors,
  // Bare, as it is when a stream breaks: in the middle of events, and no event itself.
  fault: (kind, words) => {
    const told = quoting(faults[kind], words);
    if (kind === "limited") return geminiEvent([told]);
    return kind === "failed" ? JSON.stringify(told, null, 2) : JSON.stringify([told], null, 2);
  },
};
