import { isJsonObject, type JsonObject } from "../../call/chat.ts";
import type { Usage } from "../../call/usage.ts";
import { toCount } from "../kit/count.ts";

/**
 * Undefined when the upstream told no usage that can be relied on. `unsaid`: the output where it
 * says nothing of any, as of vectors.
 */
export function fromOpenAiUsage(value: unknown, unsaid?: 0): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const prompt = toCount(value["prompt_tokens"]);
  if (prompt === undefined) return undefined;
  const completion =
    toCount(value["completion_tokens"]) ?? restOf(value["total_tokens"], prompt) ?? unsaid;
  // Half a count would make the answer free.
  if (completion === undefined) return undefined;
  const input = detailsOf(value["prompt_tokens_details"] ?? value["prompt_token_details"]);
  const output = detailsOf(value["completion_tokens_details"]);
  const cachedInputTokens = cachedOf(value, input);
  const cacheWriteTokens = toCount(
    input["cache_write_tokens"] ?? input["cache_creation_input_tokens"],
  );
  const unlisted = unlistedOf(value, prompt + completion);
  // Where more was read from caches than the prompt has, that is not within the prompt.
  const aside = (cachedInputTokens ?? 0) + (cacheWriteTokens ?? 0);
  const read = aside > prompt ? Math.min(unlisted, aside) : 0;
  return {
    inputTokens: prompt + read,
    outputTokens: completion + Math.max(unlisted - read, reasoningBeside(value, completion)),
    cachedInputTokens,
    cacheWriteTokens,
    reasoningTokens: toCount(output["reasoning_tokens"] ?? value["reasoning_tokens"]),
    inputDetails: countsOf(input, shownInput),
    outputDetails: countsOf(output, shownOutput),
    estimated: false,
  };
}

const detailsOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** Each vendor has its own place for it; one that has several may leave some at 0. */
function cachedOf(usage: JsonObject, input: JsonObject): number | undefined {
  let most: number | undefined;
  for (const told of [
    input["cached_tokens"],
    usage["num_cached_tokens"],
    usage["cached_tokens"],
    usage["prompt_cache_hit_tokens"],
  ]) {
    const count = toCount(told);
    if (count !== undefined && (most === undefined || count > most)) most = count;
  }
  return most;
}

/**
 * What a total has beyond its parts is reasoning: xAI and Gemini's compatible endpoint leave it out
 * of completion_tokens, and bill it as output. A total that holds sound tells nothing of the output;
 * one that is less than its parts is no total.
 */
function unlistedOf(usage: JsonObject, listed: number): number {
  const total = toCount(usage["total_tokens"]);
  const soundSeconds = usage["prompt_audio_seconds"];
  const hasSound = typeof soundSeconds === "number" && soundSeconds > 0;
  return total === undefined || hasSound ? 0 : Math.max(0, total - listed);
}

/** Perplexity counts the reasoning of its research apart, in no total: then it is more than the answer. */
function reasoningBeside(usage: JsonObject, completion: number): number {
  const reasoning = toCount(usage["reasoning_tokens"]) ?? 0;
  return reasoning > completion ? reasoning : 0;
}

/** Counts that callers know how to read: within the input, or the output, and of no price here. */
const shownInput = ["audio_tokens"] as const;
const shownOutput = [
  "audio_tokens",
  "accepted_prediction_tokens",
  "rejected_prediction_tokens",
] as const;

function countsOf(details: JsonObject, names: readonly string[]): Usage["inputDetails"] {
  let counts: Record<string, number> | undefined;
  for (const name of names) {
    const count = toCount(details[name]);
    if (count === undefined) continue;
    counts ??= {};
    counts[name] = count;
  }
  return counts;
}

/** What a total leaves, where it is no less than a part of it. */
function restOf(total: unknown, inputTokens: number): number | undefined {
  const all = toCount(total);
  return all === undefined ? undefined : toCount(all - inputTokens);
}
