import type { ClientBase, Pool } from "pg";
import type { PermitAsk, PermitGrant, PermitStore } from "../../../limits/permit-store.ts";
import { deadlines } from "../deadlines.ts";
import { query } from "../query.ts";

interface GrantRow extends PermitGrant {
  readonly place: number;
}

/** Permits of one epoch: of one process, from its start to its end. */
export class PostgresPermits implements PermitStore {
  readonly #pool: Pool;
  readonly #epoch: number;
  #calls = 0;

  constructor(pool: Pool, epoch: number) {
    this.#pool = pool;
    this.#epoch = epoch;
  }

  async borrow(asks: readonly PermitAsk[]): Promise<readonly PermitGrant[]> {
    // A call that was given up may still be carried out, after later ones: its number tells.
    const call = ++this.#calls;
    const rows = await query<GrantRow>(this.#pool, {
      text: "select * from borrow_permits($1, $2, $3)",
      values: [this.#epoch, call, JSON.stringify(asks.map(toRow))],
      answerMs: deadlines.permits,
    });
    if (rows.length !== asks.length) throw new Error("the epoch of this process is closed");
    return rows.toSorted((one, other) => one.place - other.place);
  }
}

function toRow(ask: PermitAsk, place: number): object {
  const { ownerId: owner_id, limit: most, kind, version, returned, kept, settled } = ask;
  const { needs, extra } = ask;
  return { place, owner_id, kind, most, version, returned, kept, settled, needs, extra };
}

/**
 * For who closes an epoch, in its transaction, which holds the lock of the epoch. Its places
 * are free again; units of rates expire by themselves, after having counted as used.
 */
export async function releasePermits(client: ClientBase, epoch: number): Promise<void> {
  // In the order in which they are borrowed.
  await client.query(
    `delete from permits where epoch = $1 and (owner_id, kind) in (
      select owner_id, kind from limit_levels
        where (owner_id, kind) in (select owner_id, kind from permits where epoch = $1)
        order by owner_id, kind for update)`,
    [epoch],
  );
}
