import { type Kysely, sql } from "kysely";
import { noShortestMs } from "../../../ledger/reports.ts";
import { failedSql } from "../../sql/reports/receipt-filter.ts";
import { endColumns, sumColumns } from "../../sql/reports/rollup-columns.ts";
import { functions } from "./functions.ts";
import { peopleStatements } from "./people.ts";
import { permitStatements } from "./permits.ts";
import { retentionStatements } from "./retention.ts";
import { sharedStateStatements } from "./shared-state.ts";

/** Ids, names and times are compared by their bytes, as the other database does. */
const text = `text collate "C"`;

const notNull = (type: string, names: readonly string[]) =>
  names.map((name) => `${name} ${type} not null`).join(", ");

const receiptNumbers = [
  "price_version",
  "input",
  "cached_input",
  "cache_write",
  "output",
  "audio_output",
  "image",
  "video_second",
  "reasoning",
  "estimated",
  "hold",
  "cost",
  "charged",
  "duration_ms",
];

const optionalReceiptNumbers = [
  "vendor_cost",
  "first_byte_ms",
  "key_limits_version",
  "account_limits_version",
  "cost_version",
  "cost_route",
  "hold_input",
  "hold_output",
  "hold_audio",
  "hold_image",
  "hold_video",
  "attempt_started_ms",
  "is_streamed",
];

const sums = sumColumns
  .map((name) => {
    const isEnd = (endColumns as readonly string[]).includes(name);
    const none = isEnd && name.startsWith("shortest_") ? noShortestMs : 0;
    return `${name} bigint not null default ${none}`;
  })
  .join(", ");

/** Everything that was there when PostgreSQL came: what SQLite got in sixteen steps. */
export async function foundation(db: Kysely<unknown>): Promise<void> {
  const statements = [
    ...platform,
    ...catalog,
    ...peopleStatements,
    ...ledger,
    ...reports,
    ...permitStatements,
    ...retentionStatements,
    ...sharedStateStatements,
  ];
  // In one round trip: the server may be far.
  await sql.raw(statements.join(";\n")).execute(db);
  await functions(db);
}

const platform = [
  `create table meta (key ${text} primary key, value text not null)`,
  // One row: whoever changes something takes the next number, and others wait until it is committed.
  "create table feed (id integer primary key, sequence bigint not null)",
  "insert into feed (id, sequence) values (1, 0)",
  `create table changes (sequence bigint primary key, topic text not null, subject ${text} not null)`,
  `create table accounts (
    id ${text} primary key,
    name ${text} not null unique,
    created_at_ms bigint not null,
    suspended_at_ms bigint,
    limits text,
    limits_version integer not null default 0,
    unleased bigint not null default 0 check (unleased >= 0),
    settled bigint not null default 0 check (settled >= 0)
  )`,
  `create table keys (
    id ${text} primary key,
    account_id ${text} not null references accounts (id),
    name ${text} not null,
    hash ${text} not null unique,
    hint text not null,
    models text,
    created_at_ms bigint not null,
    expires_at_ms bigint,
    revoked_at_ms bigint,
    limits text,
    limits_version integer not null default 0,
    previous_hash text,
    previous_hint text,
    previous_expires_at_ms bigint,
    paused_at_ms bigint,
    created_by text
  )`,
  "create index keys_account on keys (account_id, id)",
  `create table key_uses (
    key_id ${text} primary key references keys (id), last_used_ms bigint not null)`,
  `create table key_rejections (
    key_id ${text} primary key references keys (id), last_ms bigint not null)`,
];

const catalog = [
  `create table providers (
    name ${text} primary key,
    kind text not null,
    base_url text not null,
    api_key text,
    keys text,
    allow_private integer not null,
    paused integer not null default 0,
    options text,
    origin text
  )`,
  `create table target_checks (
    provider ${text} not null, key_name ${text} not null, model ${text} not null,
    digest text not null, ok integer not null, at_ms bigint not null,
    primary key (provider, key_name, model)
  )`,
  `create table provider_failures (
    hour_ms bigint not null, provider ${text} not null, failures bigint not null,
    primary key (hour_ms, provider)
  )`,
  `create table models (
    id ${text} primary key,
    endpoint text not null,
    input text not null,
    owned_by text not null,
    created_at_ms bigint not null,
    context_length bigint,
    max_output_tokens bigint,
    max_image_tokens bigint,
    max_audio_seconds bigint,
    timeouts text,
    routes text not null,
    cost_version integer not null default 0,
    deprecated_at_ms bigint,
    retires_at_ms bigint,
    replacement text,
    origin text,
    aliases text,
    removed_at_ms bigint,
    prices_after integer not null default 0
  )`,
  `create table prices (
    model_id ${text} not null references models (id),
    version integer not null,
    effective_at_ms bigint not null,
    created_at_ms bigint not null,
    price text,
    primary key (model_id, version)
  )`,
  `create table cost_versions (
    model_id ${text} not null references models (id),
    version integer not null,
    effective_at_ms bigint not null,
    routes text not null,
    primary key (model_id, version)
  )`,
  `create table limit_versions (
    owner_id ${text} not null,
    version integer not null,
    effective_at_ms bigint not null,
    limits text,
    primary key (owner_id, version)
  )`,
];

/**
 * A lease belongs to one start of one node: an epoch. The row of an account changes only when money
 * is lent, given back or entered; what calls spend changes the lease of their own epoch.
 *
 * unleased + Σ granted of open leases + settled = Σ entries.
 */
