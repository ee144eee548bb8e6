/**
 * The same ledger on PostgreSQL, of a larger team. Its receipts and their sums by hour are made by
 * the server itself, two weeks at a time, because a bench must not wait for hours. What is added up
 * of these, by day and in totals, is the product's own work.
 */
import type { Pool } from "pg";
import { idFloor } from "../../src/base/ids.ts";
import { dayMs, hourMs, toHour } from "../../src/ledger/rollups.ts";
import { PostgresFleet } from "../../src/store/postgres/fleet.ts";
import { createNodeStore } from "../../src/store/postgres/ledger-store.ts";
import {
  ensurePartitions,
  ensureWeekOf,
  listPartitions,
  type Partition,
} from "../../src/store/postgres/partitions.ts";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { postgresWords } from "../../src/store/postgres/reports/postgres-reader.ts";
import { epochKeys } from "../../src/store/postgres/reports/rollup-rows.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import { startOf, sumColumns, sumsOfReceipts } from "../../src/store/sql/reports/rollup-columns.ts";
import {
  days,
  foldAll,
  type Made,
  makeOwners,
  type Names,
  Stopwatch,
  secretFingerprint,
  type Tell,
} from "./data.ts";

const counts = { accounts: 2_000, keys: 5_000, models: 24 };
/** Each has sums of its own. */
const gateways = 2;
const weeksAtOnce = 2;
/** Of a day: each key is used in one of them. */
const shifts = 6;
const shiftMs = dayMs / shifts;
const receiptsAtOnce = 500_000;

/** For a server that is filled once: without a log of what is written to new tables. */
export const serverSettings = {
  shared_buffers: "2GB",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "4GB",
  checkpoint_timeout: "30min",
};

export interface MadeOnPostgres {
  readonly made: Made;
  readonly sizeMb: number;
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly receipts: number;
  readonly epochs: readonly number[];
}

export async function makeOnPostgres(options: {
  /** Of an empty database. */
  readonly url: string;
  readonly receipts: number;
  readonly tell: Tell;
}): Promise<MadeOnPostgres> {
  const { url, receipts, tell } = options;
  const postgres = await openPostgres({ url });
  const { pool, db } = postgres;
  const shared = await createPostgresStore(postgres, secretFingerprint);
  const epochs = await joinGateways(postgres);
  const store = createNodeStore({ postgres, shared, epoch: epochs[0] ?? 0, nowMs: Date.now });
  const toMs = Date.now() - 60_000;
  const fromMs = toMs - days * dayMs;
  const timer = new Stopwatch();
  tell("accounts and keys", 0);
  const names = await makeOwners(store, fromMs, counts);
  await nameOwners(pool, names);
  const ownersS = timer.nextS();
  await ensurePartitions(db, toMs);
  for (let ms = fromMs; ms < toMs; ms += dayMs) await ensureWeekOf(db, ms);
  const span = { fromMs, toMs, receipts, epochs };
  const weeks = (await listPartitions(db)).filter((week) => week.fromMs < toMs);
  let written = 0;
  await several(weeks, (week) =>
    fillWeek(pool, week, span, (more) => {
      written += more;
      tell(`${written.toLocaleString("en")} receipts written`, (0.3 * written) / receipts);
    }),
  );
  const insertS = timer.nextS();
  let summed = 0;
  await several(weeks, async (week) => {
    await sumWeek(pool, week, span);
    tell("adding up by hour", 0.3 + (0.3 * ++summed) / weeks.length);
  });
  const recountS = timer.nextS();
  await alone(pool, ["vacuum analyze"]);
  const vacuumS = timer.nextS();
  const { rows } = await pool.query<{ rows: number }>("select count(*) as rows from rollups");
  const rollups = rows[0]?.rows ?? 0;
  // As gateways have it that still run: calls of this hour can still end.
  await pool.query("update epochs set open_from_ms = $1", [toHour(toMs)]);
  const foldPieceMs = await foldAll(store, {
    toMs,
    tell: (pieces) => tell("adding up by day", 0.65 + Math.min(0.3, (300 * pieces) / rollups)),
  });
  const foldS = timer.nextS();
  await alone(pool, [
    `update accounts set settled = spent.nano, unleased = unleased - spent.nano
      from (select account_id, sum(charged)::bigint as nano from rollups group by 1) spent
      where accounts.id = spent.account_id`,
    "drop table bench_keys",
    "vacuum analyze",
  ]);
  const size = await pool.query<{ bytes: number }>(
    "select pg_database_size(current_database()) as bytes",
  );
  await store.close();
  const times = { ownersS, insertS, recountS, vacuumS, foldS, foldPieceMs };
  return {
    made: { ...names, fromMs, toMs, rollups, ...times },
    sizeMb: (size.rows[0]?.bytes ?? 0) / 1e6,
  };
}

async function joinGateways({ pool, db }: Postgres): Promise<readonly number[]> {
  const fleet = new PostgresFleet({ pool, db, goneAfterMs: 60_000 });
  const epochs: number[] = [];
  for (let at = 0; at < gateways; at++) {
    const name = `bench-${at}`;
    const node = { name, instance: name, version: "0", address: "", pid: process.pid };
    epochs.push((await fleet.join(node)).epoch);
  }
  return epochs;
}

