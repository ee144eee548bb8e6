/** A table that both databases have, with the same columns but for those named here. */
export interface CopiedTable {
  readonly name: string;
  /** Unique: rows are copied in this order, and an interrupted copy continues after the last one. */
  readonly key: readonly string[];
  /** Columns of PostgreSQL alone, as SQLite computes them. */
  readonly computed?: Readonly<Record<string, string>>;
  /** Each row belongs to the start of a process. All copied rows belong to one that has ended. */
  readonly hasEpoch?: true;
}

const rollupKey = ["account_id", "key_id", "model", "provider"];
const rejectionKey = ["start_ms", "account_id", "key_id", "model", "code", "status"];
const ofLeases = (sum: string) =>
  `coalesce((select sum(${sum}) from leases where leases.account_id = accounts.id), 0)`;

/** In an order in which each finds what it refers to. */
export const copiedTables: readonly CopiedTable[] = [
  {
    name: "accounts",
    key: ["id"],
    // No process has borrowed anything yet, and all that was spent is charged for good.
    computed: { unleased: ofLeases("granted - spent"), settled: ofLeases("spent") },
  },
  { name: "keys", key: ["id"] },
  { name: "key_uses", key: ["key_id"] },
  { name: "key_rejections", key: ["key_id"] },
  { name: "providers", key: ["name"] },
  { name: "target_checks", key: ["provider", "key_name", "model"] },
  { name: "provider_failures", key: ["hour_ms", "provider"] },
  { name: "models", key: ["id"] },
  { name: "prices", key: ["model_id", "version"] },
  { name: "cost_versions", key: ["model_id", "version"] },
  { name: "limit_versions", key: ["owner_id", "version"] },
  { name: "users", key: ["id"] },
  { name: "memberships", key: ["user_id", "account_id"] },
  { name: "sessions", key: ["id"] },
  { name: "invites", key: ["id"] },
  { name: "tokens", key: ["id"] },
  { name: "totps", key: ["user_id"] },
  { name: "recovery_codes", key: ["user_id", "hash"] },
  { name: "passkeys", key: ["id"] },
  { name: "identities", key: ["issuer", "subject"] },
  { name: "used_tickets", key: ["id"] },
  { name: "preferences", key: ["user_id"] },
  { name: "saved_views", key: ["id"] },
  { name: "audit", key: ["id"] },
  { name: "entries", key: ["id"] },
  { name: "budget_spends", key: ["owner_id", "period_start_ms"] },
  { name: "claims", key: ["id"], hasEpoch: true },
  { name: "receipts", key: ["id"], hasEpoch: true },
  { name: "rollups", key: ["hour_ms", ...rollupKey], hasEpoch: true },
  { name: "rollup_days", key: ["day_ms", ...rollupKey] },
  { name: "receipt_marks", key: ["account_id"] },
  { name: "rollup_totals", key: ["grain", "kind", "start_ms", "name"] },
  { name: "rejections", key: ["id"] },
  { name: "rejection_minutes", key: rejectionKey },
  { name: "rejection_hours", key: rejectionKey },
  { name: "stored_responses", key: ["account_id", "id"] },
  { name: "stored_response_pieces", key: ["account_id", "id", "place"] },
  { name: "stored_response_totals", key: ["account_id"] },
  { name: "exports", key: ["id"] },
  { name: "export_streams", key: ["export_id", "stream"] },
  { name: "export_hours", key: ["export_id", "stream", "hour_ms"] },
  { name: "changes", key: ["sequence"] },
  { name: "data_keys", key: ["purpose", "wrapping"] },
];

/** The rest of `meta` is about the file itself. */
export const copiedMeta = [
  "store_id",
  "manifest_hash",
  "manifest_adopts",
  "rollups_folded_to_ms",
  "rollups_counted_from_ms",
];
