/** Ids are compared by their bytes, as everywhere. */
const text = `text collate "C"`;

/** As `permitLifeMs` in src/limits/permit-store.ts. */
const life = "interval '1 second'";

const tables = [
  `create table limit_levels (
    owner_id ${text} not null,
    kind ${text} not null,
    -- Counts the changes of the owner's limits: a process that has not heard of the last one yet
    -- does not bring an old limit back.
    version bigint not null,
    -- Per minute, or at a time.
    most double precision not null,
    -- Rates: the level at that moment, with all that processes hold.
    used double precision not null default 0,
    at timestamptz not null,
    primary key (owner_id, kind)
  )`,
  `create table permits (
    owner_id ${text} not null,
    kind ${text} not null,
    epoch bigint not null references epochs (id),
    held double precision not null,
    -- Rates: then what is held counts as used. Concurrency: until then the process counts among
    -- those that use the limit.
    expires_at timestamptz not null,
    -- The number of the process's call: one that was overtaken changes nothing.
    call bigint not null,
    primary key (owner_id, kind, epoch)
  )`,
  "create index permits_epoch on permits (epoch)",
  `create type permit_ask as (place integer, owner_id text, kind text, most double precision,
    version bigint, returned double precision, kept double precision, settled double precision,
    needs double precision[], extra double precision)`,
];

/** A function of its own, so that tests can set the time. */
const permitNow = `create function permit_now() returns timestamptz language sql volatile
  as 'select clock_timestamp()'`;

/**
 * Each need that fits, in their order, and of what is left then at most the part of one of four
 * blocks of each process that uses the limit.
 */
const coverNeeds = `create function cover_needs(needs double precision[], extra double precision,
  free double precision, processes bigint) returns double precision language plpgsql immutable as $$
declare
  covered double precision := 0;
  need double precision;
begin
  foreach need in array needs loop
    if covered + need <= free then covered := covered + need; end if;
  end loop;
  return covered + greatest(0, least(extra, floor((free - covered) / (4 * processes))));
end $$`;

/**
 * The level leaks, but never below what processes hold: so what they hold and what is free is never
 * more than one minute's quota, and T seconds admit at most N × (1 + T/60) whoever admits. A block
 * that has expired was held up to that moment, and leaks from then on.
 */
const borrowUnits = `create function borrow_units(of_epoch bigint, of_call bigint, ask permit_ask,
  out granted double precision, out used double precision, out processes bigint)
  language plpgsql as $$
declare
  level limit_levels;
  mine permits;
  now_at timestamptz := permit_now();
  per_ms double precision;
  least_used double precision;
  free double precision;
  covered double precision;
  held_elsewhere double precision;
  debt double precision;
begin
  select * into level from limit_levels l where l.owner_id = ask.owner_id and l.kind = ask.kind;
  -- The clock of the database may be set back, or be another server's.
  if level.at > now_at then level.at := now_at; end if;
  per_ms := level.most / 60000;
  select coalesce(max(p.total - per_ms * greatest(0, ms_between(p.expires_at, now_at))), 0),
      coalesce(sum(p.held) filter (where p.expires_at > now_at and p.epoch <> of_epoch), 0),
      1 + count(*) filter (where p.expires_at > now_at and p.epoch <> of_epoch)
    into least_used, held_elsewhere, processes
    from (select p.epoch, p.held, p.expires_at,
        sum(p.held) over (order by p.expires_at desc) as total
      from permits p where p.owner_id = ask.owner_id and p.kind = ask.kind
        and p.expires_at <= now_at + ${life}) p;
  used := greatest(level.used - per_ms * ms_between(level.at, now_at), least_used);
  update permits p set held = 0
    where p.owner_id = ask.owner_id and p.kind = ask.kind and p.held > 0
      and not (p.expires_at > now_at and p.expires_at <= now_at + ${life});
  select * into mine from permits p
    where p.owner_id = ask.owner_id and p.kind = ask.kind and p.epoch = of_epoch;
  mine.held := coalesce(mine.held, 0);
  ask.returned := least(ask.returned, mine.held);
  ask.kept := least(ask.kept, mine.held - ask.returned);
  used := used - ask.returned;
  if ask.version >= level.version then
    if ask.most <> level.most then
      debt := greatest(0, used - level.most);
      used := least(used, ask.most + debt);
    end if;
    level.most := ask.most;
    level.version := ask.version;
  end if;
  used := greatest(used + ask.settled, held_elsewhere + ask.kept);
  -- The last part covers the rounding of doubles.
  free := level.most - used + least(0.001 * per_ms, 0.01);
  covered := cover_needs(ask.needs, 0, free, processes);
  granted := cover_needs(ask.needs, ask.extra, free, processes);
  used := used + granted;
  update limit_levels l set used = borrow_units.used, at = now_at, most = level.most,
      version = level.version
    where l.owner_id = ask.owner_id and l.kind = ask.kind;
  -- Requests that waited use theirs now: that leaks from now on.
  perform hold_permits(of_epoch, of_call, ask, ask.kept + granted - covered, now_at);
end $$`;

