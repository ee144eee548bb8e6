import type { Usage } from "../../call/usage.ts";
import { type Fields, isFields } from "./model.ts";

/** More than any call can use: such a count is no count. */
const mostTokens = 100_000_000;

/**
 * Undefined where a package tells none. Packages say 0 of what the vendor has left out: a prompt or
 * an answer of no tokens is one that nobody counted.
 */
export function fromAiSdkUsage(value: unknown): Usage | undefined {
  if (!isFields(value)) return undefined;
  const { inputTokens: input, outputTokens: output } = value;
  const read = isFields(input) ? input : { total: input, cacheRead: value["cachedInputTokens"] };
  const said = isFields(output) ? output : { total: output, reasoning: value["reasoningTokens"] };
  const inputTokens = count(read, "total") || undefined;
  const outputTokens = count(said, "total") || undefined;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: count(read, "cacheRead") || undefined,
    cacheWriteTokens: count(read, "cacheWrite") || undefined,
    reasoningTokens: count(said, "reasoning") || undefined,
    estimated: false,
  };
}

export function count(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === "number" &&
    Number.isSafeInteger(value) &&
    value >= 0 &&
    value <= mostTokens
    ? value
    : undefined;
}
