import { isJsonObject } from "../../call/chat.ts";
import type { Usage } from "../../call/usage.ts";
import { toCount } from "../kit/count.ts";

/**
 * Undefined when the upstream told no usage that can be relied on. `unsaid`: the output where it
 * says nothing of any, as of vectors.
 */
export function fromOpenAiUsage(value: unknown, unsaid?: 0): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const inputTokens = toCount(value["prompt_tokens"]);
  if (inputTokens === undefined) return undefined;
  const outputTokens =
    toCount(value["completion_tokens"]) ?? restOf(value["total_tokens"], inputTokens) ?? unsaid;
  // Half a count would make the answer free.
  if (outputTokens === undefined) return undefined;
  const input = value["prompt_tokens_details"];
  const output = value["completion_tokens_details"];
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: isJsonObject(input) ? toCount(input["cached_tokens"]) : undefined,
    cacheWriteTokens: isJsonObject(input) ? toCount(input["cache_write_tokens"]) : undefined,
    reasoningTokens: isJsonObject(output) ? toCount(output["reasoning_tokens"]) : undefined,
    estimated: false,
  };
}

/** What a total leaves, where it is no less than a part of it. */
function restOf(total: unknown, inputTokens: number): number | undefined {
  const all = toCount(total);
  return all === undefined ? undefined : toCount(all - inputTokens);
}
