import type { ClientBase, Pool } from "pg";
import { Problem } from "../../../base/problem.ts";
import {
  hourMs,
  type Rollup,
  type RollupFilter,
  type RollupStore,
  toHour,
} from "../../../ledger/rollups.ts";
import type { StoredSums } from "../../../ledger/store.ts";
import { readRollups, readStoredSums } from "../../sql/reports/stored-sums.ts";
import type { Db } from "../../sql/schema.ts";
import { deadlines } from "../deadlines.ts";
import { epochLockSql } from "../locks.ts";
import { transact, UnknownCommitError } from "../transaction.ts";
import { foldPiece } from "./fold.ts";
import { recountFrom } from "./recount.ts";
import { addRollups } from "./rollup-rows.ts";
import { SumsMark } from "./sums-mark.ts";

/** This process adds nothing meanwhile: a piece takes about 100 ms. */
const usualFoldedAtOnce = 1_000;

/** Who adds waits for a fold, and for a recount of days. */
const overMany = { answerMs: deadlines.long };

/** Sums that were sent, and whose transaction may stand or not. */
interface Doubt {
  /** What `epochs.sums_added` is if it stands. */
  readonly count: number;
  readonly rollups: readonly Rollup[];
  readonly openFromMs: number | undefined;
}

/** Hours of which receipts or sums were lost, while this process kept what it had added up. */
interface Distrusted {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Sums by hour of one start of one process: each epoch has rows of its own, so that processes do not
 * wait for each other. What accounts have spent is in their leases, and no part of it.
 *
 * Locks are taken in this order: the row of the epoch, `sums`, hours, rows of rollups, days, totals.
 */
export class PostgresRollups implements RollupStore {
  readonly rowsAtOnce = 500;
  /** For whoever commits receipts of this epoch. */
  readonly mark = new SumsMark();
  readonly #db: Db;
  readonly #pool: Pool;
  readonly #epoch: number;
  readonly #foldedAtOnce: number;
  #doubt: Doubt | undefined;
  #distrusted: Distrusted | undefined;
  /** The newest `epochs.sums_added` that was confirmed. */
  #added = 0;

  constructor(options: {
    readonly db: Db;
    readonly pool: Pool;
    readonly epoch: number;
    readonly foldedAtOnce?: number | undefined;
  }) {
    this.#db = options.db;
    this.#pool = options.pool;
    this.#epoch = options.epoch;
    this.#foldedAtOnce = options.foldedAtOnce ?? usualFoldedAtOnce;
  }

  get isInDoubt(): boolean {
    return this.#doubt !== undefined;
  }

