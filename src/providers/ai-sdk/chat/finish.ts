import type { FinishReason } from "../../../call/chat.ts";
import { isFields } from "../model.ts";

/**
 * Why an answer ended, as a package tells it. `cut`: it does not know, which is how packages end a
 * stream whose wire broke off; `failed`: it has told of an error before.
 */
export type Ending = FinishReason | "cut" | "failed";

const words: Readonly<Record<string, Ending>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
  error: "failed",
};

export function toEnding(reason: unknown, hasCalls: boolean): Ending {
  // The package's word, and the vendor's own.
  const { unified, raw } = isFields(reason) ? reason : {};
  const known = typeof unified === "string" ? words[unified] : undefined;
  if (known === undefined && (raw === undefined || raw === null)) return "cut";
  const ending = known ?? "stop";
  return ending === "stop" && hasCalls ? "tool_calls" : ending;
}
