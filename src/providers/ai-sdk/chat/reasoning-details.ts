import { isJsonObject, type JsonObject } from "../../../call/chat.ts";
import type { Fields, Owner } from "../model.ts";
import { fromCarried, toCarried } from "./carried.ts";

/**
 * Some vendors sign what a model thought, and want it back as it was when a tool has answered. It
 * goes to the caller beside `reasoning_content`, and comes back in the next request's message:
 *
 *     reasoning_details: [
 *       { type: "reasoning.text", text, format, signature, index },
 *       { type: "reasoning.encrypted", format, data, index },
 *     ]
 *
 * A stream has all of them in one delta at its end: of a list in pieces the Node SDK's helper keeps
 * the last, and the Python SDK's joins entries by `index` and fails where there is none.
 */
export function toReasoningDetail(
  { text, metadata }: { readonly text: string; readonly metadata: unknown },
  owner: Owner,
): JsonObject | undefined {
  const carried = toCarried(metadata, owner);
  if (carried === undefined) return undefined;
  return text === ""
    ? { type: "reasoning.encrypted", ...carried }
    : { type: "reasoning.text", text, ...carried };
}

/** Those of a message that are of this vendor, as parts of a prompt. */
export function fromReasoningDetails(
  { reasoning_details: details }: JsonObject,
  owner: Owner,
): Fields[] {
  if (!Array.isArray(details)) return [];
  const parts: Fields[] = [];
  for (const detail of details) {
    const carried = fromCarried(detail, owner);
    if (carried === undefined || !isJsonObject(detail)) continue;
    const { text } = detail;
    parts.push({ type: "reasoning", text: typeof text === "string" ? text : "", ...carried });
  }
  return parts;
}
