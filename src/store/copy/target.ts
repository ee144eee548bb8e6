import { sql } from "kysely";
import type { PoolClient } from "pg";
import { idFloor, idTimeMs } from "../../base/ids.ts";
import { Problem } from "../../base/problem.ts";
import { minuteMs, minutesMs } from "../../ledger/minutes.ts";
import { lockSql } from "../postgres/locks.ts";
import { migrate } from "../postgres/migrations/migrations.ts";
import { ensureWeekOf, weekOf } from "../postgres/partitions.ts";
import type { Postgres } from "../postgres/postgres.ts";
import { postgresWords } from "../postgres/reports/postgres-reader.ts";
import { transact } from "../postgres/transaction.ts";
import { copiedFromKey, copyKey } from "../postgres/unfinished-copy.ts";
import { excludeOlder } from "../sql/data-keys.ts";
import { readMeta } from "../sql/meta.ts";
import { startOf, sumColumns, sumsOfReceipts } from "../sql/reports/rollup-columns.ts";
import { checkSecret } from "../sql/secret.ts";
import type { Batch, Position } from "./source.ts";
import { type CopiedTable, copiedTables } from "./tables.ts";

export interface TargetOptions {
  readonly postgres: Postgres;
  readonly fingerprint: string;
  /** The path of the source, for people. */
  readonly from: string;
  readonly stamp: string;
}

/** How far a copy is; a row of `meta` in the target, written together with the rows themselves. */
interface Progress {
  readonly from: string;
  readonly stamp: string;
  /** All receipts and sums of the source belong to it. */
  readonly epoch: number;
  /** The one that is being copied: those before it are complete. */
  readonly table: number;
  readonly after?: Position | undefined;
  readonly doneRows: number;
}

/** The names of tables have four digits for the year. */
const maxWeekMs = Date.UTC(9999, 11, 1);

const otherSecret =
  "Run the copy with the secret of that database, or copy into another, empty database.";

/**
 * A PostgreSQL database that is being filled. Each batch and the progress are one transaction, so a
 * copy that is killed continues with the next batch. Until it is finished, no server starts on it.
 */
export class CopyTarget {
  readonly #postgres: Postgres;
  readonly isResumed: boolean;
  readonly #weeks = new Set<number>();
  #text: string;
  #progress: Progress;

  private constructor(postgres: Postgres, text: string, isResumed: boolean) {
    this.#postgres = postgres;
    this.#text = text;
    this.#progress = JSON.parse(text) as Progress;
    this.isResumed = isResumed;
  }

  /**
   * Creates the tables, and refuses a database that cannot take this copy. True if it has all of it
   * already.
   */
  static async check({ postgres, fingerprint, stamp }: TargetOptions): Promise<boolean> {
    const { db, pool } = postgres;
    await migrate(db);
    if ((await readMeta(db, "secret_fingerprint")) !== undefined)
      await checkSecret(db, { fingerprint, advice: otherSecret });
    if ((await readMeta(db, copiedFromKey)) === stamp) return true;
    await transact(pool, async (client) => {
      await findProgress(client, stamp);
    });
    return false;
  }

  /** After the check. */
  static async open(options: TargetOptions): Promise<CopyTarget> {
    const { postgres, fingerprint, stamp } = options;
    const [text, isResumed] = await transact(postgres.pool, async (client) => {
      await client.query(lockSql("copying"));
      const known = await findProgress(client, stamp);
      return known === undefined
        ? ([await begin(client, options), false] as const)
        : ([known, true] as const);
    });
    await checkSecret(postgres.db, { fingerprint, advice: otherSecret });
    return new CopyTarget(postgres, text, isResumed);
  }

