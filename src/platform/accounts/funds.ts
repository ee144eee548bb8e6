import type { Clock } from "../../base/clock.ts";
import { earliest } from "../../base/dates.ts";
import type { Freshness } from "../../base/freshness.ts";
import type { FleetStore } from "../../fleet/store.ts";
import type { KeyStore } from "../../keys/directory.ts";
import type { AccountStore } from "../../ledger/account.ts";
import type { Purses } from "../../ledger/purses.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import type { LedgerReports } from "../../ledger/reports.ts";
import type { Rollups, Unwritten } from "../../ledger/rollups.ts";
import type { Lease, LedgerStore, LimitsChange } from "../../ledger/store.ts";
import type { Rejection, RejectionReports } from "../../rejections/rejection.ts";
import { toFreshness } from "../reports/freshness.ts";

/** The money as the running server counts it, ahead of what is written. */
export interface RunningMoney {
  readonly purses: Purses;
  /** Resolves when the sums by hour are all written. */
  flushRollups(): Promise<void>;
  /** Since when the store's sums lack receipts of an account, or of any; undefined when they lack none. */
  unwrittenSinceMs(accountId?: string): number | undefined;
  readonly sums: Pick<Rollups, "betweenWrites">;
  /** When keys were last used, ahead of what is written. */
  readonly keyUses?: Pick<KeyStore, "lastUses">;
  /** Reads off this thread. */
  readonly reports?: Pick<LedgerReports, "usage" | "receipts" | "providers" | "catchUp"> &
    Pick<RejectionReports, "rejections" | "recent">;
  /** Called for every committed receipt. */
  readonly receiptWatchers?: Set<(receipt: Receipt) => void>;
  /** Calls that were refused, ahead of what is written. */
  readonly rejections?: {
    flush(): Promise<void>;
    readonly watchers: Set<(rejection: Rejection) => void>;
  };
}

export interface MoneyDependencies {
  readonly accounts: AccountStore;
  readonly ledger: LedgerStore;
  readonly clock: Clock;
  /** Resolves when this process uses what was just written. */
  readonly takeEffect: () => Promise<void>;
  /** Resolves when all that was written survives a power cut. */
  readonly sync: () => Promise<void>;
  /** Absent when a command has opened the store itself. */
  readonly money?: RunningMoney | undefined;
  /** Where several gateways share the database: each has sums that it has not written yet. */
  readonly fleet?: Pick<FleetStore, "wantReports"> | undefined;
}

/** What is free is `granted` - `spent` - `held`. */
type Funds = Omit<Lease, "accountId"> & { readonly held: bigint };

/** What an account has, as the running server counts it, or as it is written where none runs. */
export async function fundsOf(
  { ledger, money }: Pick<MoneyDependencies, "ledger" | "money">,
  accountId: string,
): Promise<Funds> {
  const pot = money?.purses.wholePot(accountId);
  if (pot !== undefined) return { granted: pot.limit, spent: pot.spent, held: pot.held };
  const { granted, spent } = (await ledger.lease(accountId)) ?? { granted: 0n, spent: 0n };
  return { granted, spent, held: 0n };
}

/**
 * Completes the hourly sums. Without a running server, a crash may have left some incomplete; they
 * are recomputed, as the next start would do. Resolves with how far the sums reach.
 */
export async function closeSums(
  { ledger, money, fleet, clock }: Pick<MoneyDependencies, "ledger" | "money" | "fleet" | "clock">,
  accountId?: string,
): Promise<Freshness> {
  // If the disk cannot be written, the existing sums are still shown.
  await money?.flushRollups().catch(() => {});
  const othersMs = (await fleet?.wantReports())?.missingSinceMs;
  if (money !== undefined || fleet !== undefined)
    return toFreshness(earliest(othersMs, money?.unwrittenSinceMs(accountId)), clock);
  const openFromMs = await ledger.rollups.openFromMs();
  if (openFromMs !== undefined) await ledger.rollups.recount(openFromMs);
  return toFreshness(undefined, clock);
}

/**
 * Gives limits to an account or a key. A budget counts every receipt of its period, calls that run
 * at that moment included.
 */
export async function setLimits(
  dependencies: MoneyDependencies,
  { owner, limits, audit }: Pick<LimitsChange, "owner" | "limits" | "audit">,
): Promise<void> {
  const { ledger, money, clock, takeEffect, sync } = dependencies;
  const change = (unwritten: Unwritten) =>
    ledger.setLimits({
      owner,
      limits,
      audit,
      nowMs: () => clock.nowMs(),
      unwritten,
      onSet: (set) => money?.purses.setBudget({ ...set, owner, limit: limits?.budget }),
    });
  if (money === undefined) {
    await closeSums(dependencies);
    await change(() => 0n);
  } else await money.sums.betweenWrites(change);
  await takeEffect();
  await sync();
}
