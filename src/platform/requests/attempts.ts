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
  ok: "answered",
  served: "answered",
  left: "the caller left",
  upstream_error: "the provider failed",
  upstream_unavailable: "no provider could be reached",
  upstream_overloaded: "the provider was overloaded",
  upstream_timeout: "the provider took too long",
  upstream_rate_limited: "the provider was asked too often",
  upstream_rejected: "the provider refused the request",
  content_filtered: "the content was refused",
  context_length_exceeded: "the input was too long for the model",
  model_loading: "the model was still loading",
  shutting_down: "the gateway was stopping",
  store_unavailable: "the gateway could not write its ledger",
  internal_error: "the gateway failed",
};

/** What came of a call or an attempt, for people; it names no vendor. */
export function outcomeWords(outcome: string): string {
  return words[outcome] ?? outcome.replaceAll("_", " ");
}
