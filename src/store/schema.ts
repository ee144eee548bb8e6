import type { Kysely } from "kysely";

/** Times are milliseconds since 1970, in UTC. Nullable columns are told by `| null`. */
export interface Tables {
  meta: { key: string; value: string };
  accounts: { id: string; name: string; created_at_ms: number };
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
  };
  providers: {
    name: string;
    kind: string;
    base_url: string;
    /** JSON of a StoredSecret. */
    api_key: string | null;
    allow_private: number;
  };
  models: {
    id: string;
    endpoint: string;
    input: string;
    owned_by: string;
    created_at_ms: number;
    max_output_tokens: number | null;
    /** JSON: nano-USD per million units as decimal text, by price key. */
    price: string | null;
    /** JSON array of routes. */
    routes: string;
    deprecated_at_ms: number | null;
    retires_at_ms: number | null;
    replacement: string | null;
  };
  /** One row: the number of the newest change. */
  feed: { id: number; sequence: number };
  changes: { sequence: number; topic: string; subject: string };
}

export type Db = Kysely<Tables>;
