import { type Kysely, sql } from "kysely";
import { shareCall } from "../locks.ts";

/** Of an id: twelve hexadecimal digits behind its first four characters. */
const idTime = "cast(cast('x' || lpad(substr(id, 5, 12), 16, '0') as bit(64)) as bigint)";
const hourMs = 3_600_000;

/**
 * What happens to money, in functions of the database: each is one round trip and one transaction.
 *
 * Locks are taken in this order, so that no two processes wait for each other: the epoch, accounts
 * by id, leases, then budgets by owner and period, then claims by id. Who charges or lends shares
 * the lock of its own epoch; who closes the epoch or sets limits takes it alone, and so waits for
 * commits that are under way.
 *
 * A version that runs beside a newer one calls the functions it knows: one that must change gets a
 * new name.
 */
export async function functions(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    recalls,
    ...reportRequests,
    charge,
    voids,
    commit,
    lend,
    giveBack,
    lendBudgets,
    giveBackBudgets,
  ])
    await sql.raw(statement).execute(db);
}

/** Money that somebody waits for: whoever has some of it idle gives it back. */
const recalls = `create table recalls (
  owner_id text collate "C" primary key,
  until timestamptz not null
)`;

/** One row: raised by whoever looks at a report, so that processes write the sums they have. */
const reportRequests = [
  "create table report_requests (id integer primary key, wanted bigint not null)",
  "insert into report_requests (id, wanted) values (1, 0)",
];

/**
 * Writes receipts and claims. The answer tells which receipts are new, which claims another request
 * has, and of which owners the limits have changed since their calls were let in: then nothing is
 * written, and the caller comes again with what late calls add to their budgets.
 */
