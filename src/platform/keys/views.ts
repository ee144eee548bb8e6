import { toUsd } from "../../base/money.ts";
import { periodStartMs } from "../../call/limits.ts";
import type { KeyRecord, KeyStore } from "../../keys/directory.ts";
import type { MoneyParts } from "../accounts/funds.ts";
import type { BudgetView } from "../accounts/money-views.ts";
import { type KeyView, toKeyView } from "../views.ts";

type Parts = Pick<MoneyParts, "clock" | "money"> & { readonly keys: KeyStore };

/** Keys with the moment of their last use, as the running server knows it or as it is written. */
export async function keyViews(
  { keys, clock, money }: Parts,
  records: readonly KeyRecord[],
): Promise<readonly KeyView[]> {
  const uses = await (money?.keyUses ?? keys).lastUses();
  const nowMs = clock.nowMs();
  return records.map((record) => toKeyView({ record, lastUsedMs: uses.get(record.id), nowMs }));
}

export async function keyView(parts: Parts, record: KeyRecord): Promise<KeyView> {
  const [view] = await keyViews(parts, [record]);
  if (view === undefined) throw new Error("there is one for each key");
  return view;
}

/** What a key's own budget is, and what is spent of it. */
export type KeyBudgetView = BudgetView & { readonly key: string };

/** Of those that have one. As it is written: a call counts once its receipt does. */
export async function keyBudgets(
  { ledger, clock }: Pick<MoneyParts, "ledger" | "clock">,
  records: readonly KeyRecord[],
): Promise<readonly KeyBudgetView[]> {
  const limited = records.flatMap(({ id, limits }) =>
    limits?.budget === undefined ? [] : [{ id, budget: limits.budget }],
  );
  if (limited.length === 0) return [];
  const nowMs = clock.nowMs();
  const written = await ledger.budgetSpends(periodStartMs("month", nowMs));
  const spends = new Map(
    written.map(({ ownerId, periodStartMs: startMs, spent }) => [`${ownerId} ${startMs}`, spent]),
  );
  return limited.map(({ id, budget: { nano, period } }) => ({
    key: id,
    limit_usd: toUsd(nano),
    period,
    spent_usd: toUsd(spends.get(`${id} ${periodStartMs(period, nowMs)}`) ?? 0n),
  }));
}
