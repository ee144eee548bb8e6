import { type Kysely, sql } from "kysely";

/** The keys that encrypt and sign, each wrapped by the master secret; by two during a rotation. */
export async function dataKeys(db: Kysely<unknown>): Promise<void> {
  await sql`create table data_keys (
    purpose text collate "C" not null,
    wrapping text collate "C" not null,
    wrapped text not null,
    created_at_ms bigint not null,
    wrapped_at_ms bigint not null,
    primary key (purpose, wrapping)
  )`.execute(db);
}
