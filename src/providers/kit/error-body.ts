import type { ContextSizes } from "../../base/context-length.ts";
import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";

/** Of whichever client. */
export interface ReplyHeaders {
  get(name: string): string | null;
}

/** What an error body tells, of whatever vendor's form. */
export interface Said {
  /** Lower-case words of code, type, status and reason. */
  readonly code: string;
  /** Lower-case, to look for words in. */
  readonly message: string;
  /** As they were said. */
  readonly words: string;
  readonly param: string | undefined;
  /** Lower-case names of the quotas that were reached. */
  readonly quotas: string;
  /** How long to wait, where it stands in the body. */
  readonly delayMs: number | undefined;
  /** Both lengths of a prompt that does not fit, where fields name them. */
  readonly contextSizes: ContextSizes | undefined;
}

const nothingSaid: Said = {
  code: "",
  message: "",
  words: "",
  param: undefined,
  quotas: "",
  delayMs: undefined,
  contextSizes: undefined,
};

/** Longer than any sentence of a vendor; what follows may be what a caller sent. */
const maxMessageChars = 16 * 1024;

/** The body as text, or what was parsed of one that was told inside a reply. */
export function readErrorBody(body: unknown, headers?: ReplyHeaders): Said {
  const error = errorIn(body);
  if (typeof error === "string") return fromText(error);
  if (error === undefined) return nothingSaid;
  const outer = fromError(error, headers);
  const wrapped = wrappedIn(error);
  return wrapped === undefined ? outer : unwrapped(outer, wrapped);
}

/** The object that describes the error; or the text, where the body is no JSON. */
function errorIn(body: unknown): JsonObject | string | undefined {
  let parsed: unknown = body;
  if (typeof body === "string")
    try {
      parsed = JSON.parse(body);
    } catch {
      return body;
    }
  const outer = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isJsonObject(outer) && isJsonObject(outer["error"]) ? outer["error"] : outer;
  return isJsonObject(error) ? error : undefined;
}

const fromText = (text: string): Said => ({
  ...nothingSaid,
  message: text.slice(0, 500).trimStart().toLowerCase(),
});

function fromError(error: JsonObject, headers: ReplyHeaders | undefined): Said {
  const details = Array.isArray(error["details"]) ? error["details"].filter(isJsonObject) : [];
  const words = sentenceIn(error).slice(0, maxMessageChars);
  const param = error["param"];
  return {
    words,
    param: typeof param === "string" ? param : undefined,
    code: codeWords(error, details, headers),
    message: words.trimStart().toLowerCase(),
    quotas: quotaNames(details),
    delayMs: bodyDelayMs(details),
    contextSizes: sizesIn(error),
  };
}

/** Under one of the names that vendors give it, or one level further down. */
function sentenceIn({ message, error, Message, detail }: JsonObject): string {
  for (const value of [message, error, Message, detail]) {
    if (Array.isArray(value)) return sentencesIn(value);
    const words = isJsonObject(value) ? (value["error"] ?? value["message"]) : value;
    if (typeof words === "string") return words;
  }
  return "";
}

/** Frameworks list each field that they refuse, by its path. */
function sentencesIn(list: readonly Json[]): string {
  return list
    .slice(0, 8)
    .filter(isJsonObject)
    .map(
      ({ loc, msg }) => `${Array.isArray(loc) ? loc.slice(0, 16).join(".") : ""}: ${String(msg)}`,
    )
    .join("; ");
}

