import { type Kysely, sql } from "kysely";

const text = `text collate "C"`;

const statements = [
  `create table exports (
    id ${text} primary key,
    name ${text} not null unique,
    streams text not null,
    format text not null,
    target text not null,
    from_ms bigint not null,
    created_at_ms bigint not null,
    paused_at_ms bigint
  )`,
  `create table export_streams (
    export_id ${text} not null,
    stream ${text} not null,
    hour_ms bigint not null,
    after_id ${text} not null,
    part integer not null,
    hour_rows bigint not null,
    rows bigint not null,
    delivered_at_ms bigint,
    failures bigint not null,
    failures_in_row bigint not null,
    failure text,
    failing_since_ms bigint,
    retry_at_ms bigint not null,
    primary key (export_id, stream)
  )`,
  `create table export_hours (
    export_id ${text} not null,
    stream ${text} not null,
    hour_ms bigint not null,
    rows bigint not null,
    known bigint not null,
    primary key (export_id, stream, hour_ms)
  )`,
];

/** Where receipts and audit records are exported to, and how far. */
export async function exports(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
