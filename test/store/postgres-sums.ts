import type { ClientBase } from "pg";
import { idTimeMs } from "../../src/base/ids.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import { toHour } from "../../src/ledger/rollups.ts";
import type { Postgres } from "../../src/store/postgres/postgres.ts";
import { recountEpoch } from "../../src/store/postgres/reports/recount.ts";
import { PostgresRollups, readSums } from "../../src/store/postgres/reports/rollups.ts";
import { transact } from "../../src/store/postgres/transaction.ts";
import { insertReceipts } from "./postgres-receipts.ts";
import type { SumsDatabase } from "./sums-database.ts";

export interface PostgresSums extends Pick<SumsDatabase, "commit" | "readSums" | "watch"> {
  readonly epoch: number;
  readonly rollups: PostgresRollups;
  restart(): Promise<PostgresSums>;
}

/** A process that writes receipts and sums alone: it has no leases, and charges nobody. */
export async function openSums(postgres: Postgres): Promise<PostgresSums> {
  const { pool, db } = postgres;
  const { rows } = await pool.query<{ id: number }>(
    "insert into epochs (node) values ('test') returning id",
  );
  const epoch = rows[0]?.id ?? 0;
  const rollups = new PostgresRollups({ pool, db, epoch, foldedAtOnce: 30 });
  let listener: (receipt: Receipt) => void = () => {};
  return {
    epoch,
    rollups,
    watch(given) {
      listener = given;
    },
    async commit(receipts) {
      const oldest = Math.min(...receipts.map(({ id }) => toHour(idTimeMs(id))));
      const opened = rollups.mark.open(oldest);
      try {
        await transact(pool, async (client) => {
          await insertReceipts(client, { epoch, receipts });
          await lower(client, { epoch, toMs: opened.lowerToMs });
        });
      } catch (error) {
        opened.dropped();
        throw error;
      }
      for (const receipt of receipts) listener(receipt);
      opened.added();
    },
    readSums: () => db.transaction().setIsolationLevel("repeatable read").execute(readSums),
    async restart() {
      const ended = await pool.query<{ id: number }>(
        "update epochs set is_open = false where is_open returning id",
      );
      for (const { id } of ended.rows) await transact(pool, (client) => recountEpoch(client, id));
      return openSums(postgres);
    },
  };
}

async function lower(
  client: ClientBase,
  { epoch, toMs }: { readonly epoch: number; readonly toMs: number | undefined },
): Promise<void> {
  if (toMs === undefined) return;
  await client.query("update epochs set open_from_ms = least(open_from_ms, $2) where id = $1", [
    epoch,
    toMs,
  ]);
}