/** Numbered, so that a statement can draw one. */
async function nameOwners(pool: Pool, { accountIds, keyIds }: Names): Promise<void> {
  await pool.query("create table bench_keys (at int primary key, key_id text, account_id text)");
  await pool.query(
    `insert into bench_keys
      select at - 1, key_id, ($2::text[])[1 + (at - 1) % cardinality($2::text[])]
      from unnest($1::text[]) with ordinality as keys(key_id, at)`,
    [keyIds, accountIds],
  );
  await pool.query("analyze bench_keys");
}

/** Several weeks at a time. */
async function several(
  weeks: readonly Partition[],
  work: (week: Partition) => Promise<void>,
): Promise<void> {
  const left = [...weeks];
  const run = async () => {
    for (let week = left.shift(); week !== undefined; week = left.shift()) await work(week);
  };
  await Promise.all(Array.from({ length: weeksAtOnce }, run));
}

/** A table that was emptied in the same transaction needs no log. */
async function fillWeek(
  pool: Pool,
  { name, ...week }: Partition,
  span: Span,
  tell: (receipts: number) => void,
): Promise<void> {
  const { fromMs, toMs, receipts, epochs } = span;
  const stepMs = (toMs - fromMs) / receipts;
  const placeOf = (ms: number) =>
    Math.min(receipts, Math.max(0, Math.ceil((ms - fromMs) / stepMs)));
  const end = placeOf(week.toMs);
  await alone(pool, ["begin", `truncate ${name}`], async (ask) => {
    for (let done = placeOf(week.fromMs); done < end; done += receiptsAtOnce) {
      const next = Math.min(done + receiptsAtOnce, end);
      await ask(insertSql(name), [
        done,
        next - 1,
        fromMs,
        stepMs,
        counts.keys,
        counts.models,
        epochs,
      ]);
      tell(next - done);
    }
    await ask("commit");
  });
}

/** As the product does it for the epoch of a process that is gone. */
async function sumWeek(pool: Pool, week: Partition, span: Span): Promise<void> {
  const toMs = Math.min(week.toMs, span.toMs + hourMs);
  await alone(pool, ["set work_mem = '256MB'"], async (ask) => {
    for (let ms = toHour(Math.max(week.fromMs, span.fromMs)); ms < toMs; ms += hourMs)
      await ask(
        `insert into rollups (${epochKeys.join(", ")}, ${sumColumns.join(", ")})
          select ${startOf(hourMs, postgresWords)}, account_id, key_id, model, provider, epoch,
            ${sumsOfReceipts}
          from ${week.name} where id >= $1 and id < $2 group by 1, 2, 3, 4, 5, 6`,
        [idFloor("req", ms), idFloor("req", ms + hourMs)],
      );
  });
}

type Ask = (text: string, values?: unknown[]) => Promise<unknown>;

/** On a connection of its own, however long it takes. */
async function alone(
  pool: Pool,
  statements: readonly string[],
  work: (ask: Ask) => Promise<void> = async () => {},
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("set statement_timeout = 0; set jit = off");
    for (const statement of statements) await client.query(statement);
    await work((text, values = []) => client.query(text, values));
  } finally {
    // Not for others to use.
    client.release(true);
  }
}

/** A few keys have most of the traffic; each is used in a few hours of the day, for three models. */
const insertSql = (table: string) => `insert into ${table} (id, account_id, key_id, model, endpoint,
    provider, attempts, price_version, input, cached_input, cache_write, output, audio_output, image,
    video_second, reasoning, estimated, hold, cost, charged, vendor_cost, outcome, first_byte_ms,
    duration_ms, upstream_model, attempt_started_ms, is_streamed, epoch)
  select 'req_' || lpad(to_hex(($3::bigint + floor($4::float8 * priced.at))::bigint), 12, '0') || '7'
      || substr(md5(priced.at::text), 1, 19),
    account_id, key_id, 'bench-model-' || model, 'chat',
    case when model % 3 = 0 then 'second' else 'first' end, '', 1, input, 0, 0, output, 0, 0, 0, 0, 0,
    cost * 4, cost, case when is_failure then 0 else cost end, cost - 100,
    case when not is_failure then 'ok' when priced.at % 3 = 0 then 'upstream_overloaded'
      else 'upstream_error' end,
    case when is_failure then null else first_byte end, first_byte + output * 12,
    'upstream-model-' || model, 1, 1,
    ($7::bigint[])[1 + priced.at % cardinality($7::bigint[])]
  from (
    select at, key, input, output, first_byte, is_failure, input * 300 + output * 2500 as cost,
      (floor($6::int * (key * 0.618034::float8 - floor(key * 0.618034::float8)) ^ 2)::int + 5 * use) % $6::int
        as model
    from (
      select at,
        floor($5::int * random() ^ 3 / ${shifts})::int * ${shifts}
          + (($3::bigint + $4::float8 * at)::bigint / ${shiftMs} % ${shifts})::int as key,
        floor(3 * random() ^ 2)::int as use,
        200 + floor(4000 * random() ^ 3)::bigint as input,
        20 + floor(1000 * random() ^ 2)::bigint as output,
        80 + floor(900 * random() ^ 2)::bigint as first_byte,
        random() < 0.01 as is_failure
      from generate_series($1::bigint, $2::bigint) as at) drawn) priced
  join bench_keys on bench_keys.at = key`;
