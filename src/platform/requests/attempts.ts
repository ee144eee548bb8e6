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
  ok: "succeeded",
  served: "succeeded",
  left: "client disconnected",
  upstream_error: "provider error",
  upstream_unavailable: "no provider available",
  upstream_overloaded: "provider overloaded",
  upstream_timeout: "provider timeout",
  upstream_rate_limited: "provider rate limit",
  upstream_rejected: "rejected by the provider",
  content_filtered: "blocked by a content filter",
  context_length_exceeded: "input too long for the model",
  model_loading: "model still loading",
  shutting_down: "gateway shutting down",
  store_unavailable: "gateway could not write its ledger",
  internal_error: "internal gateway error",
};

/** The outcome of a call or an attempt, for people; it names no vendor. */
export function outcomeWords(outcome: string): string {
  return words[outcome] ?? outcome.replaceAll("_", " ");
}
