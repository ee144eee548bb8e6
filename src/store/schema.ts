import type { Kysely } from "kysely";

/**
 * Times are milliseconds since 1970, in UTC. Nullable columns are told by `| null`. Money is
 * nano-USD in 64 bits: written as a bigint, read as text (`cast … as text`), since a number would
 * lose digits above nine million USD.
 */
export interface Tables {
  meta: { key: string; value: string };
  accounts: {
    id: string;
    name: string;
    created_at_ms: number;
    suspended_at_ms: number | null;
    /** JSON of Limits; the budget as text. */
    limits: string | null;
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
  };
  providers: {
    name: string;
    kind: string;
    base_url: string;
    /** JSON of a StoredSecret. */
    api_key: string | null;
    allow_private: number;
    options: string | null;
  };
  models: {
    id: string;
    endpoint: string;
    input: string;
    owned_by: string;
    created_at_ms: number;
    max_output_tokens: number | null;
    max_image_tokens: number | null;
    max_audio_seconds: number | null;
    /** JSON array of routes; costs as decimal text. */
    timeouts: string | null;
    routes: string;
    deprecated_at_ms: number | null;
    retires_at_ms: number | null;
    replacement: string | null;
  };
  prices: {
    model_id: string;
    version: number;
    effective_at_ms: number;
    created_at_ms: number;
    /** JSON: nano-USD per million units as decimal text, by price key; null: no price from then on. */
    price: string | null;
  };
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
  };
  rollups: {
    hour_ms: number;
    account_id: string;
    key_id: string;
    model: string;
    provider: string;
    receipts: number;
    failures: number;
    input_tokens: number;
    output_tokens: number;
    cost: bigint;
    charged: bigint;
    vendor_cost: bigint;
    vendor_known: number;
  };
  claims: {
    id: string;
    body_hash: string;
    request_id: string;
    is_done: number;
    reply: Uint8Array | null;
    expires_at_ms: number;
  };
}

export type Db = Kysely<Tables>;

/** The name of the one process that there is on a database of one machine. */
export const localNode = "local";
