import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { isCarried } from "../carried.ts";

/**
 * The fields that go to a vendor that speaks this dialect. What could change the vendor's bill and is
 * not priced stays out, and so do ids of what is stored: they would be the operator's.
 */
const passedOn = [
  "instructions",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "text",
  "reasoning",
  "include",
  "truncation",
  "temperature",
  "top_p",
  "top_logprobs",
  "max_tool_calls",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  // Adapters pass on only what the model's price covers.
  "service_tier",
  "stream_options",
] as const;

export function toNativeBody(body: JsonObject, input: Json | undefined): JsonObject {
  const sent: Record<string, Json | undefined> = {
    input: Array.isArray(input) ? toNativeItems(input) : input,
  };
  for (const name of passedOn) if (body[name] !== undefined) sent[name] = body[name];
  return sent;
}

/** Nothing is stored there: ids would be looked for in vain, and thoughts without their data too. */
function toNativeItems(items: readonly Json[]): readonly Json[] {
  const sent: Json[] = [];
  for (const item of items) {
    if (!isJsonObject(item)) continue;
    const { type, encrypted_content: opaque } = item;
    if (type === "reasoning" && (typeof opaque !== "string" || isCarried(opaque))) continue;
    sent.push(item["id"] === undefined ? item : withoutId(item));
  }
  return sent;
}

function withoutId({ id: _id, ...rest }: JsonObject): JsonObject {
  return rest;
}
