import type { Usage } from "../../../call/usage.ts";
import { toCount } from "../../kit/count.ts";
import { isFields } from "../model.ts";

/**
 * Undefined where a package tells none. Packages say 0 of what the vendor has left out: a prompt or
 * an answer of no tokens is one that nobody counted.
 */
export function fromAiSdkUsage(value: unknown): Usage | undefined {
  if (!isFields(value)) return undefined;
  const { inputTokens: input, outputTokens: output } = value;
  const read = isFields(input) ? input : {};
  const said = isFields(output) ? output : {};
  const inputTokens = toCount(read["total"]) || undefined;
  const outputTokens = toCount(said["total"]) || undefined;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: toCount(read["cacheRead"]) || undefined,
    cacheWriteTokens: toCount(read["cacheWrite"]) || undefined,
    reasoningTokens: toCount(said["reasoning"]) || undefined,
    estimated: false,
  };
}