const ledger = [
  `create table entries (
    id ${text} primary key,
    account_id ${text} not null references accounts (id),
    kind text not null,
    nano bigint not null,
    reference ${text} not null,
    note text not null,
    created_at_ms bigint not null,
    unique (account_id, reference)
  )`,
  `create table nodes (
    name ${text} primary key,
    -- Of its data directory: a node that starts again has the same one.
    instance ${text} not null,
    version text not null,
    address text not null,
    pid integer not null,
    epoch bigint not null,
    is_draining boolean not null default false
  )`,
  `create table epochs (
    id bigint generated always as identity primary key,
    node ${text} not null,
    is_open boolean not null default true,
    opened_at timestamptz not null default clock_timestamp(),
    -- When it has not been renewed for this time, none of its calls can still run.
    gone_after interval not null default interval '1 hour',
    closed_at timestamptz,
    -- From this hour on its sums may lack receipts; null: they lack none.
    open_from_ms bigint,
    -- How many times sums were added: whether the last time stands is seen by it.
    sums_added bigint not null default 0
  )`,
  // Apart from the epoch: no commit and no report that takes long keeps a node from being heard.
  `create table heartbeats (
    epoch bigint primary key references epochs (id),
    renewed_at timestamptz not null default clock_timestamp(),
    -- The newest change that it has in memory.
    seen_sequence bigint not null default 0,
    -- Of report_requests: the newest for which it has written its sums.
    reports_done bigint not null default 0,
    load text not null default '{}',
    is_closed boolean not null default false
  ) with (fillfactor = 50)`,
  "create index epochs_open on epochs (node) where is_open",
  "create index epochs_summing on epochs (open_from_ms) where open_from_ms is not null",
  `create table leases (
    account_id ${text} not null references accounts (id),
    epoch bigint not null references epochs (id),
    granted bigint not null,
    spent bigint not null,
    primary key (account_id, epoch),
    constraint leases_never_overspent check (spent >= 0 and spent <= granted)
  )`,
  "create index leases_epoch on leases (epoch)",
  `create table budget_spends (
    owner_id ${text} not null,
    period_start_ms bigint not null,
    -- Of closed epochs, and of calls that were admitted before the budget was set.
    spent bigint not null,
    primary key (owner_id, period_start_ms)
  )`,
  `create table budget_leases (
    owner_id ${text} not null,
    period_start_ms bigint not null,
    epoch bigint not null references epochs (id),
    granted bigint not null,
    spent bigint not null,
    primary key (owner_id, period_start_ms, epoch)
  )`,
  "create index budget_leases_epoch on budget_leases (epoch)",
  `create table claims (
    id ${text} primary key,
    body_hash text not null,
    request_id ${text} not null,
    is_done integer not null,
    expires_at_ms bigint not null,
    epoch bigint,
    reply bytea
  )`,
  "create index claims_expiry on claims (expires_at_ms)",
  "create index claims_running on claims (epoch) where is_done = 0",
  `create table receipts (
    id ${text} primary key,
    ${notNull(text, ["account_id", "key_id", "model", "endpoint", "provider"])},
    attempts text not null,
    ${notNull("bigint", receiptNumbers)},
    outcome ${text} not null,
    ${optionalReceiptNumbers.map((name) => `${name} bigint`).join(", ")},
    upstream_model text,
    epoch bigint not null,
    -- Its epoch had been closed: nothing was charged, and the operator bears the cost.
    is_fenced boolean not null default false
  ) partition by range (id)`,
  // For ids whose time has no partition of its own: clocks can be wrong.
  "create table receipts_other partition of receipts default",
  "create index receipts_account on receipts (account_id, id)",
  // Few, so that it costs little to write, and leads to one error among millions of receipts.
  `create index receipts_failed on receipts (id, outcome) where ${failedSql}`,
];

const rollupKey = `account_id ${text} not null, key_id ${text} not null, model ${text} not null,
  provider ${text} not null`;

/** What is read of every key or account to show the dearest: out of the index alone. */
const ranked = ["receipts", "charged", ...endColumns].join(", ");

const reports = [
  // Each epoch has rows of its own, so that no two processes change one.
  `create table rollups (
    hour_ms bigint not null, ${rollupKey}, epoch bigint not null, ${sums},
    primary key (hour_ms, account_id, key_id, model, provider, epoch)
  )`,
  `create table rollup_days (
    day_ms bigint not null, ${rollupKey}, ${sums},
    primary key (day_ms, account_id, key_id, model, provider)
  )`,
  `create index rollup_days_model on rollup_days (model, day_ms, account_id, key_id)
    include (${ranked})`,
  `create table rollup_totals (
    grain ${text} not null, kind ${text} not null, start_ms bigint not null, name ${text} not null,
    ${sums}, primary key (grain, kind, start_ms, name) include (${ranked})
  )`,
  `create table minute_sums (
    start_ms bigint not null, account_id ${text} not null, key_id ${text} not null,
    model ${text} not null, epoch bigint not null, ${sums},
    primary key (start_ms, account_id, key_id, model, epoch)
  )`,
  `create table rejections (
    id ${text} primary key,
    ${notNull(text, ["account_id", "key_id", "model", "endpoint"])},
    status integer not null,
    code ${text} not null,
    message text not null,
    reason text not null,
    count bigint not null
  )`,
  "create index rejections_by_account on rejections (account_id, id)",
  ...["rejection_minutes", "rejection_hours"].flatMap((table) => [
    `create table ${table} (
      start_ms bigint not null,
      ${notNull(text, ["account_id", "key_id", "model", "code"])},
      status integer not null,
      count bigint not null,
      primary key (start_ms, account_id, key_id, model, code, status)
    )`,
    `create index ${table}_by_account on ${table} (account_id, start_ms)`,
  ]),
];
