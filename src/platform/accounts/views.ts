import { toDateText } from "../../base/dates.ts";
import { toUsd } from "../../base/money.ts";
import type { Account } from "../../ledger/account.ts";
import type { Entry } from "../../ledger/store.ts";
import { toLimitsView } from "../input/limits.ts";
import type { AccountView, EntryView } from "./schemas.ts";

export function toAccountView(options: {
  readonly account: Account;
  readonly keys: number;
  readonly balance: bigint;
}): AccountView {
  const { id, name, createdAtMs, suspendedAtMs, limits } = options.account;
  return {
    id,
    name,
    created_at: toDateText(createdAtMs),
    keys: options.keys,
    status: suspendedAtMs === undefined ? "active" : "suspended",
    balance_usd: toUsd(options.balance),
    limits: toLimitsView(limits),
  };
}

export function toEntryView(entry: Entry): EntryView {
  return {
    id: entry.id,
    account: entry.accountId,
    kind: entry.kind,
    amount_usd: toUsd(entry.nano),
    reference: entry.reference,
    note: entry.note,
    created_at: toDateText(entry.createdAtMs),
  };
}
