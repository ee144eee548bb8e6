import { isJsonObject, type JsonObject } from "../../call/chat.ts";
import { toApiFailure } from "../kit/failure.ts";

/** Throws where an upstream tells of a failure inside a reply whose status was 200. */
export function throwTold({ error }: JsonObject, provider: string): void {
  if (error === undefined || error === null) return;
  throw toApiFailure({ provider, status: statusOf(error), body: { error } });
}

/** It has no status of its own: its code tells, as a number or in words. */
function statusOf(error: unknown): number {
  const { code, type } = isJsonObject(error) ? error : {};
  if (typeof code === "number" && code >= 400 && code < 600) return code;
  const words = `${String(code).slice(0, 100)} ${String(type).slice(0, 100)}`.toLowerCase();
  if (/rate_limit|insufficient_quota/.test(words)) return 429;
  if (/overloaded|unavailable/.test(words)) return 503;
  if (/context_length|exceed_context|content_filter|invalid_request|bad_?request/.test(words))
    return 400;
  return 500;
}
