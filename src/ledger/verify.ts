import { idTimeMs } from "../base/ids.ts";
import { type BudgetPeriod, budgetPeriods, periodEndMs, periodStartMs } from "../call/limits.ts";
import { costOf, type Price } from "../call/price.ts";
import type { Receipt } from "./receipt.ts";
import type { Rollup } from "./rollups.ts";
import type { BudgetSpend, Entry, LedgerReader } from "./store.ts";
import { checkMark } from "./verify-mark.ts";
import { type LedgerProblem, Problems } from "./verify-problems.ts";
import { checkFolded, RollupSums } from "./verify-sums.ts";

export interface LedgerFindings {
  readonly ok: boolean;
  readonly receipts: number;
  readonly accounts: number;
  readonly entries: number;
  readonly charged: bigint;
  /** The first of them; `problemCount` counts them all. */
  readonly problems: readonly LedgerProblem[];
  readonly problemCount: number;
  /** Worth a look, and no fault: budgets that count less than the receipts say. */
  readonly notes: readonly LedgerProblem[];
}

const receiptsAtOnce = 10_000;

/**
 * Adds up the whole ledger anew, in one pass over the receipts; memory grows with accounts,
 * budgets and rollups, not with receipts.
 *
 * What cannot be seen from here: holds, which live in the memory of the gateway alone; whether
 * a reply that went out has its receipt; and why a budget counts less than its receipts. It may
 * have been taken away in the middle of its period, or given while calls ran that it then does not
 * count: that is noted while the period lasts. That it counts more is always wrong.
 */
export async function verifyLedger(
  reader: LedgerReader,
  onProgress: (receipts: number) => void = () => {},
): Promise<LedgerFindings> {
  const problems = new Problems();
  const prices = new Map<string, Price | null>();
  for (const { modelId, version, price } of await reader.prices())
    prices.set(`${modelId} ${version}`, price);
  const accounts = new AccountSums(await reader.accounts(), problems);
  const entries = await reader.entries();
  for (const entry of entries) accounts.addEntry(entry);
  const budgets = new BudgetSums(await reader.budgetSpends());
  const stored = await reader.rollups();
  const rollups = new RollupSums(stored);
  let receipts = 0;
  let charged = 0n;
  for await (const receipt of reader.receipts({ oldestFirst: true })) {
    checkReceipt({ receipt, prices, problems });
    accounts.addReceipt(receipt);
    budgets.add(receipt);
    rollups.add(receipt);
    charged += receipt.charged;
    receipts++;
    if (receipts % receiptsAtOnce === 0) onProgress(receipts);
  }
  accounts.compare(await reader.leases(), stored.list);
  budgets.compare(problems);
  rollups.compare(stored.list, problems);
  checkFolded(stored, problems);
  checkMark(await reader.lostTails(), problems);
  return {
    ok: problems.count === 0,
    receipts,
    accounts: accounts.size,
    entries: entries.length,
    charged,
    problems: problems.first,
    problemCount: problems.count,
    notes: problems.notes,
  };
}

function checkReceipt(options: {
  readonly receipt: Receipt;
  readonly prices: ReadonlyMap<string, Price | null>;
  readonly problems: Problems;
}): void {
  const { receipt, prices, problems } = options;
  const { id: subject, model, priceVersion, units, cost, charged, hold } = receipt;
  const price = prices.get(`${model} ${priceVersion}`);
  if (price === undefined || price === null)
    problems.add({
      kind: "unknown-price",
      subject,
      expected: "a price of its model",
      found: `${model} version ${priceVersion}`,
    });
  else problems.compare({ kind: "cost", subject, expected: costOf(units, price), found: cost });
  if (charged < 0n || charged > cost)
    problems.add({ kind: "charged", subject, expected: `0 to ${cost}`, found: String(charged) });
  if (hold < 0n)
    problems.add({ kind: "hold", subject, expected: "0 or more", found: String(hold) });
}

class AccountSums {
  readonly #problems: Problems;
  readonly #sums: Map<string, { granted: bigint; spent: bigint }>;

