import { toDateText } from "../../base/dates.ts";
import { idTimeMs } from "../../base/ids.ts";
import { toUsd } from "../../base/money.ts";
import { outcomeLabel } from "../../call/outcome.ts";
import { priceKeys } from "../../call/price.ts";
import { type AttemptJson, toAttemptJson } from "../../ledger/attempt.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import { replyStatus } from "../../ledger/reply-status.ts";
import { toAttemptsText } from "./attempts.ts";

export type ReceiptCell = string | number | boolean | null | readonly AttemptJson[];
/** By their ids. */
export interface ReceiptNames {
  readonly accounts: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
}
type Read = (receipt: Receipt, names: ReceiptNames) => ReceiptCell;

/** One receipt for machines: the names in JSON, and the columns of a CSV in this order. */
const columns: Readonly<Record<string, Read>> = {
  id: ({ id }) => id,
  began_at: ({ id }) => toDateText(idTimeMs(id)),
  account_id: ({ accountId }) => accountId,
  account: ({ accountId }, { accounts }) => accounts.get(accountId) ?? null,
  key_id: ({ keyId }) => keyId,
  // Null for the playground's keys, which are not kept.
  key: ({ keyId }, { keys }) => keys.get(keyId) ?? null,
  model: ({ model }) => model,
  endpoint: ({ endpoint }) => endpoint,
  provider: ({ provider }) => provider,
  attempts: ({ attempts }) => toAttemptsText(attempts),
  outcome: ({ outcome }) => outcome,
  outcome_label: ({ outcome }) => outcomeLabel(outcome),
  status: (receipt) => replyStatus(receipt) ?? null,
  streamed: ({ isStreamed }) => isStreamed ?? null,
  price_version: ({ priceVersion }) => priceVersion,
  ...Object.fromEntries(priceKeys.map((key) => [key, ({ units }: Receipt) => units[key] ?? 0])),
  reasoning: ({ reasoningTokens }) => reasoningTokens,
  estimated: ({ estimated }) => estimated,
  hold_usd: ({ hold }) => toUsd(hold),
  cost_usd: ({ cost }) => toUsd(cost),
  charged_usd: ({ charged }) => toUsd(charged),
  vendor_cost_usd: ({ vendorCost }) => (vendorCost === undefined ? null : toUsd(vendorCost)),
  first_byte_ms: ({ firstByteMs }) => firstByteMs ?? null,
  duration_ms: ({ durationMs }) => durationMs,
  // Null in receipts from before they were recorded.
  key_limits_version: ({ terms }) => terms?.keyLimits ?? null,
  account_limits_version: ({ terms }) => terms?.accountLimits ?? null,
  cost_version: ({ terms }) => terms?.cost?.version ?? null,
  cost_route: ({ terms }) => terms?.cost?.route ?? null,
  hold_input: ({ terms }) => terms?.hold.input ?? null,
  hold_output: ({ terms }) => terms?.hold.output ?? null,
  hold_audio: ({ terms }) => terms?.hold.audio ?? null,
  hold_image: ({ terms }) => terms?.hold.image ?? null,
  hold_video: ({ terms }) => terms?.hold.video ?? null,
  hold_audio_seconds: ({ terms }) => terms?.hold.audioSeconds ?? null,
  attempt_list: ({ attempts }) => attempts.map(toAttemptJson),
  // Behind the others: scripts may count columns.
  dialect: ({ dialect }) => dialect ?? null,
};

/** Of vendors; members of an account do not get them. */
const forOperatorAlone = new Set([
  "provider",
  "attempts",
  "attempt_list",
  "vendor_cost_usd",
  "cost_version",
  "cost_route",
]);

export interface ReceiptColumns {
  readonly names: readonly string[];
  cells(receipt: Receipt, names: ReceiptNames): readonly ReceiptCell[];
}

function toColumns(shown: readonly (readonly [string, Read])[]): ReceiptColumns {
  return {
    names: shown.map(([name]) => name),
    cells: (receipt, names) => shown.map(([, read]) => read(receipt, names)),
  };
}

export const operatorColumns = toColumns(Object.entries(columns));
export const memberColumns = toColumns(
  Object.entries(columns).filter(([name]) => !forOperatorAlone.has(name)),
);
