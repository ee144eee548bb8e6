import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import type { Usage } from "../../call/usage.ts";
import { toCount } from "../kit/count.ts";

/**
 * The vendor's counts; undefined if they are incomplete. Tokens that were read from a cache or
 * written to one are counted separately. A stream reports the input at its start and the output at
 * its end, so the fields of both are merged.
 */
export function fromAnthropicUsage(
  given: Json | undefined,
  earlier: JsonObject = {},
): Usage | undefined {
  const usage = { ...earlier, ...usageFields(given) };
  const fresh = toCount(usage["input_tokens"]);
  const outputTokens = toCount(usage["output_tokens"]);
  if (fresh === undefined || outputTokens === undefined) return undefined;
  const cachedInputTokens = toCount(usage["cache_read_input_tokens"]);
  const cacheWriteTokens = toCount(usage["cache_creation_input_tokens"]);
  const details = usage["output_tokens_details"];
  return {
    inputTokens: fresh + (cachedInputTokens ?? 0) + (cacheWriteTokens ?? 0),
    outputTokens,
    cachedInputTokens,
    cacheWriteTokens,
    reasoningTokens: isJsonObject(details) ? toCount(details["thinking_tokens"]) : undefined,
    estimated: false,
  };
}

const fields = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "output_tokens_details",
] as const;

/** The fields that are read, and no others: a stream may repeat its usage any number of times. */
export function usageFields(usage: Json | undefined): JsonObject {
  const known: Record<string, Json> = {};
  if (!isJsonObject(usage)) return known;
  for (const name of fields) {
    const value = usage[name];
    if (value !== undefined && value !== null) known[name] = value;
  }
  return known;
}
