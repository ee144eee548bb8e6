import { isJsonObject, type JsonObject } from "../../call/chat.ts";

/** What an error body tells, of whatever vendor's form. */
export interface Said {
  /** Lower-case words of code, type and status. */
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
  /** A filter stood in the way of the input, whatever the status. */
  readonly isModerated: boolean;
}

const nothingSaid: Said = {
  code: "",
  message: "",
  words: "",
  param: undefined,
  quotas: "",
  delayMs: undefined,
  isModerated: false,
};

/** Longer than any sentence of a vendor; what follows may be what a caller sent. */
const maxMessageChars = 16 * 1024;

/** The body as text, or what was parsed of one that was told inside a reply. */
export function readErrorBody(body: unknown, headers?: Headers): Said {
  let parsed: unknown = body;
  if (typeof body === "string")
    try {
      parsed = JSON.parse(body);
    } catch {
      return { ...nothingSaid, message: body.slice(0, 500).toLowerCase() };
    }
  const outer = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isJsonObject(outer) && isJsonObject(outer["error"]) ? outer["error"] : outer;
  if (!isJsonObject(error)) return nothingSaid;
  const details = Array.isArray(error["details"]) ? error["details"].filter(isJsonObject) : [];
  const message = error["message"] ?? error["error"] ?? error["Message"];
  const words = typeof message === "string" ? message.slice(0, maxMessageChars) : "";
  const param = error["param"];
  return {
    words,
    param: typeof param === "string" ? param : undefined,
    code: codeWords(error, details, headers),
    message: words.toLowerCase(),
    quotas: quotaNames(details),
    delayMs: bodyDelayMs(details),
    isModerated: isJsonObject(error["metadata"]) && "flagged_input" in error["metadata"],
  };
}

/** Single words only: what has blanks in it may be a sentence with somebody's text. */
function codeWords(
  error: JsonObject,
  details: readonly JsonObject[],
  headers: Headers | undefined,
): string {
  const words = [
    error["code"],
    error["type"],
    error["status"],
    error["error_type"],
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
export function toldDelayMs(headers: Headers | undefined, nowMs = Date.now()): number | undefined {
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
