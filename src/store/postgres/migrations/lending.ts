import { shareCall } from "../locks.ts";

/** Money that calls wait for: processes that have some of it idle give it back. */
const recalls = `create table recalls (
  -- Of an account, or of the budget of an owner: then with the word budget before it.
  owner_id text collate "C" primary key,
  until timestamptz not null
)`;

/** An account with nothing left may be asked for again and again: that must not write each time. */
const recall = `create function svc_recall(p_owner text) returns void language plpgsql as $$
begin
  if exists (select from recalls
      where owner_id = p_owner and until > clock_timestamp() + interval '500 milliseconds') then
    return;
  end if;
  insert into recalls (owner_id, until) values (p_owner, clock_timestamp() + interval '1 second')
    on conflict (owner_id) do update set until = excluded.until;
end $$`;

/**
 * How much of what is free a process gets: what its calls need, or a quarter, which it does not keep
 * while others wait for it. Where there is too little for any of its calls and others can give some
 * back, it stays, so that two processes do not each keep a part that is of no use to either.
 */
const share = `create function svc_share(p_owner text, p_free numeric, p_need bigint, p_least bigint,
  p_may_come boolean) returns bigint language plpgsql stable as $$
begin
  if p_free <= 0 or (p_free < p_least and p_may_come) then
    return 0;
  elsif exists (select from recalls
      where owner_id = p_owner and until > clock_timestamp()) then
    return least(p_free, p_need);
  end if;
  return least(p_free, greatest(p_need, div(p_free, 4)), 9000000000000000000);
end $$`;

/** The leases that a loan is taken from. */
interface Leases {
  readonly table: string;
  /** Those of the owner that is asked for. */
  readonly isOwners: string;
}

const ofAccount: Leases = { table: "leases", isOwners: "account_id = r.account" };
const ofBudget: Leases = {
  table: "budget_leases",
  isOwners: "owner_id = r.owner and period_start_ms = r.period",
};

const declared = `declare
  v_answers json[] := '{}';
  v_free numeric;
  v_given bigint;
  v_elsewhere bigint;
  v_silent bigint;
  r record;
`;

/** Of what is free, how much is given; where it is too little, others are asked for theirs. */
const shareOut = (owner: string, { table, isOwners }: Leases) => `v_elsewhere := 0;
    v_silent := 0;
    if v_free < r.need then
      select coalesce(sum(granted - spent), 0)::bigint, coalesce(sum(granted - spent)
          filter (where renewed_at < clock_timestamp() - p_silent), 0)::bigint
        into v_elsewhere, v_silent
        from ${table} l join heartbeats on heartbeats.epoch = l.epoch
        where ${isOwners} and l.epoch <> p_epoch;
    end if;
    v_given := svc_share(${owner}, v_free, r.need, r.least,
      v_elsewhere > v_silent and not r.is_last);
    if v_given < r.need and v_elsewhere > v_silent then
      perform svc_recall(${owner});
    end if;`;

const answer = (names: string, { table, isOwners }: Leases) =>
  `v_answers := v_answers || json_build_object(${names}, 'granted', (
        select coalesce(sum(granted), 0)::text from ${table} where ${isOwners} and epoch = p_epoch),
      'free', (v_free - v_given)::text, 'elsewhere', v_elsewhere::text, 'silent', v_silent::text);`;

/**
 * Lends what calls need, or a quarter of what no process has. Where there is too little, others are
 * asked to give back what they do not use; the answer says what they have, and how much of that is
 * with nodes that have gone silent. Where nothing can be lent, nothing is written.
 */
const lend = `create function svc_lend(p_epoch bigint, p_wants json, p_silent interval)
returns json language plpgsql as $$
${declared}begin
  if svc_enter(p_epoch) is not true then
    return null;
  end if;
  for r in
    select * from json_to_recordset(p_wants)
      as w(account text, need bigint, least bigint, is_last boolean)
      order by account collate "C"
  loop
    select unleased into v_free from accounts where id = r.account;
    continue when v_free is null;
    if v_free > 0 then
      select unleased into v_free from accounts where id = r.account for update;
    end if;
    ${shareOut("r.account", ofAccount)}
    if v_given > 0 then
      update accounts set unleased = unleased - v_given where id = r.account;
      insert into leases (account_id, epoch, granted, spent)
        values (r.account, p_epoch, v_given, 0)
        on conflict (account_id, epoch) do update set granted = leases.granted + v_given;
    end if;
    ${answer("'owner', r.account", ofAccount)}
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
  if svc_enter(p_epoch) is not true then
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
${declared}  v_version integer;
begin
  perform ${shareCall("limits")};
  if svc_enter(p_epoch) is not true then
    return null;
  end if;
  for r in
    select * from json_to_recordset(p_wants) as w(owner text, is_key boolean, period bigint,
      version integer, nano numeric, need bigint, least bigint, is_last boolean)
      order by owner collate "C", period
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
    v_free := svc_budget_left(r.owner, r.period, r.nano);
    if v_free > 0 then
      insert into budget_spends (owner_id, period_start_ms, spent) values (r.owner, r.period, 0)
        on conflict do nothing;
      perform 1 from budget_spends
        where owner_id = r.owner and period_start_ms = r.period for update;
      v_free := svc_budget_left(r.owner, r.period, r.nano);
    end if;
    ${shareOut("'budget ' || r.owner", ofBudget)}
    if v_given > 0 then
      insert into budget_leases (owner_id, period_start_ms, epoch, granted, spent)
        values (r.owner, r.period, p_epoch, v_given, 0)
        on conflict (owner_id, period_start_ms, epoch)
        do update set granted = budget_leases.granted + v_given;
    end if;
    ${answer("'owner', r.owner, 'period', r.period", ofBudget)}
  end loop;
  return to_json(v_answers);
end $$`;

const budgetLeft = `create function svc_budget_left(p_owner text, p_period bigint, p_nano numeric)
returns numeric language sql volatile as $$
  select greatest(0, p_nano
    - coalesce((select spent from budget_spends
      where owner_id = p_owner and period_start_ms = p_period), 0)
    - coalesce((select sum(granted) from budget_leases
      where owner_id = p_owner and period_start_ms = p_period), 0))
$$`;

const giveBackBudgets = `create function svc_give_back_budgets(p_epoch bigint, p_rows json)
returns json language plpgsql as $$
declare
  v_answers json[] := '{}';
  v_granted bigint;
  r record;
begin
  perform ${shareCall("limits")};
  if svc_enter(p_epoch) is not true then
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

export const lendingStatements: readonly string[] = [
  recalls,
  recall,
  share,
  lend,
  giveBack,
  budgetLeft,
  lendBudgets,
  giveBackBudgets,
];
