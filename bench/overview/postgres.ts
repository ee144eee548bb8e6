/**
 * The same ledger on PostgreSQL. Its receipts are made by the server itself, because a bench must not
 * wait for hours; all that is added up of them is the product's own work.
 */
import type { Pool } from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { Minutes } from "../../src/ledger/minutes.ts";
import type { LedgerReports } from "../../src/ledger/reports.ts";
import { dayMs } from "../../src/ledger/rollups.ts";
import { PostgresFleet } from "../../src/store/postgres/fleet.ts";
import { createNodeStore } from "../../src/store/postgres/ledger-store.ts";
import { ensurePartitions, weekMs } from "../../src/store/postgres/partitions.ts";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import { createDatabase } from "../../test/setup/postgres.ts";
import {
  days,
  foldAll,
  type Made,
  makeOwners,
  Stopwatch,
  secretFingerprint,
  type Tell,
} from "./data.ts";
import { measure, questions } from "./reports.ts";
import type { Result } from "./table.ts";

const receiptsAtOnce = 250_000;

export interface MadeOnPostgres {
  readonly url: string;
  readonly made: Made;
  readonly sizeMb: number;
}

export async function makeOnPostgres(options: {
  readonly receipts: number;
  readonly tell: Tell;
}): Promise<MadeOnPostgres> {
  const { receipts, tell } = options;
  const url = await createDatabase();
  const postgres = await openPostgres({ url });
  const { pool, db } = postgres;
  const shared = await createPostgresStore(postgres, secretFingerprint);
  const fleet = new PostgresFleet({ pool, db, goneAfterMs: 60_000 });
  const node = { name: "bench", instance: "bench", version: "0", address: "", pid: process.pid };
  const { epoch } = await fleet.join(node);
  const store = createNodeStore({ postgres, shared, epoch, nowMs: Date.now });
  const toMs = Date.now() - 60_000;
  const fromMs = toMs - days * dayMs;
  const names = await makeOwners(store, fromMs);
  for (let ms = fromMs; ms < toMs + weekMs; ms += weekMs) await ensurePartitions(db, ms);
  const timer = new Stopwatch();
  const span = { fromMs, toMs, receipts, epoch };
  for (let done = 0; done < receipts; done += receiptsAtOnce) {
    await insertSome(postgres, { ...span, ...names, done });
    tell(`${done.toLocaleString("en")} receipts written`, (0.5 * done) / receipts);
  }
  const insertS = timer.nextS();
  tell("adding up by hour", 0.5);
  await store.ledger.rollups.recount(0);
  const recountS = timer.nextS();
  const { rows } = await pool.query<{ rows: number }>("select count(*) as rows from rollups");
  const rollups = rows[0]?.rows ?? 0;
  const foldPieceMs = await foldAll(store, {
    toMs,
    tell: (pieces) => tell("adding up by day", 0.7 + Math.min(0.3, (9 * pieces) / rollups)),
  });
  const foldS = timer.nextS();
  await withoutLimit(
    pool,
    `update accounts set settled = spent.nano, unleased = unleased - spent.nano
    from (select account_id, sum(charged)::bigint as nano from rollups group by 1) spent
    where accounts.id = spent.account_id`,
  );
  await withoutLimit(pool, "vacuum analyze");
  const size = await pool.query<{ bytes: number }>(
    "select pg_database_size(current_database()) as bytes",
  );
  await store.close();
  const made = { ...names, fromMs, toMs, insertS, recountS, foldS, foldPieceMs, rollups };
  return { url, made, sizeMb: (size.rows[0]?.bytes ?? 0) / 1e6 };
}

/** As `receiptAt` makes them: a few keys and models have most of the traffic. */
async function insertSome(
  { pool }: Postgres,
  of: Pick<Made, "accountIds" | "keyIds" | "models" | "fromMs" | "toMs"> & {
    readonly receipts: number;
    readonly epoch: number;
    readonly done: number;
  },
): Promise<void> {
  const { receipts, done, fromMs, toMs, epoch } = of;
  await withoutLimit(pool, insertSql, [
    done,
    Math.min(done + receiptsAtOnce, receipts) - 1,
    fromMs,
    (toMs - fromMs) / receipts,
    of.accountIds,
    of.keyIds,
    of.models,
    epoch,
  ]);
}

