import { isJsonObject } from "../../call/chat.ts";
import type { Usage } from "../../call/usage.ts";

/**
 * Undefined when the upstream told no usage that can be relied on. `unsaid`: the output where it
 * says nothing of any, as of vectors.
 */
export function fromOpenAiUsage(value: unknown, unsaid?: 0): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const inputTokens = count(value["prompt_tokens"]);
  if (inputTokens === undefined) return undefined;
  const outputTokens =
    count(value["completion_tokens"]) ?? count(value["total_tokens"], -inputTokens) ?? unsaid;
  // Half a count would make the answer free.
  if (outputTokens === undefined) return undefined;
  const input = value["prompt_tokens_details"];
  const output = value["completion_tokens_details"];
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: isJsonObject(input) ? count(input["cached_tokens"]) : undefined,
    cacheWriteTokens: isJsonObject(input) ? count(input["cache_write_tokens"]) : undefined,
    reasoningTokens: isJsonObject(output) ? count(output["reasoning_tokens"]) : undefined,
    estimated: false,
  };
}

/** More than any call can use: such a count is no count. */
const mostTokens = 100_000_000;

function count(value: unknown, plus = 0): number | undefined {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value > mostTokens)
    return undefined;
  return value + plus >= 0 ? value + plus : undefined;
}
