import { heartbeatSql } from "./ledger/close-epoch.ts";

export interface SilentRow {
  readonly id: number;
  /** Null where the epoch is closed, and its sums may lack receipts. */
  readonly heartbeat: string | null;
  /** How long nobody may have renewed it, before it counts as gone. */
  readonly watch_ms: number;
}

/** How far apart the looks at a heartbeat that is too old are: a running node renews it 20 times. */
export const looksApartMs = 5_000;

/**
 * A heartbeat that is too old, or in the future, because the database's clock was set back. The age
 * of the latter says nothing, so it is watched for as long as a node may be silent.
 */
export const silentSql = `select id, ${heartbeatSql} as heartbeat,
    case when renewed_at > clock_timestamp()
      then floor(extract(epoch from gone_after) * 1000)::bigint else ${looksApartMs} end as watch_ms
  from epochs join heartbeats on epoch = id
  where is_open
    and (renewed_at < clock_timestamp() - gone_after or renewed_at > clock_timestamp())
  union all
  select id, null, 0 from epochs where not is_open and open_from_ms is not null
  order by id`;

/**
 * The database's clock alone does not show that a node is gone: when it is set forward, every
 * heartbeat is old until the next tick. A node is gone when this process has seen the same heartbeat
 * for a while, by a clock that cannot be set.
 */
export class SilentEpochs {
  readonly #elapsedMs: () => number;
  #seen = new Map<number, { readonly heartbeat: string; readonly sinceMs: number }>();

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Of the silent ones, those that are gone. */
  gone(rows: readonly SilentRow[]): ReadonlySet<number> {
    const nowMs = this.#elapsedMs();
    const before = this.#seen;
    this.#seen = new Map();
    const gone = new Set<number>();
    for (const { id, heartbeat, watch_ms: watchMs } of rows) {
      if (heartbeat === null) continue;
      const known = before.get(id);
      const one = known?.heartbeat === heartbeat ? known : { heartbeat, sinceMs: nowMs };
      this.#seen.set(id, one);
      if (nowMs - one.sinceMs >= watchMs) gone.add(id);
    }
    return gone;
  }
}
