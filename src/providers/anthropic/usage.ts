import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import type { Usage } from "../../call/usage.ts";
import { toCount } from "../kit/count.ts";

/**
 * What the vendor counted; undefined where that cannot be relied on. It counts apart what it read
 * from a cache or wrote to one. A stream tells the input at its start and the output at its end, so
 * the fields of both are taken together.
 */
export function fromAnthropicUsage(
  told: Json | undefined,
  earlier: JsonObject = {},
): Usage | undefined {
  const usage = { ...earlier, ...known(told) };
  const fresh = toCount(usage["input_tokens"]);
  const outputTokens = toCount(usage["output_tokens"]);
  if (fresh === undefined || outputTokens === undefined) return undefined;
  const cachedInputTokens = toCount(usage["cache_read_input_tokens"]);
  const cacheWriteTokens = toCount(usage["cache_creation_input_tokens"]);
  const { thinking_tokens: thought } = known(usage["output_tokens_details"]);
  return {
    inputTokens: fresh + (cachedInputTokens ?? 0) + (cacheWriteTokens ?? 0),
    outputTokens,
    cachedInputTokens,
    cacheWriteTokens,
    reasoningTokens: toCount(thought),
    estimated: false,
  };
}

/** Without what is null: it says nothing. */
export function known(fields: Json | undefined): JsonObject {
  if (!isJsonObject(fields)) return {};
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