  /** Where the connection breaks during the commit, the next call finds out, and adds what is missing. */
  async add(rollups: readonly Rollup[], openFromMs: number | undefined): Promise<void> {
    const move = this.mark.move(openFromMs);
    const doubt = this.#doubt;
    let sent: Doubt | undefined;
    try {
      const knownMs = await transact(
        this.#pool,
        async (client) => {
          const { count, openFromMs: movedMs } = await this.#moveMark(client, move);
          const missing = count === doubt?.count ? doubt.rollups : [];
          sent = { count, rollups: [...missing, ...rollups], openFromMs };
          await addRollups(client, { epoch: this.#epoch, rollups: sent.rollups });
          return movedMs;
        },
        overMany,
      );
      this.#doubt = undefined;
      this.mark.moved(knownMs);
      const count = sent?.count ?? 0;
      // The database has lost sums that it had confirmed.
      if (count <= this.#added && openFromMs !== undefined)
        this.distrust({ fromMs: openFromMs, nowMs: openFromMs + hourMs });
      this.#added = count;
    } catch (error) {
      if (!(error instanceof UnknownCommitError)) throw error;
      this.#doubt = sent;
      return;
    }
    await this.#recountDistrusted(openFromMs);
  }

  /**
   * After a failover that lost something: what is added up in memory may have no receipts any more,
   * and sums may lack receipts. These hours are summed up again when none of their calls can end any
   * more; until then they stay open, and no day has them.
   */
  distrust({
    fromMs,
    nowMs,
  }: {
    readonly fromMs: number | undefined;
    readonly nowMs: number;
  }): void {
    const known = this.#distrusted;
    const first = toHour(fromMs ?? nowMs) - hourMs;
    this.#distrusted = {
      fromMs: Math.min(known?.fromMs ?? first, first),
      toMs: Math.max(known?.toMs ?? 0, toHour(nowMs) + hourMs),
    };
    this.mark.pin(this.#distrusted.fromMs);
  }

  async #recountDistrusted(openFromMs: number | undefined): Promise<void> {
    const hours = this.#distrusted;
    if (hours === undefined || openFromMs === undefined || openFromMs < hours.toMs) return;
    const isWhole = await transact(
      this.#pool,
      async (client) => {
        await client.query("select 1 from epochs where id = $1 for update", [this.#epoch]);
        await recountFrom(client, { epoch: this.#epoch, ...hours });
      },
      overMany,
    ).then(
      () => true,
      // The sums are added; the next call tries again.
      () => false,
    );
    if (!isWhole || this.#distrusted !== hours) return;
    this.#distrusted = undefined;
    this.mark.unpin();
  }

  async openFromMs(): Promise<number | undefined> {
    await this.#settle();
    const { rows } = await this.#pool.query<{ open_from_ms: number | null }>(
      "select open_from_ms from epochs where id = $1",
      [this.#epoch],
    );
    return rows[0]?.open_from_ms ?? undefined;
  }

  async recount(fromMs: number): Promise<void> {
    await this.#settle();
    await transact(
      this.#pool,
      async (client) => {
        // No commit of this process comes in between.
        await client.query(epochLockSql, [this.#epoch]);
        await client.query("select 1 from epochs where id = $1 for update", [this.#epoch]);
        await recountFrom(client, { epoch: this.#epoch, fromMs });
      },
      overMany,
    );
    this.mark.moved(undefined);
  }

  fold(beforeMs: number): Promise<boolean> {
    return foldPiece(this.#pool, { beforeMs, rowsAtOnce: this.#foldedAtOnce });
  }

  list(filter: RollupFilter): Promise<readonly Rollup[]> {
    return readRollups({ db: this.#db, isShared: true }, filter);
  }

  async #settle(): Promise<void> {
    if (this.#doubt !== undefined) await this.add([], this.#doubt.openFromMs);
    if (this.#doubt !== undefined) throw new Error("the connection to the database keeps breaking");
  }

  /** A commit may have lowered it meanwhile, and then it stays low until the next time. */
  async #moveMark(
    client: ClientBase,
    { fromMs, toMs }: ReturnType<SumsMark["move"]>,
  ): Promise<{ readonly count: number; readonly openFromMs: number | undefined }> {
    const { rows } = await client.query<{ sums_added: number; open_from_ms: number | null }>(
      `update epochs set sums_added = sums_added + 1,
        open_from_ms = case when open_from_ms is not distinct from $2 then $3
          else least(open_from_ms, $3) end
        where id = $1 and is_open returning sums_added, open_from_ms`,
      [this.#epoch, fromMs ?? null, toMs ?? null],
    );
    const [row] = rows;
    if (row === undefined)
      throw new Problem({
        code: "failed",
        message:
          "Another process has taken over from this one, which did not reach the database for too long. Restart the gateway.",
      });
    return { count: row.sums_added, openFromMs: row.open_from_ms ?? undefined };
  }
}

/** Of all epochs together, for who checks them. Within one transaction. */
export async function readSums(db: Db): Promise<StoredSums> {
  const { openFromMs } = await db
    .withTables<{ epochs: { open_from_ms: number | null } }>()
    .selectFrom("epochs")
    .select((select) => select.fn.min("open_from_ms").as("openFromMs"))
    .executeTakeFirstOrThrow();
  return readStoredSums({ db, isShared: true }, openFromMs ?? undefined);
}
