import { sql } from "kysely";
import type { Rollup, RollupFilter } from "../../../ledger/rollups.ts";
import type { StoredSums, Total } from "../../../ledger/store.ts";
import { readMeta } from "../meta.ts";
import type { Db } from "../schema.ts";
import { toFoldMark } from "./fold-mark.ts";
import { mergedSums, readableSums, type SumsRow, toSums } from "./rollup-columns.ts";

interface RollupRow extends SumsRow {
  readonly start_ms: number;
  readonly account_id: string;
  readonly key_id: string;
  readonly model: string;
  readonly provider: string;
}

const toRollup = (row: RollupRow): Rollup => ({
  hourMs: row.start_ms,
  accountId: row.account_id,
  keyId: row.key_id,
  model: row.model,
  provider: row.provider,
  ...toSums(row),
});

export interface RollupSource {
  readonly db: Db;
  /** Whether several processes have rows of their own for one hour. */
  readonly isShared: boolean;
}

export async function readRollups(
  { db, isShared }: RollupSource,
  filter: RollupFilter,
): Promise<readonly Rollup[]> {
  const { fromMs, toMs, accountId, keyId } = filter;
  const conditions = [
    ...(fromMs === undefined ? [] : [sql`hour_ms >= ${fromMs}`]),
    ...(toMs === undefined ? [] : [sql`hour_ms < ${toMs}`]),
    ...(accountId === undefined ? [] : [sql`account_id = ${accountId}`]),
    ...(keyId === undefined ? [] : [sql`key_id = ${keyId}`]),
  ];
  const where = conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`;
  const group = isShared ? sql`group by hour_ms, account_id, key_id, model, provider` : sql``;
  const { rows } = await sql<RollupRow>`select hour_ms as start_ms, account_id, key_id, model,
    provider, ${sql.raw(isShared ? mergedSums : readableSums)} from rollups
    ${where} ${group} order by hour_ms`.execute(db);
  return rows.map(toRollup);
}

/** All of them, for who checks them against each other. */
export async function readStoredSums(
  source: RollupSource,
  openFromMs: number | undefined,
): Promise<StoredSums> {
  const { db } = source;
  const sums = sql.raw(readableSums);
  const days = await sql<RollupRow>`select day_ms as start_ms, account_id, key_id, model, provider,
    ${sums} from rollup_days`.execute(db);
  const totals = await sql<
    SumsRow & { grain: Total["grain"]; kind: Total["by"]; start_ms: number; name: string }
  >`select grain, kind, start_ms, name, ${sums} from rollup_totals`.execute(db);
  return {
    list: await readRollups(source, {}),
    openFromMs,
    foldedTo: toFoldMark(await readMeta(db, "rollups_folded_to_ms")),
    days: days.rows.map(toRollup),
    totals: totals.rows.map((row) => ({
      grain: row.grain,
      by: row.kind,
      startMs: row.start_ms,
      name: row.name,
      ...toSums(row),
    })),
    countedFromMs: Number((await readMeta(db, "rollups_counted_from_ms")) ?? 0),
  };
}
