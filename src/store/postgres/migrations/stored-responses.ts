import { type Kysely, sql } from "kysely";

const text = `text collate "C"`;

const statements = [
  `create table stored_responses (
    account_id ${text} not null references accounts (id),
    id ${text} not null,
    key_id ${text} not null,
    model ${text} not null,
    created_at_ms bigint not null,
    expires_at_ms bigint not null,
    previous_id ${text},
    size_bytes bigint not null,
    items_bytes bigint not null,
    pieces integer not null,
    is_whole integer not null,
    items bytea not null,
    reply bytea not null,
    primary key (account_id, id)
  )`,
  // Encrypted bytes cannot be compressed: the server need not try.
  `alter table stored_responses
    alter column items set storage external, alter column reply set storage external`,
  `create table stored_response_pieces (
    account_id ${text} not null,
    id ${text} not null,
    place integer not null,
    bytes bytea not null,
    primary key (account_id, id, place),
    foreign key (account_id, id) references stored_responses (account_id, id)
  )`,
  "alter table stored_response_pieces alter column bytes set storage external",
  "create index stored_responses_age on stored_responses (account_id, created_at_ms, id)",
  "create index stored_responses_expiry on stored_responses (expires_at_ms)",
  `create table stored_response_totals (
    account_id ${text} primary key references accounts (id),
    responses bigint not null,
    bytes bigint not null
  )`,
];

/** Responses that callers can continue by their id, encrypted, and how much each account has. */
export async function storedResponses(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
