import type { ClientBase, Pool } from "pg";
import { mergeHealth, type TargetHealth } from "../../../catalog/health.ts";
import { deadlines } from "../deadlines.ts";
import { query } from "../query.ts";

/** What a node that has not renewed its epoch for so long wrote says nothing any more. */
const heardWithin = "10 seconds";
const answerMs = deadlines.tick;

/** How targets are doing for each gateway that shares the database. */
export class PostgresTargets {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Of one process; replaces what it wrote before. */
  async write(epoch: number, targets: readonly TargetHealth[]): Promise<void> {
    await query(this.#pool, {
      // Whoever closes the epoch waits for this, or this finds it closed: no row stays behind.
      text: `insert into target_health (epoch, targets)
        select $1, $2 where svc_enter($1)
        on conflict (epoch) do update set targets = excluded.targets`,
      values: [epoch, JSON.stringify(targets)],
      answerMs,
    });
  }

  /** Of all of them together. */
  async health(): Promise<readonly TargetHealth[]> {
    const { rows } = await this.#pool.query<{ node: string; targets: string }>(
      `select node, targets from target_health join epochs on epochs.id = target_health.epoch
          join heartbeats on heartbeats.epoch = epochs.id
        where is_open and renewed_at > clock_timestamp() - $1::interval order by epochs.id`,
      [heardWithin],
    );
    return mergeHealth(
      rows.map(({ node, targets }) => ({
        node,
        targets: JSON.parse(targets) as readonly TargetHealth[],
      })),
    );
  }
}

/** For who closes an epoch, in its transaction. */
export async function forgetTargets(client: ClientBase, epoch: number): Promise<void> {
  await client.query("delete from target_health where epoch = $1", [epoch]);
}