/** What runs is counted, also above the limit: it may have been lowered, or have come later. */
const borrowSlots = `create function borrow_slots(of_epoch bigint, of_call bigint, ask permit_ask,
  out granted double precision, out free double precision, out processes bigint)
  language plpgsql as $$
declare
  level limit_levels;
  now_at timestamptz := permit_now();
begin
  select * into level from limit_levels l where l.owner_id = ask.owner_id and l.kind = ask.kind;
  if ask.version >= level.version and (ask.version, ask.most) <> (level.version, level.most) then
    level.most := ask.most;
    update limit_levels l set most = ask.most, version = ask.version
      where l.owner_id = ask.owner_id and l.kind = ask.kind;
  end if;
  select level.most - ask.kept - coalesce(sum(p.held), 0),
      1 + count(*) filter (where p.held > 0 or p.expires_at > now_at)
    into free, processes
    from permits p where p.owner_id = ask.owner_id and p.kind = ask.kind and p.epoch <> of_epoch;
  -- Where few are free, no process keeps one that is not needed yet.
  granted := cover_needs(ask.needs, case when free * 2 > level.most then ask.extra else 0 end,
    free, processes);
  free := free - granted;
  perform hold_permits(of_epoch, of_call, ask, ask.kept + granted, now_at);
end $$`;

const holdPermits = `create function hold_permits(of_epoch bigint, of_call bigint, ask permit_ask,
  units double precision, now_at timestamptz) returns void language sql as $$
  insert into permits (owner_id, kind, epoch, held, expires_at, call)
    values (ask.owner_id, ask.kind, of_epoch, units, now_at + ${life}, of_call)
    on conflict (owner_id, kind, epoch) do update
      set held = excluded.held, expires_at = excluded.expires_at, call = excluded.call
$$`;

const msBetween = `create function ms_between(earlier timestamptz, later timestamptz)
  returns double precision language sql immutable
  as 'select extract(epoch from later - earlier)::double precision * 1000'`;

/** No rows at all: the epoch is closed. */
const borrowPermits = `create function borrow_permits(of_epoch bigint, of_call bigint, asks jsonb)
  returns table (place integer, granted double precision, used double precision,
    free double precision, processes bigint) language plpgsql as $$
declare
  ask permit_ask;
begin
  -- The process that closes the epoch waits for this, or this for it: nothing is lent afterwards.
  if svc_enter(of_epoch) is not true then return; end if;
  -- All processes lock in one order.
  for ask in select * from jsonb_populate_recordset(null::permit_ask, asks) one
    order by one.owner_id collate "C", one.kind collate "C"
  loop
    insert into limit_levels (owner_id, kind, version, most, at)
      select ask.owner_id, ask.kind, ask.version, ask.most, permit_now()
      where not exists (select from limit_levels l
        where l.owner_id = ask.owner_id and l.kind = ask.kind)
      on conflict do nothing;
    perform 1 from limit_levels l where l.owner_id = ask.owner_id and l.kind = ask.kind for update;
    place := ask.place;
    used := 0;
    free := 0;
    granted := 0;
    processes := 1;
    if exists (select from permits p where p.owner_id = ask.owner_id and p.kind = ask.kind
        and p.epoch = of_epoch and p.call >= of_call) then
      null;
    elsif ask.kind = 'concurrency' then
      select s.granted, s.free, s.processes into granted, free, processes
        from borrow_slots(of_epoch, of_call, ask) s;
    else
      select u.granted, u.used, u.processes into granted, used, processes
        from borrow_units(of_epoch, of_call, ask) u;
    end if;
    return next;
  end loop;
end $$`;

/**
 * Limits that processes share. `limit_levels` has a row per limit of an owner, and whoever borrows
 * locks it; `permits` has what each process holds. One call of `borrow_permits` does it all, so that
 * no lock is held while an answer travels.
 */
export const permitStatements: readonly string[] = [
  ...tables,
  permitNow,
  msBetween,
  coverNeeds,
  holdPermits,
  borrowUnits,
  borrowSlots,
  borrowPermits,
];
