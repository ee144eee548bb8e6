import type { Unwritten } from "../../ledger/rollups.ts";
import type { LimitsChange } from "../../ledger/store.ts";
import { closeSums } from "../reports/spend.ts";
import type { MoneyDependencies } from "./funds.ts";

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
