import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { isCarried } from "../carried.ts";

/**
 * The fields that a vendor that speaks this dialect gets. Fields that change the vendor's bill without
 * a price here are left out, and so are ids of stored objects: those would be the operator's own.
 */
export const passedOn = [
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

export const encryptedReasoning = "reasoning.encrypted_content";

interface NativeBodyOptions {
  /** The caller's body. */
  readonly body: JsonObject;
  /** With the items that the request continues. */
  readonly input: Json | undefined;
  readonly isStored: boolean;
}

export function toNativeBody({ body, input, isStored }: NativeBodyOptions): JsonObject {
  const sent: Record<string, Json | undefined> = {
    input: Array.isArray(input) ? toNativeItems(input) : input,
  };
  for (const name of passedOn) if (body[name] !== undefined) sent[name] = body[name];
  // A request that continues the reply needs it to send the reasoning back.
  if (isStored) sent["include"] = withEncrypted(body["include"]);
  return sent;
}

function withEncrypted(include: Json | undefined): readonly Json[] {
  const given = Array.isArray(include) ? include : [];
  return given.includes(encryptedReasoning) ? given : [...given, encryptedReasoning];
}

/**
 * The vendor stores nothing, so it would not find an item by its id, nor reasoning without its
 * encrypted content.
 */
function toNativeItems(items: readonly Json[]): readonly Json[] {
  const sent: Json[] = [];
  for (const item of items) {
    if (!isJsonObject(item)) continue;
    const { type, encrypted_content: opaque } = item;
    if (type === "reasoning" && (typeof opaque !== "string" || isCarried(opaque))) continue;
    const plain = item["id"] === undefined ? item : withoutId(item);
    sent.push(type === "code_interpreter_call" ? withLogsAlone(plain) : plain);
  }
  return sent;
}

/** Images are URLs here, which cost far more than their letters and which a vendor might fetch. */
function withLogsAlone(item: JsonObject): JsonObject {
  const { outputs } = item;
  if (!Array.isArray(outputs)) return item;
  return { ...item, outputs: outputs.filter((one) => isJsonObject(one) && one["type"] === "logs") };
}

function withoutId({ id: _id, ...rest }: JsonObject): JsonObject {
  return rest;
}