const commit = `create function svc_commit(
  p_epoch bigint, p_receipts json, p_budgets json, p_known json, p_claims json, p_releases text[],
  p_voids json, p_now_ms bigint, p_open_ms bigint
) returns json language plpgsql as $$
declare
  v_is_open boolean;
  v_base receipts := json_populate_record(null::receipts, '{"attempts":"","provider":"",
    "input":0,"cached_input":0,"cache_write":0,"output":0,"audio_output":0,"image":0,
    "video_second":0,"reasoning":0,"estimated":0,"is_fenced":false}');
  v_rows receipts[];
  v_added text[];
  v_stale json;
  v_lost text[] := '{}';
  r record;
begin
  if p_open_ms is null then
    select is_open into v_is_open from epochs where id = p_epoch for share;
  else
    -- Which receipts are kept is not decided meanwhile. Comes before all other locks.
    perform ${shareCall("retention")};
    -- Alone: two that share the lock and both want to write would wait for each other.
    update epochs set open_from_ms = least(open_from_ms, p_open_ms)
      where id = p_epoch returning is_open into v_is_open;
    -- What is gone must not be charged again.
    if p_open_ms < (select max(kept_from_ms) from receipt_marks) then
      raise exception 'receipts as old as these are no longer kept' using errcode = 'SV003';
    end if;
  end if;
  if v_is_open is null then
    raise exception 'epoch % does not exist', p_epoch using errcode = 'SV002';
  end if;
  v_base.epoch := p_epoch;
  v_rows := array(select x from json_populate_recordset(v_base, p_receipts) x);
  if not v_is_open then
    with added as (
      insert into receipts
        select (jsonb_populate_record(u, '{"charged":0,"is_fenced":true}')).* from unnest(v_rows) u
        on conflict do nothing returning id)
      select array_agg(id) into v_added from added;
    -- The sums of the epoch lack them, until another process adds it up again.
    update epochs set open_from_ms = least(open_from_ms, (
        select min(${idTime}) / ${hourMs} * ${hourMs} from unnest(v_added) id))
      where id = p_epoch and v_added is not null;
    perform svc_tell_live('receipts', v_added);
    return json_build_object('is_open', false, 'added', to_json(v_added));
  end if;
  select json_agg(json_build_object('owner', owner, 'version', version)) into v_stale from (
    select k.id as owner, k.limits_version as version from unnest(v_rows) u
      join keys k on k.id = u.key_id
      where k.limits_version <> coalesce(u.key_limits_version, 0)
    union
    select a.id, a.limits_version from unnest(v_rows) u
      join accounts a on a.id = u.account_id
      where a.limits_version <> coalesce(u.account_limits_version, 0)
    except
    select owner, version from json_to_recordset(p_known) as n(owner text, version integer)
  ) stale;
  if v_stale is not null then
    return json_build_object('is_open', true, 'stale', v_stale);
  end if;
  perform svc_void(p_epoch, p_voids);
  with added as (
    insert into receipts select u.* from unnest(v_rows) u on conflict do nothing returning id)
    select coalesce(array_agg(id), '{}') into v_added from added;
  for r in
    select u.account_id, sum(u.charged)::bigint as charged from unnest(v_rows) u
      where u.charged > 0 and u.id = any (v_added) group by 1 order by 1
  loop
    perform svc_charge(p_epoch, r.account_id, r.charged);
  end loop;
  for r in
    select b.owner, b.period, b.is_late, sum(u.charged)::bigint as charged
      from json_to_recordset(p_budgets) as b(id text, owner text, period bigint, is_late boolean)
      join unnest(v_rows) u on u.id = b.id
      where u.charged > 0 and u.id = any (v_added) group by 1, 2, 3 order by b.owner collate "C", b.period, b.is_late
  loop
    if not r.is_late then
      update budget_leases set spent = spent + r.charged
        where owner_id = r.owner and period_start_ms = r.period and epoch = p_epoch;
      continue when found;
    end if;
    insert into budget_spends (owner_id, period_start_ms, spent)
      values (r.owner, r.period, r.charged)
      on conflict (owner_id, period_start_ms) do update set spent = budget_spends.spent + r.charged;
  end loop;
  for r in
    select * from json_to_recordset(p_claims) as c(id text, body_hash text, request_id text,
      is_done integer, reply text, expires_at_ms bigint) order by id collate "C"
  loop
    insert into claims (id, body_hash, request_id, is_done, expires_at_ms, epoch, reply)
      values (r.id, r.body_hash, r.request_id, r.is_done, r.expires_at_ms, p_epoch,
        decode(r.reply, 'base64'))
      on conflict (id) do update set body_hash = excluded.body_hash,
        request_id = excluded.request_id, is_done = excluded.is_done,
        expires_at_ms = excluded.expires_at_ms, epoch = excluded.epoch, reply = excluded.reply
      where claims.request_id = excluded.request_id or claims.expires_at_ms <= p_now_ms;
    if not found then
      v_lost := v_lost || r.id;
    end if;
  end loop;
  delete from claims where id = any (p_releases) and is_done = 0 and epoch = p_epoch;
  perform svc_tell_live('receipts', v_added);
  return json_build_object('is_open', true, 'added', to_json(v_added), 'lost', to_json(v_lost));
end $$`;

/** Takes out receipts of this epoch whose replies were never sent, and all that came with them. */
const voids = `create function svc_void(p_epoch bigint, p_voids json)
returns void language plpgsql as $$
declare
  r record;
begin
  if json_array_length(p_voids) = 0 then
    return;
  end if;
  for r in
    with asked as (select * from json_to_recordset(p_voids)
        as v(id text, claim text, owner text, period bigint)),
      gone as (delete from receipts where epoch = p_epoch and id in (select id from asked)
        returning id, account_id, charged),
      freed as (delete from claims where epoch = p_epoch
        and id in (select claim from asked where id in (select id from gone)))
    select 1 as step, account_id as owner, null::bigint as period, sum(charged)::bigint as charged
      from gone group by 2
    union all
    select 2, asked.owner, asked.period, sum(charged)::bigint
      from gone join asked on asked.id = gone.id where asked.owner is not null group by 2, 3
    order by 1, 2, 3
  loop
    if r.step = 1 then
      update leases set spent = spent - r.charged
        where account_id = r.owner and epoch = p_epoch;
    else
      update budget_leases set spent = spent - r.charged
        where owner_id = r.owner and period_start_ms = r.period and epoch = p_epoch;
    end if;
  end loop;
end $$`;

