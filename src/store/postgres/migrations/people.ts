/** Ids and names are compared by their bytes, as everywhere. */
const text = `text collate "C"`;

export const peopleStatements = [
  `create table users (
    id ${text} primary key,
    email ${text} not null unique,
    name text not null,
    password_hash text not null,
    is_operator integer not null,
    created_at_ms bigint not null
  )`,
  `create table memberships (
    user_id ${text} not null,
    account_id ${text} not null,
    role text not null,
    created_at_ms bigint not null,
    primary key (user_id, account_id)
  )`,
  "create index memberships_account on memberships (account_id)",
  `create table sessions (
    id ${text} primary key,
    user_id ${text} not null,
    hash ${text} not null unique,
    user_agent text not null,
    address text not null,
    created_at_ms bigint not null,
    last_seen_ms bigint not null,
    expires_at_ms bigint not null
  )`,
  "create index sessions_user on sessions (user_id)",
  `create table invites (
    id ${text} primary key,
    hash ${text} not null unique,
    kind text not null,
    email text,
    user_id ${text},
    account_id ${text},
    role text,
    created_by text not null,
    created_by_id text not null,
    created_at_ms bigint not null,
    expires_at_ms bigint not null
  )`,
  `create table tokens (
    id ${text} primary key,
    name text not null,
    hash ${text} not null unique,
    hint text not null,
    account_id ${text},
    role text not null,
    scopes text not null,
    created_by text not null,
    created_by_id text not null,
    created_at_ms bigint not null,
    expires_at_ms bigint,
    revoked_at_ms bigint
  )`,
  `create table preferences (
    user_id ${text} primary key, time_zone text not null, dismissed text not null)`,
  `create table saved_views (
    id ${text} primary key,
    user_id ${text} not null,
    account_id ${text},
    page text not null,
    name text not null,
    search text not null,
    created_at_ms bigint not null
  )`,
  "create index saved_views_user on saved_views (user_id)",
  `create table audit (
    id ${text} primary key,
    at_ms bigint not null,
    actor_kind text not null,
    actor_id text not null,
    actor_name text not null,
    account_id ${text},
    action ${text} not null,
    subject ${text} not null,
    detail text not null,
    address text not null
  )`,
  "create index audit_account on audit (account_id, id)",
];
