import { type Kysely, sql } from "kysely";

const text = `text collate "C"`;

const statements = [
  "alter table sessions add column issuer text",
  "alter table sessions add column link text",
  "alter table users add column operator_by_identity integer not null default 0",
  "alter table memberships add column by_identity integer not null default 0",
  "alter table memberships add column hand_role text",
  `create table identities (
    issuer ${text} not null,
    subject ${text} not null,
    user_id ${text} not null,
    email text not null,
    id_token text,
    created_at_ms bigint not null,
    last_used_ms bigint not null,
    primary key (issuer, subject)
  )`,
  "create unique index identities_user on identities (user_id)",
];

/** Who users are at the identity provider, and which rights come from there. */
export async function identities(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
