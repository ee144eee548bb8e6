import { idTimeMs } from "../../base/ids.ts";
import {
  type BudgetLimit,
  type BudgetPeriod,
  budgetPeriods,
  periodEndMs,
  periodStartMs,
} from "../../call/limits.ts";
import type { Receipt } from "../receipt.ts";
import type { Rollup } from "../rollups.ts";
import type { BudgetSpend, StoredLimits } from "../store.ts";
import type { Problems } from "./problems.ts";

/** By what its start can be the start of: at the first of a month the row does not say which. */
interface BudgetRow extends BudgetSpend {
  readonly sums: Map<BudgetPeriod, bigint>;
}

/** What was charged in a period to calls that were admitted by one version of the limits. */
interface VersionSum {
  charged: bigint;
  /** Whether one of them had to be covered. */
  hasHold: boolean;
}

/** The budgets of an account or a key, and what its receipts say of them. */
interface Owner {
  readonly budgets: ReadonlyMap<number, BudgetLimit>;
  /** The last one, where it is a budget, and from which period on its rows have all receipts. */
  readonly exact: { readonly period: BudgetPeriod; readonly fromMs: number } | undefined;
  readonly kinds: readonly BudgetPeriod[];
  /** By kind and start of the period, then by version. */
  readonly sums: Map<string, Map<number, VersionSum>>;
}

/** Receipts from before versions were recorded come before all of them. */
const noVersion = -1;
/** Comes after all of them: it says of none that it was passed. */
const unknownVersion = Number.POSITIVE_INFINITY;

/**
 * Adds up receipts by budget.
 *
 * - What is written of a budget is never more than its receipts say. For the budget in force it is
 *   exactly that, from the period on in which it was set. Before that, and for budgets that were
 *   taken away, it may be less, which is noted while the period lasts.
 * - No budget was passed: when a call was admitted by a version of the limits, all calls of the
 *   period that were admitted by it or by an earlier version fit into its budget. A budget that
 *   was set below what was spent admits nothing and is not passed.
 */
export class BudgetSums {
  readonly #rows = new Map<string, Map<number, BudgetRow>>();
  readonly #owners = new Map<string, Owner>();
  #newestMs = 0;

  constructor(spends: readonly BudgetSpend[], limits: readonly StoredLimits[]) {
    for (const spend of spends) {
      const startMs = spend.periodStartMs;
      const kinds = budgetPeriods.filter((kind) =>
        // The start of 1970 stands for a budget without periods.
        startMs === 0 ? kind === "total" : periodStartMs(kind, startMs) === startMs,
      );
      const rows = this.#rows.get(spend.ownerId) ?? new Map<number, BudgetRow>();
      this.#rows.set(spend.ownerId, rows);
      rows.set(startMs, { ...spend, sums: new Map(kinds.map((kind) => [kind, 0n])) });
    }
    for (const [ownerId, versions] of Map.groupBy(limits, (one) => one.ownerId))
      this.#owners.set(ownerId, toOwner(versions));
  }

  add(receipt: Receipt): void {
    const { id, accountId, keyId, charged, terms } = receipt;
    const ms = idTimeMs(id);
    this.#newestMs = Math.max(this.#newestMs, ms);
    for (const [ownerId, version] of [
      [accountId, terms?.accountLimits],
      [keyId, terms?.keyLimits],
    ] as const) {
      this.#addToRows(ownerId, ms, charged);
      const owner = this.#owners.get(ownerId);
      if (owner !== undefined) addTo(owner, receipt, { ms, version: version ?? noVersion });
    }
  }

  /**
   * A day whose receipts are gone: all of it was charged, but by which versions of the limits its
   * calls were admitted is not known any more.
   */
  addDay({ hourMs: ms, accountId, keyId, charged }: Rollup): void {
    this.#newestMs = Math.max(this.#newestMs, ms);
    for (const ownerId of [accountId, keyId]) {
      this.#addToRows(ownerId, ms, charged);
      const owner = this.#owners.get(ownerId);
      if (owner !== undefined) addTo(owner, { charged, hold: 0n }, { ms, version: unknownVersion });
    }
  }

