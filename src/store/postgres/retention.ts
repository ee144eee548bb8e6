import { sql } from "kysely";
import type { Pool } from "pg";
import { SqlRetention } from "../sql/ledger/retention.ts";
import type { Db } from "../sql/schema.ts";
import { alone } from "./alone.ts";
import { deadlines } from "./deadlines.ts";
import { lockSql } from "./locks.ts";
import { dropPartitions, mondayMs, weekMs } from "./partitions.ts";
import { withDeadline } from "./postgres.ts";

/** One process at a time, over all that share the database. Whole weeks go at once. */
export function createRetentionStore(options: { readonly db: Db; readonly pool: Pool }) {
  const { pool } = options;
  const db = withDeadline(options.db, deadlines.long);
  return new SqlRetention({
    db,
    receiptsAtOnce: 5_000,
    stepMs: weekMs,
    stepsFromMs: mondayMs,
    alone: (work) => alone({ pool, lock: "erasing", work }),
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