/** Some vendors pass on the error of another one: as text, or as JSON in a text. */
function wrappedIn({ metadata, message }: JsonObject): JsonObject | string | undefined {
  const raw = isJsonObject(metadata) ? metadata["raw"] : undefined;
  if (isJsonObject(raw)) return errorIn(raw);
  if (typeof raw === "string") return errorIn(raw.slice(0, maxMessageChars));
  if (typeof message !== "string" || !/^\s{0,20}\{/.test(message)) return undefined;
  return errorIn(message.slice(0, maxMessageChars));
}

/** One level and no more. The words of the inner one count; the codes of both do. */
function unwrapped(outer: Said, wrapped: JsonObject | string): Said {
  const inner = typeof wrapped === "string" ? fromText(wrapped) : fromError(wrapped, undefined);
  const codes = `${inner.code} ${outer.code}`.trim().split(" ");
  return {
    ...outer,
    code: [...new Set(codes)].join(" "),
    message: inner.message === "" ? outer.message : inner.message,
    quotas: `${inner.quotas} ${outer.quotas}`,
    delayMs: inner.delayMs ?? outer.delayMs,
    contextSizes: inner.contextSizes ?? outer.contextSizes,
  };
}

/** llama.cpp names them. */
function sizesIn({ n_prompt_tokens: tokens, n_ctx: maximum }: JsonObject) {
  return Number.isSafeInteger(tokens) && Number.isSafeInteger(maximum)
    ? { tokens: Number(tokens), maximum: Number(maximum) }
    : undefined;
}

/**
 * The status of an error that was told inside a reply of status 200: its code tells, as a number or
 * in words.
 */
export function toldStatus({ code, type }: { readonly code?: unknown; readonly type?: unknown }) {
  const given = typeof code === "string" && /^\d{3}$/.test(code) ? Number(code) : code;
  if (typeof given === "number" && given >= 400 && given < 600) return given;
  const words = `${String(code).slice(0, 100)} ${String(type).slice(0, 100)}`.toLowerCase();
  return statusWords.find(([pattern]) => pattern.test(words))?.[1] ?? 500;
}

const statusWords: readonly (readonly [RegExp, number])[] = [
  [/rate_limit|insufficient_quota|throttling/, 429],
  [/overloaded|unavailable/, 503],
  [/timeout/, 504],
  [/context_length|exceed_context|content_filter|invalid_request|bad_?request|validation/, 400],
  [/not_?found/, 404],
  [/authentication|unauthorized/, 401],
  [/permission|forbidden/, 403],
];

/** Single words only: what has blanks in it may be a sentence with somebody's text. */
function codeWords(
  error: JsonObject,
  details: readonly JsonObject[],
  headers: ReplyHeaders | undefined,
): string {
  const { metadata } = error;
  const words = [
    error["code"],
    error["type"],
    error["status"],
    error["error_type"],
    error["reason"],
    // A filter stood in the way of the input, whatever the status.
    isJsonObject(metadata) && "flagged_input" in metadata ? "flagged_input" : undefined,
    ...details.map(({ reason }) => reason),
    lastName(error["__type"]),
    headers?.get("x-amzn-errortype")?.split(":")[0],
  ].filter((word) => typeof word === "string" && word.length <= 60 && isCode.test(word));
  return [...new Set(words.map((word) => String(word).toLowerCase()))].join(" ");
}

/** Names have few digits; keys, which some servers echo, have many. */
const isCode = /^(?!sk-|key-)[A-Za-z_.-]*\d{0,3}[A-Za-z_.-]*$/;

/** `com.vendor.module#Name` is told as its name. */
function lastName(value: JsonObject[string]): string | undefined {
  return typeof value === "string" ? value.split("#").at(-1) : undefined;
}

function quotaNames(details: readonly JsonObject[]): string {
  return details
    .flatMap(({ violations }) => (Array.isArray(violations) ? violations.filter(isJsonObject) : []))
    .map(({ quotaId }) => (typeof quotaId === "string" ? quotaId.toLowerCase() : ""))
    .join(" ");
}

/** `RetryInfo.retryDelay`, such as "34.4s". */
function bodyDelayMs(details: readonly JsonObject[]): number | undefined {
  for (const { retryDelay } of details) {
    const match = typeof retryDelay === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(retryDelay) : null;
    if (match !== null) return Math.ceil(Number(match[1]) * 1000);
  }
  return undefined;
}

/** `retry-after-ms` before `Retry-After` (seconds or a date); never below zero. */
export function toldDelayMs(
  headers: ReplyHeaders | undefined,
  nowMs = Date.now(),
): number | undefined {
  const exact = toNumber(headers?.get("retry-after-ms"));
  if (exact !== undefined) return exact;
  const text = headers?.get("retry-after");
  const seconds = toNumber(text);
  if (seconds !== undefined) return seconds * 1000;
  // A date has the name of its month.
  const date = /[A-Za-z]{3}/.test(text ?? "") ? Date.parse(text ?? "") : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function toNumber(text: string | null | undefined): number | undefined {
  const trimmed = text?.trim() ?? "";
  return /^-?\d+(\.\d+)?$/.test(trimmed) ? Math.max(0, Number(trimmed)) : undefined;
}