  constructor(accounts: readonly { readonly id: string }[], problems: Problems) {
    this.#problems = problems;
    this.#sums = new Map(accounts.map(({ id }) => [id, { granted: 0n, spent: 0n }]));
  }

  get size(): number {
    return this.#sums.size;
  }

  addEntry({ id, accountId, kind, nano }: Entry): void {
    const sums = this.#sums.get(accountId);
    if (sums === undefined) this.#unknown(id, accountId);
    else sums.granted += nano;
    const isRight = kind === "withdrawal" ? nano < 0n : nano > 0n;
    if (isRight) return;
    const expected = kind === "withdrawal" ? "below 0" : "above 0";
    this.#problems.add({ kind: "entry", subject: id, expected, found: String(nano) });
  }

  addReceipt({ id, accountId, charged }: Receipt): void {
    const sums = this.#sums.get(accountId);
    if (sums === undefined) this.#unknown(id, accountId);
    else sums.spent += charged;
  }

  compare(
    leases: readonly {
      readonly accountId: string;
      readonly granted: bigint;
      readonly spent: bigint;
    }[],
    rollups: readonly Rollup[],
  ): void {
    const problems = this.#problems;
    // What a lease has spent is the sum of the account's rollups, at every moment; those of closed
    // hours are held to the receipts below.
    const summed = new Map<string, bigint>();
    for (const { accountId, charged } of rollups)
      summed.set(accountId, (summed.get(accountId) ?? 0n) + charged);
    const known = new Map(leases.map((lease) => [lease.accountId, lease]));
    for (const { accountId } of leases)
      if (!this.#sums.has(accountId)) this.#unknown("lease", accountId);
    for (const [subject, { granted, spent }] of this.#sums) {
      const found = known.get(subject) ?? { granted: 0n, spent: 0n };
      problems.compare({ kind: "granted", subject, expected: granted, found: found.granted });
      const expected = summed.get(subject) ?? 0n;
      problems.compare({ kind: "spent", subject, expected, found: found.spent });
      if (granted >= spent) continue;
      const balance = String(granted - spent);
      problems.add({ kind: "balance", subject, expected: "0 or more", found: balance });
    }
  }

  #unknown(subject: string, accountId: string): void {
    const expected = "an account that there is";
    this.#problems.add({ kind: "unknown-account", subject, expected, found: accountId });
  }
}

/** By what its start can be the start of: at the first of a month the row does not say which. */
interface BudgetRow extends BudgetSpend {
  readonly sums: Map<BudgetPeriod, bigint>;
}

class BudgetSums {
  readonly #rows = new Map<string, Map<number, BudgetRow>>();
  #newestMs = 0;

  constructor(spends: readonly BudgetSpend[]) {
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
  }

  add({ id, accountId, keyId, charged }: Receipt): void {
    const ms = idTimeMs(id);
    this.#newestMs = Math.max(this.#newestMs, ms);
    for (const owner of [accountId, keyId]) {
      const rows = this.#rows.get(owner);
      if (rows === undefined) continue;
      for (const kind of budgetPeriods) {
        const sums = rows.get(periodStartMs(kind, ms))?.sums;
        const sum = sums?.get(kind);
        if (sum !== undefined) sums?.set(kind, sum + charged);
      }
    }
  }

  compare(problems: Problems): void {
    for (const rows of this.#rows.values())
      for (const { ownerId, periodStartMs: startMs, spent, sums } of rows.values()) {
        const all = [...sums.values()];
        if (all.includes(spent)) continue;
        const isLess = all.some((sum) => spent < sum);
        const isOver = [...sums].every(([kind]) => periodEndMs(kind, startMs) <= this.#newestMs);
        if (isLess && isOver) continue;
        const since = startMs === 0 ? "" : ` since ${new Date(startMs).toISOString().slice(0, 10)}`;
        const expected = all.length === 0 ? "the start of a day" : all.join(" or ");
        const problem = {
          kind: "budget",
          subject: `${ownerId}${since}`,
          expected,
          found: String(spent),
        };
        if (isLess) problems.note(problem);
        else problems.add(problem);
      }
  }
}
