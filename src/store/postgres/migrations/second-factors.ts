import { type Kysely, sql } from "kysely";

const text = `text collate "C"`;

const statements = [
  "alter table sessions add column factor text, add column verified_at_ms bigint",
  `create table totps (
    user_id ${text} primary key,
    sealed_secret text not null,
    last_step bigint not null,
    created_at_ms bigint not null
  )`,
  `create table recovery_codes (
    user_id ${text} not null,
    hash ${text} not null,
    primary key (user_id, hash)
  )`,
  `create table passkeys (
    id ${text} primary key,
    user_id ${text} not null,
    name text not null,
    public_key text not null,
    counter bigint not null,
    transports text not null,
    rp_id text not null,
    is_backed_up integer not null,
    created_at_ms bigint not null,
    last_used_ms bigint
  )`,
  "create index passkeys_user on passkeys (user_id)",
  `create table used_tickets (id ${text} primary key, expires_at_ms bigint not null)`,
];

/** What people prove besides the password, and what a session has proved. */
export async function secondFactors(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
