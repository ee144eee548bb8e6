import { optionalDate, toDateText } from "../../base/dates.ts";
import { toUsd } from "../../base/money.ts";
import { periodStartMs } from "../../call/limits.ts";
import type { KeyRecord, KeyStore } from "../../keys/directory.ts";
import type { MoneyDependencies } from "../accounts/funds.ts";
import type { BudgetView } from "../http/schemas.ts";
import { toLimitsView } from "../input/limits.ts";
import type { KeyView } from "./schemas.ts";

type Dependencies = Pick<MoneyDependencies, "clock" | "money"> & { readonly keys: KeyStore };

/** Keys with the moment of their last use, as the running server knows it or as it is written. */
export async function keyViews(
  { keys, clock, money }: Dependencies,
  records: readonly KeyRecord[],
): Promise<readonly KeyView[]> {
  const uses = await (money?.keyUses ?? keys).lastUses();
  const nowMs = clock.nowMs();
  return records.map((record) => toKeyView({ record, lastUsedMs: uses.get(record.id), nowMs }));
}

export async function keyView(dependencies: Dependencies, record: KeyRecord): Promise<KeyView> {
  const [view] = await keyViews(dependencies, [record]);
  if (view === undefined) throw new Error("every key has a view");
  return view;
}

/** What a key's own budget is, and what is spent of it. */
export type KeyBudgetView = BudgetView & { readonly key: string };

/** Of those that have one. As it is written: a call counts once its receipt does. */
export async function keyBudgets(
  { ledger, clock }: Pick<MoneyDependencies, "ledger" | "clock">,
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

export function toKeyView(options: {
  readonly record: KeyRecord;
  readonly lastUsedMs: number | undefined;
  readonly nowMs: number;
}): KeyView {
  const { record, lastUsedMs, nowMs } = options;
  const { id, accountId, name, hint, models, limits } = record;
  const { createdAtMs, expiresAtMs, revokedAtMs } = record;
  const isExpired = expiresAtMs !== undefined && expiresAtMs <= nowMs;
  const status = revokedAtMs !== undefined ? "revoked" : isExpired ? "expired" : "active";
  return {
    id,
    account: accountId,
    name,
    hint,
    models: models === undefined ? null : [...models],
    status,
    created_at: toDateText(createdAtMs),
    expires_at: optionalDate(expiresAtMs),
    revoked_at: optionalDate(revokedAtMs),
    last_used_at: optionalDate(lastUsedMs),
    previous: status === "active" ? toPreviousView(record, nowMs) : null,
    limits: toLimitsView(limits),
  };
}

function toPreviousView({ previous, expiresAtMs }: KeyRecord, nowMs: number): KeyView["previous"] {
  if (previous === undefined || previous.expiresAtMs <= nowMs) return null;
  const endsMs = Math.min(previous.expiresAtMs, expiresAtMs ?? previous.expiresAtMs);
  return { hint: previous.hint, expires_at: toDateText(endsMs) };
}
