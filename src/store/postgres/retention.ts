import { sql } from "kysely";
import type { Pool } from "pg";
import { SqlRetention } from "../sql/ledger/retention.ts";
import type { Db } from "../sql/schema.ts";
import { lockSql, releaseSql, tryHoldSql } from "./locks.ts";
import { dropPartitions, mondayMs, weekMs } from "./partitions.ts";

/** One process at a time, over all that share the database. Whole weeks go at once. */
export function createRetentionStore({ db, pool }: { readonly db: Db; readonly pool: Pool }) {
  return new SqlRetention({
    db,
    receiptsAtOnce: 5_000,
    stepMs: weekMs,
    stepsFromMs: mondayMs,
    alone: (work) => alone(pool, work),
    async lock(transaction) {
      await sql.raw(lockSql("retention")).execute(transaction);
    },
    async openFromMs(transaction) {
      const { rows } = await sql<{
        ms: number | null;
      }>`select min(open_from_ms) as ms from epochs`.execute(transaction);
      return rows[0]?.ms ?? undefined;
    },
    async drop(beforeMs) {
      await dropPartitions(db, beforeMs);
    },
  });
}

/** The lock belongs to a connection: when that breaks, another process may take over. */
async function alone(pool: Pool, work: () => Promise<void>): Promise<boolean> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    const { rows } = await client.query<{ has: boolean }>(tryHoldSql("erasing"));
    if (rows[0]?.has !== true) return false;
    try {
      await work();
      return true;
    } finally {
      await client.query(releaseSql("erasing")).catch(onError);
    }
  } finally {
    client.removeListener("error", onError);
    client.release(broken ?? false);
  }
}
