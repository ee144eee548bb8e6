import type { FinishReason } from "../../../call/chat.ts";
import { upstreamError } from "../../kit/failure.ts";

const words: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["SAFETY", "content_filter"],
  ["RECITATION", "content_filter"],
  ["BLOCKLIST", "content_filter"],
  ["PROHIBITED_CONTENT", "content_filter"],
  ["SPII", "content_filter"],
  ["MODEL_ARMOR", "content_filter"],
  ["IMAGE_SAFETY", "content_filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content_filter"],
  ["IMAGE_RECITATION", "content_filter"],
]);

/** What a candidate has said when it ends. */
export interface Saying {
  readonly hasWords: boolean;
  readonly hasCalls: boolean;
  /** Pictures and sounds, which a chat has no place for, were left out. */
  readonly hasMedia: boolean;
}

/**
 * The vendor's word for an end, in ours. Where it has none in ours:
 *
 * - LANGUAGE and OTHER: it stopped the answer for what it says, or does not tell why. What was said
 *   is incomplete, and no longer limit would help: `content_filter`.
 * - MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL, TOO_MANY_TOOL_CALLS, and words that are new: what
 *   came before the bad call stands: `tool_calls` where there were good ones, else `stop`.
 *
 * Each of these with nothing said is a failed call, which another target may serve; so is an answer
 * that is all pictures.
 */
export function toFinishReason(
  word: string,
  { saying, provider }: { readonly saying: Saying; readonly provider: string },
): FinishReason {
  const { hasWords, hasCalls, hasMedia } = saying;
  const isEmpty = !hasWords && !hasCalls;
  const known = words.get(word);
  if (isEmpty && (known === undefined || (known === "stop" && hasMedia)))
    throw upstreamError("upstream_error", {
      detail: `${provider} ended with ${shortWord(word)} and sent ${hasMedia ? "only images" : "no content"}`,
    });
  if (word === "LANGUAGE" || word === "OTHER") return "content_filter";
  if (known !== undefined && known !== "stop") return known;
  return hasCalls ? "tool_calls" : "stop";
}

/** It comes from outside and goes into a log: one short word, or none. */
export function shortWord(word: unknown): string {
  return typeof word === "string" && /^\w{1,60}$/.test(word) ? word : "an unknown reason";
}