/** What calls spend comes from their epoch's lease; more than was lent is lent on the spot, if it is there. */
const charge = `create function svc_charge(p_epoch bigint, p_account text, p_nano bigint)
returns void language plpgsql as $$
declare
  v_missing bigint;
begin
  update leases set spent = spent + p_nano
    where account_id = p_account and epoch = p_epoch and spent + p_nano <= granted;
  if found then
    return;
  end if;
  perform 1 from accounts where id = p_account for update;
  perform 1 from leases where account_id = p_account and epoch = p_epoch for update;
  select greatest(0, p_nano - coalesce((select granted - spent from leases
    where account_id = p_account and epoch = p_epoch), 0)) into v_missing;
  update accounts set unleased = unleased - v_missing
    where id = p_account and unleased >= v_missing;
  if not found then
    raise exception 'account % does not have % nano-USD', p_account, p_nano
      using errcode = 'SV001';
  end if;
  insert into leases (account_id, epoch, granted, spent)
    values (p_account, p_epoch, v_missing, p_nano)
    on conflict (account_id, epoch)
    do update set granted = leases.granted + v_missing, spent = leases.spent + p_nano;
end $$`;

/**
 * Lends what calls need, or a quarter of what nobody has. Where there is too little, others are
 * asked to give back what they do not use; the answer tells what they have, and how much of that is
 * with nodes that have gone silent.
 */
const lend = `create function svc_lend(p_epoch bigint, p_wants json, p_silent interval)
returns json language plpgsql as $$
declare
  v_answers json[] := '{}';
  v_unleased bigint;
  v_granted bigint;
  v_given bigint;
  v_elsewhere bigint;
  v_silent bigint;
  r record;
begin
  perform 1 from epochs where id = p_epoch and is_open for share;
  if not found then
    return null;
  end if;
  for r in
    select * from json_to_recordset(p_wants) as w(account text, need bigint)
      order by account collate "C"
  loop
    select unleased into v_unleased from accounts where id = r.account for update;
    continue when v_unleased is null;
    v_given := least(v_unleased, greatest(r.need, v_unleased / 4));
    if v_given > 0 then
      update accounts set unleased = unleased - v_given where id = r.account;
    end if;
    insert into leases (account_id, epoch, granted, spent)
      values (r.account, p_epoch, v_given, 0)
      on conflict (account_id, epoch) do update set granted = leases.granted + v_given
      returning granted into v_granted;
    v_elsewhere := 0;
    v_silent := 0;
    if v_given < r.need then
      select coalesce(sum(granted - spent), 0)::bigint,
          coalesce(sum(granted - spent) filter (where renewed_at < clock_timestamp() - p_silent), 0)
        into v_elsewhere, v_silent
        from leases join epochs on epochs.id = leases.epoch
        where account_id = r.account and leases.epoch <> p_epoch;
      if v_elsewhere > v_silent then
        insert into recalls (owner_id, until)
          values (r.account, clock_timestamp() + interval '1 second')
          on conflict (owner_id) do update set until = excluded.until;
      end if;
    end if;
    v_answers := v_answers || json_build_object('owner', r.account, 'granted', v_granted::text,
      'free', (v_unleased - v_given)::text, 'elsewhere', v_elsewhere::text,
      'silent', v_silent::text);
  end loop;
  return to_json(v_answers);
end $$`;

const giveBack = `create function svc_give_back(p_epoch bigint, p_rows json)
returns json language plpgsql as $$
declare
  v_answers json[] := '{}';
  v_granted bigint;
  r record;
begin
  perform 1 from epochs where id = p_epoch and is_open for share;
  if not found then
    return null;
  end if;
  for r in
    select * from json_to_recordset(p_rows) as w(account text, nano bigint)
      order by account collate "C"
  loop
    perform 1 from accounts where id = r.account for update;
    update leases set granted = granted - r.nano
      where account_id = r.account and epoch = p_epoch and granted - r.nano >= spent
      returning granted into v_granted;
    continue when not found;
    update accounts set unleased = unleased + r.nano where id = r.account;
    v_answers := v_answers || json_build_object('owner', r.account, 'granted', v_granted::text);
  end loop;
  return to_json(v_answers);
end $$`;

