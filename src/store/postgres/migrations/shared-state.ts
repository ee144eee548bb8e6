/** Names are compared by their bytes, as everywhere. */
const text = `text collate "C"`;

const tables = [
  // One row per process, with all of its targets: they are written and read together.
  `create table target_health (
    epoch bigint primary key references epochs (id),
    targets text not null
  )`,
  `create table ended_owners (owner ${text} primary key, at_ms bigint not null)`,
  // One row: while somebody watches calls, whoever writes some says so.
  "create table live_watch (id integer primary key, until timestamptz not null)",
  "insert into live_watch (id, until) values (1, '-infinity')",
  `create table sign_in_tries (
    kind ${text} not null,
    name ${text} not null,
    -- When all failures of the name will be forgotten.
    full_at_ms bigint not null,
    primary key (kind, name)
  )`,
  "create index sign_in_tries_age on sign_in_tries (full_at_ms)",
];

/**
 * Says which calls a transaction has written, in the order of the commits. Only their ids: the server
 * carries 8000 bytes at most. Commits that notify wait for each other, so it is done while somebody
 * watches and at no other time.
 */
const tellLive = `create function svc_tell_live(p_kind text, p_calls text[])
returns void language plpgsql as $$
begin
  if not exists (select from live_watch where until > clock_timestamp()) then
    return;
  end if;
  perform pg_notify('svc_live', p_kind || ' ' || calls) from (
    select string_agg(call, ' ' order by place) as calls
      from unnest(p_calls) with ordinality as told(call, place)
      group by (place - 1) / 100 order by min(place)) parts;
end $$`;

/** Counts one try of each name, or none of them; the answer is how long to wait then. */
const tryToSignIn = `create function svc_try(p_tries json, p_now_ms bigint)
returns bigint language plpgsql as $$
declare
  v_wait bigint := 0;
  v_full bigint;
  r record;
begin
  -- All processes lock in one order.
  for r in
    select * from json_to_recordset(p_tries)
      as t(kind text, name text, burst bigint, every_ms bigint)
      order by kind collate "C", name collate "C"
  loop
    insert into sign_in_tries (kind, name, full_at_ms) values (r.kind, r.name, p_now_ms)
      on conflict do nothing;
    select full_at_ms into v_full from sign_in_tries
      where kind = r.kind and name = r.name for update;
    v_wait := greatest(v_wait, v_full - p_now_ms - (r.burst - 1) * r.every_ms);
  end loop;
  if v_wait = 0 then
    update sign_in_tries s set full_at_ms = greatest(s.full_at_ms, p_now_ms) + t.every_ms
      from json_to_recordset(p_tries) as t(kind text, name text, every_ms bigint)
      where s.kind = t.kind and s.name = t.name;
  else
    -- A refused try leaves no row behind.
    delete from sign_in_tries s
      using json_to_recordset(p_tries) as t(kind text, name text)
      where s.kind = t.kind and s.name = t.name and s.full_at_ms <= p_now_ms;
  end if;
  return v_wait;
end $$`;

/** What one process could keep in memory, and several must know of each other. */
export const sharedStateStatements: readonly string[] = [...tables, tellLive, tryToSignIn];
