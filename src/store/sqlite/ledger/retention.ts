import { dayMs } from "../../../ledger/rollups.ts";
import { SqlRetention } from "../../sql/ledger/retention.ts";
import type { Db } from "../../sql/schema.ts";
import { readOpenFrom } from "../reports/rollups.ts";

/** The one process that writes; each step is over before the event loop has its next turn. */
export const createRetentionStore = (db: Db) =>
  new SqlRetention({
    db,
    receiptsAtOnce: 250,
    stepMs: dayMs,
    stepsFromMs: 0,
    async alone(work) {
      await work();
      return true;
    },
    lock: async () => {},
    openFromMs: readOpenFrom,
    drop: async () => {},
  });