/** The same for a budget: it has what its limit says, less what was spent and what is lent. */
const lendBudgets = `create function svc_lend_budgets(p_epoch bigint, p_wants json, p_silent interval)
returns json language plpgsql as $$
declare
  v_answers json[] := '{}';
  v_version integer;
  v_spent bigint;
  v_lent bigint;
  v_free numeric;
  v_given bigint;
  v_granted bigint;
  v_elsewhere bigint;
  v_silent bigint;
  r record;
begin
  perform 1 from epochs where id = p_epoch and is_open for share;
  if not found then
    return null;
  end if;
  for r in
    select * from json_to_recordset(p_wants) as w(owner text, is_key boolean, period bigint,
      version integer, nano numeric, need bigint) order by owner collate "C", period
  loop
    if r.is_key then
      select limits_version into v_version from keys where id = r.owner;
    else
      select limits_version into v_version from accounts where id = r.owner;
    end if;
    if v_version is distinct from r.version then
      v_answers := v_answers || json_build_object('owner', r.owner, 'period', r.period,
        'is_stale', true);
      continue;
    end if;
    insert into budget_spends (owner_id, period_start_ms, spent) values (r.owner, r.period, 0)
      on conflict do nothing;
    select spent into v_spent from budget_spends
      where owner_id = r.owner and period_start_ms = r.period for update;
    select coalesce(sum(granted), 0)::bigint into v_lent from budget_leases
      where owner_id = r.owner and period_start_ms = r.period;
    v_free := greatest(0, r.nano - v_spent - v_lent);
    v_given := least(v_free, greatest(r.need, div(v_free, 4)), 9000000000000000000)::bigint;
    insert into budget_leases (owner_id, period_start_ms, epoch, granted, spent)
      values (r.owner, r.period, p_epoch, v_given, 0)
      on conflict (owner_id, period_start_ms, epoch)
      do update set granted = budget_leases.granted + v_given
      returning granted into v_granted;
    v_elsewhere := 0;
    v_silent := 0;
    if v_given < r.need then
      select coalesce(sum(granted - spent), 0)::bigint,
          coalesce(sum(granted - spent) filter (where renewed_at < clock_timestamp() - p_silent), 0)
        into v_elsewhere, v_silent
        from budget_leases b join epochs on epochs.id = b.epoch
        where b.owner_id = r.owner and b.period_start_ms = r.period and b.epoch <> p_epoch;
      if v_elsewhere > v_silent then
        insert into recalls (owner_id, until)
          values (r.owner, clock_timestamp() + interval '1 second')
          on conflict (owner_id) do update set until = excluded.until;
      end if;
    end if;
    v_answers := v_answers || json_build_object('owner', r.owner, 'period', r.period,
      'granted', v_granted::text, 'free', (v_free - v_given)::text,
      'elsewhere', v_elsewhere::text, 'silent', v_silent::text);
  end loop;
  return to_json(v_answers);
end $$`;

const giveBackBudgets = `create function svc_give_back_budgets(p_epoch bigint, p_rows json)
returns json language plpgsql as $$
declare
  v_answers json[] := '{}';
  v_granted bigint;
  r record;
begin
  perform 1 from epochs where id = p_epoch and is_open for share;
  if not found then
    return null;
  end if;
  for r in
    select * from json_to_recordset(p_rows) as w(owner text, period bigint, nano bigint)
      order by owner collate "C", period
  loop
    perform 1 from budget_spends
      where owner_id = r.owner and period_start_ms = r.period for update;
    update budget_leases set granted = granted - r.nano
      where owner_id = r.owner and period_start_ms = r.period and epoch = p_epoch
        and granted - r.nano >= spent
      returning granted into v_granted;
    continue when not found;
    v_answers := v_answers || json_build_object('owner', r.owner, 'period', r.period,
      'granted', v_granted::text);
  end loop;
  return to_json(v_answers);
end $$`;
