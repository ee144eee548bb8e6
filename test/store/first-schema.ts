/** As the first release made it. */
export const firstSchema = `create table meta (key text primary key, value text not null)
create table accounts (id text primary key, name text not null unique, created_at_ms bigint not null)
create table keys (id text primary key, account_id text not null references accounts (id), name text not null, hash text not null unique, hint text not null, models text, created_at_ms bigint not null, expires_at_ms bigint, revoked_at_ms bigint)
create table providers (name text primary key, kind text not null, base_url text not null, api_key text, allow_private integer not null)
create table models (id text primary key, endpoint text not null, input text not null, owned_by text not null, created_at_ms bigint not null, max_output_tokens integer, price text, routes text not null, deprecated_at_ms bigint, retires_at_ms bigint, replacement text)
create table feed (id integer primary key, sequence bigint not null)
create table changes (sequence bigint primary key, topic text not null, subject text not null)
insert into feed (id, sequence) values (1, 0)`;
