import { createHash } from "node:crypto";
import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";

/** No vendor's own `format` begins so. */
const prefix = "svc-";

/** What an adapter puts into `format`: it tells one vendor's signatures from another's, without a name. */
export const toMark = (owner: string): string =>
  prefix + createHash("sha256").update(owner).digest("base64url").slice(0, 8);

/** Whether an adapter of ours made the entry. A vendor that has such entries of its own made the rest. */
export const isMarked = ({ format }: JsonObject): boolean =>
  typeof format === "string" && format.startsWith(prefix);

export interface Owned {
  /** Whether an entry of `reasoning_details` is the vendor's own. */
  readonly detail: (entry: JsonObject) => boolean;
  /** Whether an `extra_content` is. */
  readonly extra: (extra: JsonObject) => boolean;
}

const signatures = ["signature", "data", "encrypted_content", "thought_signature"] as const;

const isSigned = (detail: JsonObject) =>
  isMarked(detail) || signatures.some((name) => typeof detail[name] === "string");

/**
 * Whether another vendor signed something of an earlier answer: what can be read of its thoughts is
 * that vendor's as well.
 */
export function isOfAnother(message: JsonObject, owned: Owned): boolean {
  const { reasoning_details: details, extra_content: extra, tool_calls: calls } = message;
  const isForeign = (value: Json | undefined) =>
    isJsonObject(value) && Object.keys(value).length > 0 && !owned.extra(value);
  if (isForeign(extra)) return true;
  if (
    Array.isArray(details) &&
    details.some((one) => isJsonObject(one) && isSigned(one) && !owned.detail(one))
  )
    return true;
  return (
    Array.isArray(calls) &&
    calls.some((call) => isJsonObject(call) && isForeign(call["extra_content"]))
  );
}
