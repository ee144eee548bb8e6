import { isJsonObject, type JsonObject } from "../../call/chat.ts";
import type { SpeakUsage } from "../../call/speak.ts";
import type { Usage } from "../../call/usage.ts";
import { toCount } from "../kit/count.ts";
import { objectsOf } from "./wire.ts";

/**
 * `usageMetadata`, which tells of the whole call each time. Thoughts stand beside the answer, or
 * are in it already, which the total tells, unless they are more than all of it; what a tool of the
 * vendor's read is input. Undefined when input or output is not told; an answer that ended without a
 * word, as one that a filter stopped, has no output to tell of.
 */
export function fromUsageMetadata(value: unknown, isWordless = false): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const prompt = toCount(value["promptTokenCount"]);
  if (prompt === undefined) return undefined;
  const inputTokens = prompt + (toCount(value["toolUsePromptTokenCount"]) ?? 0);
  const thoughts = toCount(value["thoughtsTokenCount"]);
  const outputTokens = outputOf(value, { inputTokens, thoughts }) ?? (isWordless ? 0 : undefined);
  // Half a count would make the answer free.
  if (outputTokens === undefined) return undefined;
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: toCount(value["cachedContentTokenCount"]),
    cacheWriteTokens: undefined,
    reasoningTokens: thoughts === undefined ? undefined : Math.min(thoughts, outputTokens),
    estimated: false,
  };
}

function outputOf(
  value: JsonObject,
  { inputTokens, thoughts }: { inputTokens: number; thoughts: number | undefined },
): number | undefined {
  const total = toCount(value["totalTokenCount"]);
  const candidates = toCount(value["candidatesTokenCount"]);
  if (candidates === undefined) {
    const rest = total === undefined ? 0 : total - inputTokens;
    return rest > 0 ? rest : thoughts;
  }
  const isWithin = inputTokens + candidates === total && (thoughts ?? 0) <= candidates;
  return isWithin ? candidates : candidates + (thoughts ?? 0);
}

/** What was read and what was spoken; all of an answer that is audio only counts as audio. */
export function fromSpeechUsage(value: unknown): SpeakUsage | undefined {
  if (!isJsonObject(value)) return undefined;
  const inputTokens = toCount(value["promptTokenCount"]);
  const audio = objectsOf(value["candidatesTokensDetails"]).find(
    ({ modality }) => modality === "AUDIO",
  );
  const audioTokens = toCount(audio?.["tokenCount"]) ?? toCount(value["candidatesTokenCount"]);
  return inputTokens === undefined && audioTokens === undefined
    ? undefined
    : { inputTokens, audioTokens };
}
