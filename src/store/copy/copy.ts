import { Problem } from "../../base/problem.ts";
import type { LedgerFindings } from "../../ledger/verify/verify.ts";
import { openLedgerReader as openPostgresReader } from "../postgres/ledger/reader.ts";
import { ensurePartitions } from "../postgres/partitions.ts";
import type { Postgres } from "../postgres/postgres.ts";
import { openLedgerReader } from "../sqlite/ledger/reader.ts";
import { differences, type LedgerFacts, readFacts, refuseWrong } from "./compare.ts";
import { CopySource } from "./source.ts";
import { copiedTables } from "./tables.ts";
import { CopyTarget } from "./target.ts";

export interface CopyOptions {
  /** Of the SQLite database. No other process has it open, and all its sums are closed. */
  readonly path: string;
  readonly postgres: Postgres;
  /** Of the secret that both databases belong to. */
  readonly fingerprint: string;
  readonly nowMs: () => number;
  readonly onProgress: (progress: CopyStep) => void;
  /** Called before servers can start on the copy: the source must not be used from then on. */
  readonly onVerified: () => void;
}

export interface CopyStep {
  /** Absent while a ledger is verified. */
  readonly table: string | undefined;
  readonly doneRows: number;
  readonly totalRows: number;
  /** Whether these rows are of an earlier attempt that is continued. */
  readonly isContinued?: boolean;
}

export interface CopyResult {
  readonly isResumed: boolean;
  /** Whether an earlier run had copied everything. */
  readonly wasComplete: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly findings: LedgerFindings;
}

/**
 * Fills an empty PostgreSQL database with all that a SQLite database has, or continues an earlier
 * attempt; then recomputes both ledgers and compares them. Only after that can servers use it.
 */
export async function copyDatabase(options: CopyOptions): Promise<CopyResult> {
  const { path, postgres, fingerprint, nowMs, onProgress, onVerified } = options;
  const source = new CopySource(path);
  try {
    const totalRows = source.counts["receipts"] ?? 0;
    const onReceipts = (doneRows: number) => onProgress({ table: undefined, doneRows, totalRows });
    const asked = { postgres, fingerprint, from: path, stamp: source.stamp() };
    const wasComplete = await CopyTarget.check(asked);
    onReceipts(0);
    const reader = openLedgerReader(path);
    const facts = await readFacts(reader, onReceipts).finally(() => reader.close());
    const { counts } = source;
    const { findings } = facts;
    if (wasComplete) {
      onVerified();
      return { isResumed: false, wasComplete, counts, findings };
    }
    refuseWrong(facts);
    const target = await CopyTarget.open(asked);
    await copyTables(source, target, onProgress);
    await target.writeRest({
      feedSequence: source.feedSequence(),
      meta: source.meta(),
      nowMs: nowMs(),
    });
    await ensurePartitions(postgres.db, nowMs());
    onReceipts(0);
    await verifyCopy({ source, target, facts, postgres, onReceipts });
    onVerified();
    await target.finish();
    return { isResumed: target.isResumed, wasComplete, counts, findings };
  } finally {
    source.close();
  }
}

async function copyTables(
  source: CopySource,
  target: CopyTarget,
  onProgress: (progress: CopyStep) => void,
): Promise<void> {
  for (const table of copiedTables) {
    const progress = target.progressOf(table);
    if (progress === undefined) continue;
    const totalRows = source.counts[table.name] ?? 0;
    const { doneRows } = progress;
    onProgress({ table: table.name, doneRows, totalRows, isContinued: doneRows > 0 });
    for (const batch of source.batches(table, progress.after)) {
      const doneRows = await target.write(table, batch);
      onProgress({ table: table.name, doneRows, totalRows });
    }
  }
}

/** In a message; more of them say nothing new. */
const shownDifferences = 3;

async function verifyCopy(of: {
  readonly source: CopySource;
  readonly target: CopyTarget;
  readonly facts: LedgerFacts;
  readonly postgres: Postgres;
  readonly onReceipts: (count: number) => void;
}): Promise<void> {
  const { source, target, facts, postgres, onReceipts } = of;
  const reader = await openPostgresReader(postgres);
  const copied = await readFacts(reader, onReceipts).finally(() => reader.close());
  const counts = await target.counts();
  const wrong = [
    ...copiedTables
      .filter(({ name }) => counts[name] !== source.counts[name])
      .map(
        ({ name }) =>
          `rows of ${name}: ${source.counts[name]} in SQLite, ${counts[name]} in PostgreSQL`,
      ),
    ...differences(facts, copied),
  ];
  if (wrong.length === 0) return;
  throw new Problem({
    code: "failed",
    message: `The copy differs from the SQLite database (${wrong.slice(0, shownDifferences).join("; ")}). The SQLite database is unchanged; create an empty database and copy again.`,
  });
}
