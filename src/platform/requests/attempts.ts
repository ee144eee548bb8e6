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
