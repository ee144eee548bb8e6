import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import { type Fields, isFields } from "./model.ts";

/**
 * Some vendors sign what a model thought, and want it back as it was when a tool has answered. It
 * goes to the caller beside `reasoning_content`, and comes back in the next request's message:
 *
 *     reasoning_details: [
 *       { type: "reasoning.text", text, signature, format },
 *       { type: "reasoning.encrypted", data, format },
 *     ]
 *
 * `format` is whose it is: others leave it out of what they send. What a package tells beyond a
 * signature and encrypted data is carried as `metadata`.
 */
export function toReasoningDetail(text: string, metadata: unknown): JsonObject | undefined {
  if (!isFields(metadata)) return undefined;
  // One package tells it under its old and its new name.
  const format = Object.keys(metadata).find((key) => isFields(metadata[key]));
  const told = format === undefined ? undefined : metadata[format];
  if (format === undefined || !isFields(told)) return undefined;
  const { signature, redactedData, ...rest } = told;
  const known: Record<string, Json> = {
    type: text === "" ? "reasoning.encrypted" : "reasoning.text",
    format,
  };
  if (text !== "") known["text"] = text;
  if (typeof signature === "string") known["signature"] = signature;
  if (typeof redactedData === "string") known["data"] = redactedData;
  if (Object.values(rest).some((value) => value !== undefined)) known["metadata"] = rest as Json;
  return Object.keys(known).length > (text === "" ? 2 : 3) ? known : undefined;
}

/** Those of a message that are of this vendor, as parts of a prompt. */
export function fromReasoningDetails(
  { reasoning_details: details }: JsonObject,
  key: string,
): Fields[] {
  if (!Array.isArray(details)) return [];
  const parts: Fields[] = [];
  for (const detail of details) {
    if (!isJsonObject(detail) || detail["format"] !== key) continue;
    const { text, signature, data, metadata } = detail;
    parts.push({
      type: "reasoning",
      text: typeof text === "string" ? text : "",
      providerOptions: {
        [key]: {
          ...(isJsonObject(metadata) ? metadata : {}),
          ...(typeof signature === "string" ? { signature } : {}),
          ...(typeof data === "string" ? { redactedData: data } : {}),
        },
      },
    });
  }
  return parts;
}
