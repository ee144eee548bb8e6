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
  const reasoningTokens = toCount(output["reasoning_tokens"] ?? value["reasoning_tokens"]);
  const aside = (cachedInputTokens ?? 0) + (cacheWriteTokens ?? 0);
  const read = hasSound(value)
    ? unlisted
    : isReadBeside({ aside, prompt, unlisted, isThought: (reasoningTokens ?? 0) > completion })
      ? Math.min(unlisted, aside)
      : 0;
  return {
    inputTokens: prompt + read,
    outputTokens: completion + Math.max(unlisted - read, reasoningBeside(value, completion)),
    cachedInputTokens,
    cacheWriteTokens,
    reasoningTokens,
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
 * of completion_tokens, and bill it as output. A total that is less than its parts is no total.
 */
function unlistedOf(usage: JsonObject, listed: number): number {
  const total = toCount(usage["total_tokens"]);
  return total === undefined ? 0 : Math.max(0, total - listed);
}

/** Mistral counts the tokens of sound in the total alone: they are input. */
function hasSound({ prompt_audio_seconds: seconds }: JsonObject): boolean {
  return typeof seconds === "number" && seconds > 0;
}

/** Where more was read from caches than the prompt has, or just as much as no part has. */
function isReadBeside(counts: {
  readonly aside: number;
  readonly prompt: number;
  readonly unlisted: number;
  /** The vendor reports more reasoning than output, so the rest of the total is reasoning. */
  readonly isThought: boolean;
}): boolean {
  const { aside, prompt, unlisted, isThought } = counts;
  return !isThought && (aside > prompt || (aside > 0 && aside === unlisted));
}

/** Perplexity counts the reasoning of its research apart, in no total. */
function reasoningBeside(usage: JsonObject, completion: number): number {
  const reasoning = toCount(usage["reasoning_tokens"]) ?? 0;
  const isResearch =
    usage["citation_tokens"] !== undefined || usage["num_search_queries"] !== undefined;
  return isResearch || reasoning > completion ? reasoning : 0;
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
