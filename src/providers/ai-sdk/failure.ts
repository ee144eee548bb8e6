import { ApiError } from "../../base/errors.ts";
import { parseBounded } from "../../base/json/bounds.ts";
import type { Signal } from "../../call/signal.ts";
import { toldStatus } from "../kit/error-body.ts";
import { toApiFailure, upstreamError } from "../kit/failure.ts";
import { toNetworkError } from "../kit/http.ts";
import { type Fields, isFields } from "./model.ts";

export interface Thrown {
  readonly provider: string;
  readonly signal: Signal;
  readonly thrown: unknown;
}

const deepest = 8;

/**
 * Whatever a package throws, or puts into a stream. Errors are told by their form: each package may
 * bring a copy of its own of the classes. Their words stay out, because they quote the request.
 */
export function toBridgeError({ provider, signal, thrown }: Thrown): unknown {
  if (signal.aborted) return signal.reason;
  let cause = thrown;
  for (let depth = 0; depth < deepest && isFields(cause); depth++) {
    // Our own fetch has said already what happened.
    if (cause instanceof ApiError) return cause;
    const told = toTold(provider, cause);
    if (told !== undefined) return told;
    if (isOfNetwork(cause)) return toNetworkError({ provider, signal, cause });
    if (cause["cause"] === undefined) break;
    cause = cause["cause"];
  }
  return toUnforeseen(provider, thrown);
}

/** A failure that the vendor told of, in a reply or in the middle of a stream. */
function toTold(provider: string, error: Fields): ApiError | undefined {
  const { statusCode, responseBody, responseHeaders, data, name, type, code, message } = error;
  if (typeof name === "string" && name.startsWith("AI_") && name !== "AI_APICallError")
    return undefined;
  if (typeof statusCode === "number" && statusCode < 300) return toldIn(provider, responseBody);
  const isBare = !(error instanceof Error) && (typeof type === "string" || message !== undefined);
  const status = typeof statusCode === "number" ? statusCode : isBare ? toldStatus(error) : 0;
  if (status < 400 || status > 599) return undefined;
  const headers = isFields(responseHeaders) ? toHeaders(responseHeaders) : undefined;
  const body =
    typeof responseBody === "string"
      ? responseBody
      : JSON.stringify({ error: isBare ? { type, code, message } : (data ?? {}) });
  return toApiFailure({ provider, status, body, ...(headers === undefined ? {} : { headers }) });
}

/** Some servers tell of a failure in a reply whose status is good. */
export function toldIn(provider: string, body: unknown): ApiError | undefined {
  if (typeof body !== "string" || !body.includes('"error"')) return undefined;
  let reply: unknown;
  try {
    reply = parseBounded(body);
  } catch {
    return undefined;
  }
  const error = isFields(reply) ? reply["error"] : undefined;
  if (!isFields(error)) return undefined;
  return toApiFailure({ provider, status: toldStatus(error), body });
}

function toHeaders(fields: Fields): Headers {
  const headers = new Headers();
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === "string") headers.set(name, value);
  }
  return headers;
}

/** The runtime's own errors of connections have a code in capitals, or of one word. */
function isOfNetwork({ code, name }: Fields): boolean {
  return typeof code === "string" && /^[A-Z]\w+$/.test(code) && !String(name).startsWith("AI_");
}

/**
 * By the name of the error. It is not kept as the cause: packages put the whole request into it,
 * and it could end up in a log.
 */
function toUnforeseen(provider: string, thrown: unknown): ApiError {
  const name = isFields(thrown) ? String(thrown["name"]) : typeof thrown;
  const detail = `${provider}: the provider package failed with ${nameOnly(name)}`;
  switch (name) {
    case "AI_UnsupportedFunctionalityError":
    case "AI_InvalidPromptError":
      return upstreamError("upstream_rejected", { detail, reason: "refused" });
    case "AI_LoadAPIKeyError":
    case "AI_LoadSettingError":
      return upstreamError("upstream_unavailable", { detail, reason: "auth" });
    case "AI_NoSuchModelError":
      return upstreamError("upstream_unavailable", { detail, reason: "missing" });
    default:
      return upstreamError("upstream_error", { detail });
  }
}

function nameOnly(name: string): string {
  return /^\w{1,60}$/.test(name) ? name : "an error";
}
