import type { ReceiptAttempt } from "../../ledger/attempt.ts";

/**
 * All attempts in one line, for exports that have had it since before there was a list: `provider/model`
 * for one that served, with ` code` or ` code (detail)` behind it for one that failed, all separated by
 * `, `; or `none: code (detail)` where no target could be asked.
 */
export function toAttemptsText(attempts: readonly ReceiptAttempt[]): string {
  return attempts.map(toText).join(", ");
}

function toText({ provider, model, code, detail }: ReceiptAttempt): string {
  const target = provider === "" ? "none:" : `${provider}/${model}`;
  if (code === undefined) return target;
  // A comma in it would look like the next attempt.
  return `${target} ${code}${detail === undefined ? "" : ` (${detail.replaceAll(",", ";")})`}`;
}

const words: Readonly<Record<string, string>> = {
  ok: "Succeeded",
  served: "Succeeded",
  left: "Caller disconnected",
  upstream_error: "Provider error",
  upstream_unavailable: "No provider available",
  upstream_overloaded: "Provider overloaded",
  upstream_timeout: "Provider timeout",
  upstream_rate_limited: "Provider rate limit",
  upstream_rejected: "Rejected by provider",
  content_filtered: "Blocked by content filter",
  context_length_exceeded: "Input too long",
  model_loading: "Model loading",
  shutting_down: "Gateway shutting down",
  store_unavailable: "Ledger unavailable",
  internal_error: "Gateway error",
};

/** What came of a call or an attempt, for people; it names no vendor. */
export function outcomeWords(outcome: string): string {
  return words[outcome] ?? capitalized(outcome.replaceAll("_", " "));
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
