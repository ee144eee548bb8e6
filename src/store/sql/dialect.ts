import { type Kysely, PostgresAdapter, type RawBuilder, sql, type Transaction } from "kysely";
import type { Db, Tables } from "./schema.ts";

/**
 * What the databases say differently. Everything else in this folder is the same SQL for both.
 *
 * Locks are taken in this order, so that no two writers can wait for each other:
 * 1. named locks (`lockFor`), in the order of `LockName`;
 * 2. rows, of which a transaction without a named lock changes one per table, or several in the
 *    order of their keys;
 * 3. the row of the change feed (`announce`), right before the commit.
 */
export function byDatabase<T>(
  db: Kysely<Tables>,
  choice: { readonly sqlite: T; readonly postgres: T },
): T {
  return db.getExecutor().adapter instanceof PostgresAdapter ? choice.postgres : choice.sqlite;
}

/** What more than one process must not look at and change at the same time. */
type LockName =
  | "data keys"
  | "catalog"
  | "target checks"
  | "provider failures"
  | "exports"
  | "lost tails"
  /** Members, operators, links and the end of sessions. */
  | "people"
  | `preferences ${string}`
  | `audit ${string}`;

/**
 * Held until the transaction ends. A transaction of SQLite holds the lock of the whole database from
 * its first statement on.
 */
export async function lockFor(transaction: Transaction<Tables>, name: LockName): Promise<void> {
  await byDatabase(transaction, {
    sqlite: async () => {},
    postgres: async () => {
      // Two names that have the same hash only wait for each other.
      await sql`select pg_advisory_xact_lock(hashtextextended(${`svc ${name}`}, 0))`.execute(
        transaction,
      );
    },
  })();
}

/** At the end of a query within a transaction: nobody else changes these rows until it ends. */
export const rowLock = (transaction: Transaction<Tables>): RawBuilder<unknown> =>
  byDatabase(transaction, { sqlite: sql``, postgres: sql`for no key update` });

/** For reads that belong together: all of them see the same moment. */
export const snapshotOf = (db: Db) =>
  db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
