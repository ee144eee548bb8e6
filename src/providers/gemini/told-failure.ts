import { parseBounded } from "../../base/json/bounds.ts";
import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import { toApiFailure, upstreamError } from "../kit/failure.ts";
import { shortWord } from "./chat/finish-reason.ts";

/** Throws where a reply of status 200, or an event, tells of a failure, or that the prompt was blocked. */
export function throwTold(reply: JsonObject, provider: string): void {
  const { error, promptFeedback: feedback, candidates } = reply;
  if (error !== undefined && error !== null)
    throw toApiFailure({ provider, status: statusOf(error), body: { error } });
  if (feedback === undefined || (Array.isArray(candidates) && candidates.length > 0)) return;
  const blocked = isJsonObject(feedback) ? feedback["blockReason"] : undefined;
  if (blocked === undefined || blocked === null || blocked === "BLOCK_REASON_UNSPECIFIED") return;
  throw upstreamError("content_filtered", {
    detail: `${provider} blocked the prompt (${shortWord(blocked)})`,
    reason: "refused",
  });
}

const statuses: ReadonlyMap<string, number> = new Map([
  ["INVALID_ARGUMENT", 400],
  ["FAILED_PRECONDITION", 400],
  ["OUT_OF_RANGE", 400],
  ["UNAUTHENTICATED", 401],
  ["PERMISSION_DENIED", 403],
  ["NOT_FOUND", 404],
  ["RESOURCE_EXHAUSTED", 429],
  ["UNAVAILABLE", 503],
  ["DEADLINE_EXCEEDED", 504],
]);

function statusOf(error: Json): number {
  const { code, status } = isJsonObject(error) ? error : {};
  if (typeof code === "number" && code >= 400 && code < 600) return code;
  return statuses.get(String(status)) ?? 500;
}

/**
 * A failure that stands between the events of a stream without being one: a bare object, or one in
 * a list, on one line or many.
 */
export function throwStray(text: string, provider: string): void {
  if (!text.includes('"error"')) return;
  const bare = text
    .split(/\r\n|\n|\r/)
    .filter((line) => !/^(data|event|id|retry)?:/.test(line))
    .join("\n")
    .replace(/^[\s,]+/, "");
  const value = parsed(bare) ?? parsed(`[${bare}`) ?? parsed(bare.replace(/\][\s]*$/, ""));
  const told: unknown = Array.isArray(value) ? value[0] : value;
  if (isJsonObject(told)) throwTold(told, provider);
}

function parsed(text: string): unknown {
  try {
    return parseBounded(text);
  } catch {
    return undefined;
  }
}
