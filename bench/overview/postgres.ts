/** The questions to the ledger on PostgreSQL, with what the server reads for each. */
import { systemClock } from "../../src/base/clock.ts";
import { Minutes } from "../../src/ledger/minutes.ts";
import type { LedgerReports } from "../../src/ledger/reports.ts";
import { createPlainStore } from "../../src/store/postgres/ledger-store.ts";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import { type Made, secretFingerprint, type Tell } from "./data.ts";
import { measure, middleOf, questions } from "./reports.ts";
import type { Result } from "./table.ts";

/** First on a connection of its own, which reads what nobody has asked for yet. */
export async function measureOnPostgres(options: {
  readonly url: string;
  readonly made: Made;
  readonly tell: Tell;
}): Promise<readonly Result[]> {
  const { url, made, tell } = options;
  const asked = await openReports(url);
  try {
    const results: Result[] = [];
    const middleId = await middleOf(asked.reports, made);
    const all = questions(asked.reports, made, middleId);
    for (const [at, { name, ask }] of all.entries()) {
      tell(name, at / all.length);
      const first = await askAlone(url, async (reports) => {
        await questions(reports, made, middleId)[at]?.ask();
      });
      results.push({ ...(await measure(name, ask)), ...first });
    }
    return results;
  } finally {
    await asked.close();
  }
}

interface OpenReports {
  readonly reports: LedgerReports;
  close(): Promise<void>;
}

async function openReports(url: string): Promise<OpenReports> {
  const postgres = await openPostgres({ url });
  const shared = await createPostgresStore(postgres, secretFingerprint);
  const store = createPlainStore({ postgres, shared, nowMs: Date.now });
  const reports = store.openReports({
    clock: systemClock,
    flush: async () => {},
    minutes: new Minutes(),
  });
  return {
    reports,
    async close() {
      await reports.close();
      await store.close();
    },
  };
}

type First = Required<Pick<Result, "firstMs" | "rowsRead" | "pagesRead">>;

/** A connection reports what it has read when it ends, at the latest. */
async function askAlone(
  url: string,
  work: (reports: LedgerReports) => Promise<void>,
): Promise<First> {
  const before = await readSoFar(url);
  const { reports, close } = await openReports(url);
  // What a connection costs is no part of it.
  await reports.receipt("");
  const startedMs = performance.now();
  await work(reports).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const firstMs = performance.now() - startedMs;
  await close();
  const after = await readSoFar(url);
  return { firstMs, rowsRead: after.rows - before.rows, pagesRead: after.pages - before.pages };
}

async function readSoFar(url: string): Promise<{ readonly rows: number; readonly pages: number }> {
  const { pool, close } = await openPostgres({ url });
  const ours = "relname ~ '^(receipts|rollup|minute_sums)'";
  const { rows } = await pool
    .query<{ rows: string; pages: string }>(
      `select
        (select sum(seq_tup_read) from pg_stat_user_tables where ${ours})
        + (select sum(idx_tup_read) from pg_stat_user_indexes where ${ours}) as rows,
        (select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)
          from pg_statio_user_tables where ${ours}) as pages`,
    )
    .finally(close);
  return { rows: Number(rows[0]?.rows ?? 0), pages: Number(rows[0]?.pages ?? 0) };
}
