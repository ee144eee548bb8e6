import type { Kysely } from "kysely";
import type { PeopleTables } from "./people/tables.ts";

/**
 * Times are milliseconds since 1970, in UTC. Nullable columns are told by `| null`. Money is
 * nano-USD in 64 bits: written as a bigint, read as text (`cast … as text`), since a number would
 * lose digits above nine million USD.
 */
export interface Tables extends PeopleTables {
  meta: { key: string; value: string };
  /** The keys that encrypt and sign: base64, each wrapped by the secret with the fingerprint. */
  data_keys: {
    purpose: string;
    wrapping: string;
    wrapped: string;
    created_at_ms: number;
    wrapped_at_ms: number;
  };
  accounts: {
    id: string;
    name: string;
    created_at_ms: number;
    suspended_at_ms: number | null;
    /** JSON of Limits; the budget as text. */
    limits: string | null;
    limits_version: number;
    /** Its receipts are kept for this many days; null: for as long as those of all. */
    receipts_days: number | null;
  };
  /** Of an account, or of all: "". Days, so that sums of days stand for what is gone. */
  receipt_marks: {
    account_id: string;
    /** Receipts from before are gone, or about to go. */
    kept_from_ms: number;
    exported_to_ms: number;
    erased_to_ms: number;
  };
  keys: {
    id: string;
    account_id: string;
    name: string;
    hash: string;
    hint: string;
    /** JSON array of model ids; null: all. */
    models: string | null;
    created_at_ms: number;
    expires_at_ms: number | null;
    revoked_at_ms: number | null;
    /** JSON of Limits; the budget as text. */
    limits: string | null;
    limits_version: number;
    /** Of the secret that a rotation replaced; all three or none. */
    previous_hash: string | null;
    previous_hint: string | null;
    previous_expires_at_ms: number | null;
    paused_at_ms: number | null;
    /** The name of the person, token or command; null in keys from before it was recorded. */
    created_by: string | null;
  };
  /** Destinations of exports. */
  exports: {
    id: string;
    name: string;
    /** With commas between them. */
    streams: string;
    format: string;
    /** JSON, without secrets. */
    target: string;
    from_ms: number;
    created_at_ms: number;
    paused_at_ms: number | null;
  };
  export_streams: {
    export_id: string;
    stream: string;
    hour_ms: number;
    after_id: string;
    part: number;
    hour_rows: number;
    rows: number;
    delivered_at_ms: number | null;
    failures: number;
    failures_in_row: number;
    failure: string | null;
    failing_since_ms: number | null;
    retry_at_ms: number;
  };
  /** Hours that were delivered, for as long as late rows are looked for. */
  export_hours: {
    export_id: string;
    stream: string;
    hour_ms: number;
    rows: number;
    known: number;
  };
  /** Apart from the keys: written every minute, and no change that the feed has to tell. */
  key_uses: { key_id: string; last_used_ms: number };
  /** Refused calls, newest ids last; a row may stand for several calls of one minute. */
  rejections: {
    id: string;
    account_id: string;
    key_id: string;
    model: string;
    endpoint: string;
    status: number;
    code: string;
    message: string;
    /** "" for none. */
    reason: string;
    count: number;
    /** "" where it is not a call to a chat model, or several differ. */
    dialect: string;
  };
  rejection_minutes: RejectionSums;
  rejection_hours: RejectionSums;
  key_rejections: { key_id: string; last_ms: number };
  /** What callers and models wrote is encrypted, and bound to account and id. */
  stored_responses: {
    account_id: string;
    id: string;
    key_id: string;
    model: string;
    created_at_ms: number;
    expires_at_ms: number;
    previous_id: string | null;
    /** Of items and reply together; 0 while it is being deleted. */
    size_bytes: number;
    items_bytes: number;
    /** How many there are; 0: items and reply are in this row. */
    pieces: number;
    /** 0: pieces are missing, so nobody finds it. */
    is_whole: number;
    items: Uint8Array;
    reply: Uint8Array;
  };
  stored_response_pieces: { account_id: string; id: string; place: number; bytes: Uint8Array };
  /** What the rows of each account add up to. */
  stored_response_totals: { account_id: string; responses: number; bytes: number };
  providers: {
    name: string;
    kind: string;
    base_url: string;
    /** JSON of a StoredSecret. */
    api_key: string | null;
    /** JSON of ProviderKeys; null: no further keys. */
    keys: string | null;
    allow_private: number;
    paused: number;
    options: string | null;
    /** JSON of an Origin; null: created in the store. */
    origin: string | null;
  };
  target_checks: {
    provider: string;
    key_name: string;
    model: string;
    digest: string;
    ok: number;
    at_ms: number;
  };
  provider_failures: {
    hour_ms: number;
    provider: string;
    failures: number;
  };
  models: {
    id: string;
    endpoint: string;
    input: string;
    owned_by: string;
    created_at_ms: number;
    context_length: number | null;
    max_output_tokens: number | null;
    max_image_tokens: number | null;
    max_audio_seconds: number | null;
    timeouts: string | null;
    /** JSON array of routes; costs as decimal text. */
    routes: string;
    cost_version: number;
    deprecated_at_ms: number | null;
    retires_at_ms: number | null;
    replacement: string | null;
    origin: string | null;
    /** JSON array of ids; null: none. */
    aliases: string | null;
    /** A removed model is not loaded; its price and cost versions are still referred to. */
    removed_at_ms: number | null;
    /** Price versions up to this one belong to a removed model that had the same id. */
    prices_after: number;
  };
  prices: {
    model_id: string;
    version: number;
    effective_at_ms: number;
    created_at_ms: number;
    /** JSON: nano-USD per million units as decimal text, by price key; null: no price from then on. */
    price: string | null;
  };
  /** What the limits of an account or a key were from a moment on; null: none. */
  limit_versions: {
    owner_id: string;
    version: number;
    effective_at_ms: number;
    limits: string | null;
  };
  /** JSON of the routes of a model from a moment on: provider, model and, where known, cost. */
  cost_versions: { model_id: string; version: number; effective_at_ms: number; routes: string };
  /** One row: the number of the newest change. */
  feed: { id: number; sequence: number };
  changes: { sequence: number; topic: string; subject: string };
  entries: {
    id: string;
    account_id: string;
    kind: string;
    nano: bigint;
    reference: string;
    note: string;
    created_at_ms: number;
  };
  leases: {
    account_id: string;
    node: string;
    epoch: number;
    granted: bigint;
    spent: bigint;
  };
  budget_spends: { owner_id: string; period_start_ms: number; spent: bigint };
  receipts: {
    id: string;
    account_id: string;
    key_id: string;
    model: string;
    endpoint: string;
    provider: string;
    /** JSON; empty where none was made, or where the one that there was is in columns. */
    attempts: string;
    price_version: number;
    input: number;
    cached_input: number;
    cache_write: number;
    output: number;
    audio_output: number;
    image: number;
    video_second: number;
    reasoning: number;
    estimated: number;
    hold: bigint;
    cost: bigint;
    charged: bigint;
    vendor_cost: bigint | null;
    outcome: string;
    first_byte_ms: number | null;
    duration_ms: number;
    /** Null in receipts from before they were recorded; the cost's also where nobody was asked. */
    key_limits_version: number | null;
    account_limits_version: number | null;
    cost_version: number | null;
    cost_route: number | null;
    hold_input: number | null;
    hold_output: number | null;
    hold_audio: number | null;
    hold_image: number | null;
    hold_video: number | null;
    /** Of the only attempt, where nothing went wrong. */
    upstream_model: string | null;
    attempt_started_ms: number | null;
    /** Null in receipts from before it was recorded. */
    is_streamed: number | null;
    /** Of a chat model; null in receipts from before it was recorded. */
    dialect: string | null;
    /** Null where a call has no audio to listen to. */
    audio_second: number | null;
    hold_audio_seconds: number | null;
  };
  rollups: SumsTable & {
    hour_ms: number;
    account_id: string;
    key_id: string;
    model: string;
    provider: string;
  };
  /** The same by day, of closed hours. */
  rollup_days: SumsTable & {
    day_ms: number;
    account_id: string;
    key_id: string;
    model: string;
    provider: string;
  };
  /** Of closed hours, of all accounts: by model, account or key. */
  rollup_totals: SumsTable & { grain: string; kind: string; start_ms: number; name: string };
  claims: {
    id: string;
    body_hash: string;
    request_id: string;
    is_done: number;
    reply: Uint8Array | null;
    expires_at_ms: number;
  };
}

/** Refused calls of one minute or hour; "" for a model that is not in the catalog. */
interface RejectionSums {
  start_ms: number;
  account_id: string;
  key_id: string;
  model: string;
  code: string;
  status: number;
  count: number;
}

/** What receipts add up to; the ends and counts of their times are in `rollup-columns.ts`. */
interface SumsTable {
  receipts: number;
  failures: number;
  input_tokens: number;
  output_tokens: number;
  cost: bigint;
  charged: bigint;
  vendor_cost: bigint;
  vendor_known: number;
  charged_known: bigint;
}

export type Db = Kysely<Tables>;

/** The name of the one process that there is on a database of one machine. */
export const localNode = "local";