/** However long it takes. */
async function withoutLimit(pool: Pool, text: string, values: unknown[] = []): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("set statement_timeout = 0");
    await client.query(text, values);
  } finally {
    // Not for others to use.
    client.release(true);
  }
}

const insertSql = `insert into receipts (id, account_id, key_id, model, endpoint, provider, attempts,
    price_version, input, cached_input, cache_write, output, audio_output, image, video_second,
    reasoning, estimated, hold, cost, charged, vendor_cost, outcome, first_byte_ms, duration_ms,
    upstream_model, attempt_started_ms, is_streamed, epoch)
  select 'req_' || lpad(to_hex(($3::bigint + floor($4::float8 * at))::bigint), 12, '0') || '7'
      || substr(md5(at::text), 1, 19),
    ($5::text[])[1 + key % cardinality($5::text[])], ($6::text[])[1 + key],
    ($7::text[])[1 + model], 'chat',
    case when model % 3 = 0 then 'second' else 'first' end, '', 1, input, 0, 0, output, 0, 0, 0, 0, 0,
    cost * 4, cost, case when is_failure then 0 else cost end, cost - 100,
    case when is_failure then 'upstream_error' else 'ok' end,
    case when is_failure then null else first_byte end, first_byte + output * 12,
    'upstream-model-' || model, 1, 1, $8
  from (
    select at, key, model, input, output, first_byte, is_failure,
      input * 300 + output * 2500 as cost
    from (
      select at,
        floor(cardinality($6::text[]) * random() ^ 3)::int as key,
        floor(cardinality($7::text[]) * random() ^ 2)::int as model,
        200 + floor(4000 * random() ^ 3)::bigint as input,
        20 + floor(1000 * random() ^ 2)::bigint as output,
        80 + floor(900 * random() ^ 2)::bigint as first_byte,
        random() < 0.01 as is_failure
      from generate_series($1::bigint, $2::bigint) as at) drawn) priced`;

/** The questions of the console, with the rows that the server reads for each. */
export async function measureOnPostgres(options: {
  readonly url: string;
  readonly made: Made;
  readonly tell: Tell;
}): Promise<readonly Result[]> {
  const { url, made, tell } = options;
  const asked = await openReports(url);
  try {
    const results: Result[] = [];
    const all = questions(asked.reports, made);
    for (const [at, { name, ask }] of all.entries()) {
      tell(name, at / all.length);
      const rowsRead = await countRows(url, async (reports) => {
        await questions(reports, made)[at]?.ask();
      });
      results.push({ ...(await measure(name, ask)), rowsRead });
    }
    return results;
  } finally {
    await asked.close();
  }
}

interface OpenReports {
  readonly reports: LedgerReports;
  close(): Promise<void>;
}

async function openReports(url: string): Promise<OpenReports> {
  const postgres = await openPostgres({ url });
  const shared = await createPostgresStore(postgres, secretFingerprint);
  const store = createNodeStore({ postgres, shared, epoch: 0, nowMs: Date.now });
  const reports = store.openReports({
    clock: systemClock,
    flush: async () => {},
    minutes: new Minutes(),
  });
  return {
    reports,
    async close() {
      await reports.close();
      await store.close();
    },
  };
}

/** A connection reports what it has read when it ends, at the latest. */
async function countRows(
  url: string,
  work: (reports: LedgerReports) => Promise<void>,
): Promise<number> {
  const before = await rowsRead(url);
  const { reports, close } = await openReports(url);
  await work(reports).finally(close);
  return (await rowsRead(url)) - before;
}

async function rowsRead(url: string): Promise<number> {
  const { pool, close } = await openPostgres({ url });
  const { rows } = await pool
    .query<{ rows: number }>(`select
      (select coalesce(sum(seq_tup_read), 0) from pg_stat_user_tables
        where relname ~ '^(receipts|rollup|minute_sums)')
      + (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes
        where relname ~ '^(receipts|rollup|minute_sums)') as rows`)
    .finally(close);
  return Number(rows[0]?.rows ?? 0);
}
