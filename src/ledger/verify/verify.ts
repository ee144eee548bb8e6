import type { Receipt } from "../receipt.ts";
import type { Rollup } from "../rollups.ts";
import type { Entry, LedgerReader, LostTail } from "../store.ts";
import { BudgetSums } from "./budgets.ts";
import { type FromSums, Marks } from "./marks.ts";
import { type LedgerProblem, Problems } from "./problems.ts";
import { checkFolded, RollupSums } from "./sums.ts";
import { TermChecks } from "./terms.ts";

export interface LedgerFindings {
  readonly ok: boolean;
  readonly receipts: number;
  readonly accounts: number;
  readonly entries: number;
  readonly charged: bigint;
  /** Part of what was charged; absent where all receipts are kept. */
  readonly fromSums?: FromSums | undefined;
  /** The first of them; `problemCount` counts them all. */
  readonly problems: readonly LedgerProblem[];
  readonly problemCount: number;
  /** Worth a look, and no fault: budgets that count less than the receipts say. */
  readonly notes: readonly LedgerProblem[];
}

const receiptsAtOnce = 10_000;

/**
 * Adds up the whole ledger anew, in one pass over the receipts; memory grows with accounts,
 * budgets and rollups, not with receipts. Where receipts are no longer kept, the sums of their days
 * stand for them: these are held to the sums of the hours, and both to what accounts have spent.
 *
 * What cannot be seen from here: holds of calls that run, which live in the memory of the gateway
 * alone; and whether a reply that went out has its receipt.
 */
export async function verifyLedger(
  reader: LedgerReader,
  onProgress: (receipts: number) => void = () => {},
): Promise<LedgerFindings> {
  const problems = new Problems();
  const terms = await TermChecks.read(reader, problems);
  const accounts = new AccountSums(await reader.accounts(), problems);
  const entries = await reader.entries();
  for (const entry of entries) accounts.addEntry(entry);
  const budgets = new BudgetSums(await reader.budgetSpends(), await reader.limits());
  const stored = await reader.rollups();
  const rollups = new RollupSums(stored);
  const marks = new Marks(await reader.receiptMarks());
  let receipts = 0;
  let charged = 0n;
  for (const day of stored.days) {
    if (marks.hasReceipts(day)) continue;
    marks.count(day);
    accounts.addDay(day);
    budgets.addDay(day);
    charged += day.charged;
  }
  for await (const receipt of reader.receipts({ fromMs: marks.fromMs, oldestFirst: true })) {
    if (!marks.isKept(receipt)) continue;
    terms.check(receipt);
    checkAmounts(receipt, problems);
    accounts.addReceipt(receipt);
    budgets.add(receipt);
    rollups.add(receipt);
    charged += receipt.charged;
    receipts++;
    if (receipts % receiptsAtOnce === 0) onProgress(receipts);
  }
  accounts.compare(await reader.leases(), reader.spentIs === "sums" ? stored.list : undefined);
  budgets.compare(problems);
  rollups.compare(
    stored.list.filter((rollup) => marks.hasReceipts(rollup)),
    problems,
  );
  checkFolded(stored, problems);
  checkMark(await reader.lostTails(), problems);
  return {
    ok: problems.count === 0,
    receipts,
    accounts: accounts.size,
    entries: entries.length,
    charged,
    ...(marks.counted === undefined ? {} : { fromSums: marks.counted }),
    problems: problems.first,
    problemCount: problems.count,
    notes: problems.notes,
  };
}

function checkAmounts(receipt: Receipt, problems: Problems): void {
  const { id: subject, cost, charged, hold, terms } = receipt;
  // Before terms were recorded, a call could be charged more than was held for it.
  const most = terms === undefined || cost < hold ? cost : hold;
  if (charged < 0n || charged > most)
    problems.add({ kind: "charged", subject, expected: `0 to ${most}`, found: String(charged) });
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
    this.#spend(id, accountId, charged);
  }

  addDay({ hourMs, accountId, charged }: Rollup): void {
    this.#spend(new Date(hourMs).toISOString().slice(0, 10), accountId, charged);
  }

  #spend(subject: string, accountId: string, charged: bigint): void {
    const sums = this.#sums.get(accountId);
    if (sums === undefined) this.#unknown(subject, accountId);
    else sums.spent += charged;
  }

  compare(
    leases: readonly {
      readonly accountId: string;
      readonly granted: bigint;
      readonly spent: bigint;
    }[],
    /** What a lease has spent is their sum, at every moment; undefined: that of the receipts. */
    rollups: readonly Rollup[] | undefined,
  ): void {
    const problems = this.#problems;
    // Those of closed hours are held to the receipts elsewhere.
    const summed = new Map<string, bigint>();
    for (const { accountId, charged } of rollups ?? [])
      summed.set(accountId, (summed.get(accountId) ?? 0n) + charged);
    const known = new Map(leases.map((lease) => [lease.accountId, lease]));
    for (const { accountId } of leases)
      if (!this.#sums.has(accountId)) this.#unknown("lease", accountId);
    for (const [subject, { granted, spent }] of this.#sums) {
      const found = known.get(subject) ?? { granted: 0n, spent: 0n };
      problems.compare({ kind: "granted", subject, expected: granted, found: found.granted });
      const expected = rollups === undefined ? spent : (summed.get(subject) ?? 0n);
      problems.compare({ kind: "spent", subject, expected, found: found.spent });
      if (granted >= spent) continue;
      const balance = String(granted - spent);
      problems.add({ kind: "balance", subject, expected: "0 or more", found: balance });
    }
  }

  #unknown(subject: string, accountId: string): void {
    const expected = "an existing account";
    this.#problems.add({ kind: "unknown-account", subject, expected, found: accountId });
  }
}

/** What the disk had confirmed must be there. */
function checkMark(lost: readonly LostTail[], problems: Problems): void {
  for (const { receiptId, sequence, foundAtMs, receipts, fromMs } of lost) {
    const found = `none since ${new Date(foundAtMs).toISOString()}`;
    if (receiptId !== "")
      problems.add({
        kind: "lost-receipts",
        subject: receiptId,
        expected:
          receipts === undefined || fromMs === undefined
            ? "this receipt and the ones before it"
            : `this receipt and the ones before it, ${receipts} since ${new Date(fromMs).toISOString()}`,
        found,
      });
    if (sequence > 0)
      problems.add({
        kind: "lost-changes",
        subject: `change ${sequence}`,
        expected: "credits, keys, accounts and models up to this change",
        found,
      });
  }
}