  /** How many rows of a table are there, and behind which one to continue; undefined: all of them. */
  progressOf(
    table: CopiedTable,
  ): { readonly doneRows: number; readonly after: Position | undefined } | undefined {
    const at = copiedTables.indexOf(table);
    if (at < this.#progress.table) return undefined;
    if (at > this.#progress.table) return { doneRows: 0, after: undefined };
    return { doneRows: this.#progress.doneRows, after: this.#progress.after };
  }

  async write(table: CopiedTable, batch: Batch): Promise<number> {
    await this.#createWeeks(batch.ids);
    const { doneRows } = this.progressOf(table) ?? { doneRows: 0 };
    const { epoch } = this.#progress;
    const progress: Progress = {
      ...this.#progress,
      table: copiedTables.indexOf(table),
      after: batch.last,
      doneRows: doneRows + batch.count,
    };
    const columns = batch.columns.join();
    const [epochColumn, epochValue] = table.hasEpoch ? [", epoch", `, ${epoch}`] : ["", ""];
    await this.#move(progress, async (client) => {
      await client.query(
        `insert into ${table.name} (${columns}${epochColumn})
          select ${columns}${epochValue} from json_populate_recordset(null::${table.name}, $1)`,
        [batch.json],
      );
    });
    return progress.doneRows;
  }

  /** What is no list of rows. */
  async writeRest(rest: {
    readonly feedSequence: number;
    readonly meta: ReadonlyMap<string, string>;
    readonly nowMs: number;
  }): Promise<void> {
    const { from, stamp, epoch } = this.#progress;
    const progress = { from, stamp, epoch, table: copiedTables.length, doneRows: 0 };
    await this.#move(progress, async (client) => {
      await client.query("update feed set sequence = $1 where id = 1", [rest.feedSequence]);
      for (const [key, value] of rest.meta)
        await client.query(
          `insert into meta (key, value) values ($1, $2)
            on conflict (key) do update set value = excluded.value`,
          [key, value],
        );
      await sumMinutes(client, rest.nowMs);
    });
    // Those of a store that began with random keys, or whose secret was rotated.
    await excludeOlder(this.#postgres.db);
    // Without it, the first queries would be planned for empty tables.
    await sql`analyze`.execute(this.#postgres.db);
  }

  async counts(): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    for (const { name } of copiedTables) {
      const { rows } = await this.#postgres.pool.query<{ n: number }>(
        `select count(*) as n from ${name}`,
      );
      counts[name] = rows[0]?.n ?? 0;
    }
    return counts;
  }

  /** From here on servers can start on it. */
  async finish(): Promise<void> {
    const { rowCount } = await this.#postgres.pool.query(
      "update meta set key = $3, value = $4 where key = $1 and value = $2",
      [copyKey, this.#text, copiedFromKey, this.#progress.stamp],
    );
    if (rowCount !== 1) throw takenOver();
  }

  async #createWeeks(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const week = weekOf(idTimeMs(id));
      // A clock that was wrong: such receipts share the table for those without a week.
      if (!(week > 0 && week < maxWeekMs) || this.#weeks.has(week)) continue;
      await ensureWeekOf(this.#postgres.db, week);
      this.#weeks.add(week);
    }
  }

  /** Only from where this copy has left it: two at once would write everything twice. */
  async #move(progress: Progress, work: (client: PoolClient) => Promise<void>): Promise<void> {
    const text = JSON.stringify(progress);
    await transact(this.#postgres.pool, async (client) => {
      const { rowCount } = await client.query(
        "update meta set value = $3 where key = $1 and value = $2",
        [copyKey, this.#text, text],
      );
      if (rowCount !== 1) throw takenOver();
      await work(client);
    });
    this.#text = text;
    this.#progress = progress;
  }
}

/**
 * The last hour by minutes, for charts. A process on SQLite has it in memory. The copy may have been
 * here before, and was killed later.
 */
async function sumMinutes(client: PoolClient, nowMs: number): Promise<void> {
  await client.query("delete from minute_sums");
  await client.query(
    `insert into minute_sums (start_ms, account_id, key_id, model, epoch, ${sumColumns.join()})
      select ${startOf(minuteMs, postgresWords)}, account_id, key_id, model, epoch, ${sumsOfReceipts}
      from receipts where id >= $1 group by 1, 2, 3, 4, 5`,
    [idFloor("req", nowMs - minutesMs)],
  );
}

const takenOver = () =>
  new Problem({
    code: "conflict",
    message:
      "Another copy is writing to the PostgreSQL database, so this one has stopped. Wait for the other one to finish.",
  });

/** Of an earlier attempt with the same source; undefined where the database is empty. */
async function findProgress(client: PoolClient, stamp: string): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>("select value from meta where key = $1", [
    copyKey,
  ]);
  const [row] = rows;
  if (row === undefined) {
    await refuseFilled(client);
    return undefined;
  }
  const known = JSON.parse(row.value) as Progress;
  if (known.stamp === stamp) return row.value;
  throw new Problem({
    code: "conflict",
    message: `The PostgreSQL database has an unfinished copy of ${known.from}, and the SQLite database is another one or has been used since. Create an empty database and copy into that one.`,
  });
}

async function refuseFilled(client: PoolClient): Promise<void> {
  for (const name of [...copiedTables.map((table) => table.name), "epochs", "nodes"]) {
    const { rowCount } = await client.query(`select 1 from ${name} limit 1`);
    if (rowCount !== 0)
      throw new Problem({
        code: "conflict",
        message: `The PostgreSQL database is not empty: its table ${name} has rows. Create an empty database and copy into that one.`,
      });
  }
}

async function begin(client: PoolClient, { from, stamp }: TargetOptions): Promise<string> {
  const { rows } = await client.query<{ id: number }>(
    `insert into epochs (node, is_open, closed_at) values ('copy', false, clock_timestamp())
      returning id`,
  );
  const progress: Progress = { from, stamp, epoch: rows[0]?.id ?? 0, table: 0, doneRows: 0 };
  const text = JSON.stringify(progress);
  await client.query("insert into meta (key, value) values ($1, $2)", [copyKey, text]);
  return text;
}
