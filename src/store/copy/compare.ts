import { Problem } from "../../base/problem.ts";
import type { BudgetSpend, Lease, LedgerReader } from "../../ledger/store.ts";
import { type LedgerFindings, verifyLedger } from "../../ledger/verify/verify.ts";

/** What the ledgers of both databases must have in common. */
export interface LedgerFacts {
  readonly findings: LedgerFindings;
  readonly leases: readonly Lease[];
  readonly budgetSpends: readonly BudgetSpend[];
}

/** Recomputes a whole ledger. */
export async function readFacts(
  reader: LedgerReader,
  onReceipts: (count: number) => void,
): Promise<LedgerFacts> {
  return {
    findings: await verifyLedger(reader, onReceipts),
    leases: await reader.leases(),
    budgetSpends: await reader.budgetSpends(),
  };
}

/** A ledger that is wrong before the copy would be wrong behind it, and harder to repair. */
export function refuseWrong({ findings }: LedgerFacts): void {
  if (findings.ok) return;
  throw new Problem({
    code: "failed",
    message: `The SQLite ledger has ${findings.problemCount} ${findings.problemCount === 1 ? "problem" : "problems"}. Resolve ${findings.problemCount === 1 ? "it" : "them"} before you copy it.`,
    command: "ledger verify",
  });
}

/** The differences, in words; none where the copy is right. */
export function differences(source: LedgerFacts, target: LedgerFacts): readonly string[] {
  const found: string[] = [];
  const compare = (what: string, from: unknown, to: unknown) => {
    if (from !== to) found.push(`${what}: ${String(from)} in SQLite, ${String(to)} in PostgreSQL`);
  };
  for (const { kind, subject, expected, found: has } of target.findings.problems)
    found.push(`${kind} of ${subject}: expected ${expected}, found ${has}`);
  for (const name of ["receipts", "accounts", "entries", "charged"] as const)
    compare(name, source.findings[name], target.findings[name]);
  compareMaps(balancesOf(source), balancesOf(target), (name, from, to) =>
    compare(`balance of ${name}`, from, to),
  );
  compareMaps(spendsOf(source), spendsOf(target), (name, from, to) =>
    compare(`budget of ${name}`, from, to),
  );
  return found;
}

const balancesOf = ({ leases }: LedgerFacts) =>
  new Map(leases.map(({ accountId, granted, spent }) => [accountId, granted - spent]));

/** A budget that nothing was spent of may have a row or none. */
const spendsOf = ({ budgetSpends }: LedgerFacts) =>
  new Map(
    budgetSpends
      .filter(({ spent }) => spent !== 0n)
      .map(({ ownerId, periodStartMs, spent }) => [`${ownerId} from ${periodStartMs}`, spent]),
  );

function compareMaps(
  from: ReadonlyMap<string, bigint>,
  to: ReadonlyMap<string, bigint>,
  compare: (name: string, from: bigint | undefined, to: bigint | undefined) => void,
): void {
  for (const name of new Set([...from.keys(), ...to.keys()]))
    compare(name, from.get(name), to.get(name));
}
