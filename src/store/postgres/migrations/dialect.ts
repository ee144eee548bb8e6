import { type Kysely, sql } from "kysely";

/**
 * Receipts and rejections of calls to chat models name the dialect. The version before leaves the
 * columns out, and its function that writes receipts takes every column that there is.
 */
export async function dialect(db: Kysely<unknown>): Promise<void> {
  await sql`alter table receipts add column dialect text collate "C"`.execute(db);
  await sql`alter table rejections
    add column dialect text collate "C" not null default ''`.execute(db);
}
