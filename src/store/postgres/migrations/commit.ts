import { shareCall } from "../locks.ts";

/** Of an id: twelve hexadecimal digits behind its first four characters. */
const idTime = "cast(cast('x' || lpad(substr(id, 5, 12), 16, '0') as bit(64)) as bigint)";
const hourMs = 3_600_000;

/**
 * Writes receipts and claims. The answer tells which receipts are new, which claims another request
 * has, and of which owners the limits have changed since their calls were let in: then nothing is
 * written, and the caller comes again with what late calls add to their budgets. The limits of those
 * whose receipts are taken out are asked for in the same way.
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
  v_voided text[];
  v_stale json;
  v_lost text[] := '{}';
  r record;
begin
  if p_open_ms is not null then
    -- Which receipts are kept is not decided meanwhile. Comes before all other locks.
    perform ${shareCall("retention")};
  end if;
  -- A budget that is set waits for it, before it adds up what is charged.
  perform ${shareCall("limits")};
  v_is_open := svc_enter(p_epoch);
  if v_is_open is null then
    raise exception 'epoch % does not exist', p_epoch using errcode = 'SV002';
  end if;
  if p_open_ms is not null then
    update epochs set open_from_ms = least(open_from_ms, p_open_ms) where id = p_epoch;
    -- What is gone must not be charged again.
    if p_open_ms < (select max(kept_from_ms) from receipt_marks) then
      raise exception 'receipts as old as these are no longer kept' using errcode = 'SV003';
    end if;
  end if;
  if json_array_length(p_voids) > 0 then
    select json_agg(json_build_object('owner', owner, 'version', version)) into v_stale from (
      select o.id as owner, o.limits_version as version
        from json_to_recordset(p_voids) as v(account text, key text),
        lateral (select k.id, k.limits_version from keys k where k.id = v.key
          union all select a.id, a.limits_version from accounts a where a.id = v.account) o
      except
      select owner, version from json_to_recordset(p_known) as n(owner text, version integer)
    ) stale;
    if v_stale is not null then
      return json_build_object('is_open', v_is_open, 'stale', v_stale);
    end if;
  end if;
  v_base.epoch := p_epoch;
  v_rows := array(select x from json_populate_recordset(v_base, p_receipts) x);
  if not v_is_open then
    v_voided := svc_void(p_epoch, p_voids);
    with added as (
      insert into receipts
        select (jsonb_populate_record(u, '{"charged":0,"is_fenced":true}')).* from unnest(v_rows) u
        on conflict do nothing returning id)
      select array_agg(id) into v_added from added;
    -- The sums of the epoch are wrong, until another process adds it up again.
    update epochs set open_from_ms = least(open_from_ms, (
        select min(${idTime}) / ${hourMs} * ${hourMs} from unnest(v_added || v_voided) id))
      where id = p_epoch and cardinality(v_added || v_voided) > 0;
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
      where u.charged > 0 and u.id = any (v_added) group by 1, 2, 3
      -- Spends before leases, as those do who lend.
      order by b.owner collate "C", b.period, b.is_late desc
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
  delete from claims where id in (select id from claims
    where id = any (p_releases) and is_done = 0 and epoch = p_epoch order by id for update);
  perform svc_tell_live('receipts', v_added);
  return json_build_object('is_open', true, 'added', to_json(v_added), 'lost', to_json(v_lost));
end $$`;

/**
 * Takes out receipts of this epoch whose replies were never sent, and all that came with them: from
 * its leases, or from what these became when it was closed. Which ones were there is the answer.
 */
const voids = `create function svc_void(p_epoch bigint, p_voids json)
returns text[] language plpgsql as $$
declare
  v_gone text[] := '{}';
  r record;
begin
  if json_array_length(p_voids) = 0 then
    return v_gone;
  end if;
  for r in
    with asked as (select * from json_to_recordset(p_voids)
        as v(id text, claim text, owner text, period bigint, is_late boolean)),
      gone as (delete from receipts where epoch = p_epoch and id in (select id from asked)
        returning id, account_id, charged),
      freed as (delete from claims where epoch = p_epoch
        and id in (select claim from asked where id in (select id from gone)))
    select 1 as step, account_id as owner, null::bigint as period, false as is_late,
        sum(charged)::bigint as charged, array_agg(id) as ids
      from gone group by 2
    union all
    select 2, asked.owner, asked.period, asked.is_late, sum(charged)::bigint, null
      from gone join asked on asked.id = gone.id where asked.owner is not null group by 2, 3, 4
    order by 1, 2, 3, 4 desc
  loop
    if r.step = 1 then
      v_gone := v_gone || r.ids;
      update leases set spent = spent - r.charged
        where account_id = r.owner and epoch = p_epoch;
      continue when found;
      update accounts set settled = settled - r.charged, unleased = unleased + r.charged
        where id = r.owner;
    else
      update budget_leases set spent = spent - r.charged
        where owner_id = r.owner and period_start_ms = r.period and epoch = p_epoch
          and not r.is_late;
      continue when found;
      update budget_spends set spent = spent - r.charged
        where owner_id = r.owner and period_start_ms = r.period;
    end if;
  end loop;
  return v_gone;
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
  update leases set granted = granted + v_missing, spent = spent + p_nano
    where account_id = p_account and epoch = p_epoch;
  if not found then
    insert into leases (account_id, epoch, granted, spent)
      values (p_account, p_epoch, v_missing, p_nano);
  end if;
end $$`;

export const commitStatements: readonly string[] = [charge, voids, commit];