  #addToRows(ownerId: string, ms: number, charged: bigint): void {
    const rows = this.#rows.get(ownerId);
    if (rows === undefined) return;
    for (const kind of budgetPeriods) {
      const sums = rows.get(periodStartMs(kind, ms))?.sums;
      const sum = sums?.get(kind);
      if (sum !== undefined) sums?.set(kind, sum + charged);
    }
  }

  compare(problems: Problems): void {
    for (const [ownerId, rows] of this.#rows) {
      const exact = this.#owners.get(ownerId)?.exact;
      // What must be exact is looked at below, also where there is no row.
      for (const row of rows.values())
        if (exact === undefined || !row.sums.has(exact.period) || row.periodStartMs < exact.fromMs)
          this.#compareRow(row, problems);
    }
    for (const [ownerId, owner] of this.#owners) {
      for (const [name, versions] of owner.sums) {
        const [kind = "", start = "0"] = name.split(" ");
        const period = { ownerId, kind, startMs: Number(start), versions };
        compareLimits(owner, period, problems);
        this.#compareExact(owner, period, problems);
      }
      this.#compareUnused(ownerId, owner, problems);
    }
  }

  #compareRow({ ownerId, periodStartMs: startMs, spent, sums }: BudgetRow, problems: Problems) {
    const all = [...sums.values()];
    if (all.includes(spent)) return;
    const isLess = all.some((sum) => spent < sum);
    const isOver = [...sums].every(([kind]) => periodEndMs(kind, startMs) <= this.#newestMs);
    if (isLess && isOver) return;
    const problem = {
      kind: "budget",
      subject: subjectOf(ownerId, startMs),
      expected: all.length === 0 ? "the start of a day" : all.join(" or "),
      found: String(spent),
    };
    if (isLess) problems.note(problem);
    else problems.add(problem);
  }

  #compareExact({ exact }: Owner, period: PeriodSums, problems: Problems): void {
    const { ownerId, kind, startMs, versions } = period;
    if (exact === undefined || exact.period !== kind || startMs < exact.fromMs) return;
    let expected = 0n;
    for (const { charged } of versions.values()) expected += charged;
    const found = this.#rows.get(ownerId)?.get(startMs)?.spent ?? 0n;
    problems.compare({ kind: "budget", subject: subjectOf(ownerId, startMs), expected, found });
  }

  /** Rows of periods in which there is no receipt. */
  #compareUnused(ownerId: string, { exact, sums }: Owner, problems: Problems): void {
    if (exact === undefined) return;
    for (const row of this.#rows.get(ownerId)?.values() ?? []) {
      const { periodStartMs: startMs, spent } = row;
      const isExact = row.sums.has(exact.period) && startMs >= exact.fromMs;
      if (!isExact || sums.has(`${exact.period} ${startMs}`)) continue;
      const subject = subjectOf(ownerId, startMs);
      problems.compare({ kind: "budget", subject, expected: 0n, found: spent });
    }
  }
}

interface PeriodSums {
  readonly ownerId: string;
  readonly kind: string;
  readonly startMs: number;
  readonly versions: ReadonlyMap<number, VersionSum>;
}

function compareLimits({ budgets }: Owner, period: PeriodSums, problems: Problems): void {
  const { ownerId, kind, startMs, versions } = period;
  let charged = 0n;
  for (const [version, sum] of [...versions].toSorted(([one], [other]) => one - other)) {
    charged += sum.charged;
    const budget = budgets.get(version);
    if (budget?.period !== kind || !sum.hasHold || charged <= budget.nano) continue;
    problems.add({
      kind: "budget-limit",
      subject: `${subjectOf(ownerId, startMs)}, limits version ${version}`,
      expected: `at most ${budget.nano}`,
      found: String(charged),
    });
  }
}

function toOwner(versions: readonly StoredLimits[]): Owner {
  const budgets = new Map<number, BudgetLimit>();
  for (const { version, limits } of versions)
    if (limits?.budget !== undefined) budgets.set(version, limits.budget);
  const last = versions.toSorted((one, other) => one.version - other.version).at(-1);
  const budget = last?.limits?.budget;
  return {
    budgets,
    // From before changes were recorded it is not known when it was set. Where the budget lends
    // nothing, what was charged before it may be missing.
    exact:
      last === undefined || budget === undefined || budget.nano === 0n || last.effectiveAtMs === 0
        ? undefined
        : { period: budget.period, fromMs: periodStartMs(budget.period, last.effectiveAtMs) },
    kinds: budgetPeriods.filter((kind) =>
      [...budgets.values()].some((budget) => budget.period === kind),
    ),
    sums: new Map(),
  };
}

function addTo(
  { kinds, sums }: Owner,
  { charged, hold }: Pick<Receipt, "charged" | "hold">,
  { ms, version }: { readonly ms: number; readonly version: number },
): void {
  for (const kind of kinds) {
    const name = `${kind} ${periodStartMs(kind, ms)}`;
    const versions = sums.get(name) ?? new Map<number, VersionSum>();
    sums.set(name, versions);
    const sum = versions.get(version) ?? { charged: 0n, hasHold: false };
    versions.set(version, sum);
    sum.charged += charged;
    sum.hasHold ||= hold > 0n;
  }
}

const subjectOf = (ownerId: string, startMs: number) =>
  startMs === 0 ? ownerId : `${ownerId} since ${new Date(startMs).toISOString().slice(0, 10)}`;
