import { optionalDate, toDateText } from "../../base/dates.ts";
import { toUsd } from "../../base/money.ts";
import { periodStartMs } from "../../call/limits.ts";
import type { KeyRecord, KeyStore } from "../../keys/directory.ts";
import type { RecentRejections, RejectionStore } from "../../rejections/rejection.ts";
import type { MoneyDependencies } from "../accounts/funds.ts";
import type { BudgetView } from "../http/schemas.ts";
import { toLimitsView } from "../input/limits.ts";
import type { KeyView } from "./schemas.ts";

type Dependencies = Pick<MoneyDependencies, "clock" | "money"> & {
  readonly keys: KeyStore;
  readonly rejections: RejectionStore;
};

/** Keys with the moment of their last use, as the running server knows it or as it is written. */
export async function keyViews(
  { keys, clock, money, rejections }: Dependencies,
  records: readonly KeyRecord[],
): Promise<readonly KeyView[]> {
  const nowMs = clock.nowMs();
  // If it fails, what is written is shown.
  await money?.rejections?.flush().catch(() => {});
  const accountIds = new Set(records.map(({ accountId }) => accountId));
  const [accountId] = accountIds;
  const [uses, refusals, recent] = await Promise.all([
    (money?.keyUses ?? keys).lastUses(),
    rejections.lastRejections(),
    (money?.reports ?? rejections)
      .recent({
        accountId: accountIds.size === 1 ? accountId : undefined,
        fromMs: nowMs - hourMs,
      })
      // While reports are overloaded, the keys are listed without it.
      .catch(() => []),
  ]);
  const recentOf = Map.groupBy(recent, ({ keyId }) => keyId);
  return records.map((record) =>
    toKeyView({
      record,
      lastUsedMs: uses.get(record.id),
      lastRejectedMs: refusals.get(record.id),
      rejectedLastHour: recentOf.get(record.id) ?? [],
      nowMs,
    }),
  );
}

const hourMs = 3_600_000;

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
  readonly lastRejectedMs?: number | undefined;
  readonly rejectedLastHour?: readonly RecentRejections[];
  readonly nowMs: number;
}): KeyView {
  const { record, lastUsedMs, lastRejectedMs, rejectedLastHour = [], nowMs } = options;
  const { id, accountId, name, hint, models, limits } = record;
  const { createdAtMs, expiresAtMs, revokedAtMs, pausedAtMs, createdBy } = record;
  const status = statusOf(record, nowMs);
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
    paused_at: status === "paused" ? optionalDate(pausedAtMs) : null,
    created_by: createdBy ?? null,
    last_used_at: optionalDate(lastUsedMs),
    last_rejected_at: optionalDate(lastRejectedMs),
    rejected_last_hour: rejectedLastHour.map(({ status, code, count }) => ({
      status,
      code,
      count,
    })),
    previous: status === "active" || status === "paused" ? toPreviousView(record, nowMs) : null,
    limits: toLimitsView(limits),
  };
}

function statusOf({ expiresAtMs, revokedAtMs, pausedAtMs }: KeyRecord, nowMs: number) {
  if (revokedAtMs !== undefined) return "revoked";
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return "expired";
  return pausedAtMs === undefined ? "active" : "paused";
}

function toPreviousView({ previous, expiresAtMs }: KeyRecord, nowMs: number): KeyView["previous"] {
  if (previous === undefined || previous.expiresAtMs <= nowMs) return null;
  const endsMs = Math.min(previous.expiresAtMs, expiresAtMs ?? previous.expiresAtMs);
  return { hint: previous.hint, expires_at: toDateText(endsMs) };
}
