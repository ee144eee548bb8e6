import { isJsonObject } from "../../call/chat.ts";
import type { Usage } from "../../call/usage.ts";

/** Undefined when the upstream told no usage that can be relied on. */
export function fromOpenAiUsage(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const inputTokens = count(value["prompt_tokens"]);
  if (inputTokens === undefined) return undefined;
  const outputTokens =
    count(value["completion_tokens"]) ?? count(value["total_tokens"], -inputTokens) ?? 0;
  const input = value["prompt_tokens_details"];
  const output = value["completion_tokens_details"];
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: isJsonObject(input) ? count(input["cached_tokens"]) : undefined,
    reasoningTokens: isJsonObject(output) ? count(output["reasoning_tokens"]) : undefined,
    estimated: false,
  };
}

function count(value: unknown, plus = 0): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value + plus >= 0
    ? value + plus
    : undefined;
}
