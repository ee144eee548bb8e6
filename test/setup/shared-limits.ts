import type { PermitAsk, PermitStore } from "../../src/limits/permit-store.ts";
import type { Timing } from "../../src/limits/shared/borrower.ts";
import { SharedLimiter } from "../../src/limits/shared/shared-limiter.ts";
import { closeEpoch } from "../../src/store/postgres/ledger/close-epoch.ts";
import { PostgresPermits } from "../../src/store/postgres/limits/permits.ts";
import { migrate } from "../../src/store/postgres/migrations/migrations.ts";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { transact } from "../../src/store/postgres/transaction.ts";
import { ReusedDatabases } from "./empty-postgres.ts";
import { dropDatabase } from "./postgres.ts";

const startMs = 1_794_000_000_000;
/** How long an answer of the database travels. */
const latencyMs = 2;

/** Their clock is a row that tests set. */
const databases = new ReusedDatabases(async ({ db, pool }) => {
  await migrate(db);
  await pool.query("create table test_clock as select 0::bigint as ms");
  await pool.query(`create or replace function permit_now() returns timestamptz
    language sql volatile as $$
      select timestamptz 'epoch' + ms * interval '1 millisecond' from test_clock $$`);
});

/** A process among several: a limiter, its epoch, and what it asked the database. */
export interface LimitedNode {
  readonly limiter: SharedLimiter;
  readonly epoch: number;
  /** Every call to the database. */
  readonly calls: { readonly atMs: number; readonly asks: readonly PermitAsk[] }[];
  /** The database is away for this node. */
  isCut: boolean;
}

/** Processes that share limits in a real database, in a time that only moves when told. */
export class SharedLimits implements Timing {
  readonly nodes: LimitedNode[] = [];
  readonly #url: string;
  readonly #postgres: Postgres;
  readonly #timers: { readonly atMs: number; readonly run: () => void }[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #nowMs = 0;
  #told: Promise<unknown> = Promise.resolve();
  #toldMs = -1;
  /** By how much the clock of the database was set. */
  #databaseShiftMs = 0;

  static async open(count: number): Promise<SharedLimits> {
    const url = await databases.take();
    const limits = new SharedLimits(url, await openPostgres({ url: `${url}?sslmode=disable` }));
    for (let made = 0; made < count; made++) await limits.join();
    return limits;
  }

  private constructor(url: string, postgres: Postgres) {
    this.#url = url;
    this.#postgres = postgres;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): void {
    const atMs = this.#nowMs + delayMs;
    const later = this.#timers.findIndex((timer) => timer.atMs > atMs);
    this.#timers.splice(later === -1 ? this.#timers.length : later, 0, { atMs, run });
  }

  async join(): Promise<LimitedNode> {
    const { rows } = await this.#postgres.pool.query<{ id: number }>(
      `with opened as (insert into epochs (node) values ('node') returning id)
        insert into heartbeats (epoch) select id from opened returning epoch as id`,
    );
    const epoch = rows[0]?.id ?? 0;
    const permits = new PostgresPermits(this.#postgres.pool, epoch);
    const calls: LimitedNode["calls"] = [];
    const store: PermitStore = {
      borrow: async (asks) => {
        calls.push({ atMs: this.#nowMs, asks });
        if (node.isCut) throw new Error("the database is away");
        const answer = await this.#track(this.#tellTime().then(() => permits.borrow(asks)));
        await new Promise<void>((resolve) => this.after(latencyMs, resolve));
        return answer;
      },
    };
    const node = { limiter: new SharedLimiter(store, this), epoch, calls, isCut: false };
    this.nodes.push(node);
    return node;
  }

  /** As another process does for one that is gone. */
  async closeEpoch({ epoch }: LimitedNode): Promise<void> {
    await transact(this.#postgres.pool, (client) => closeEpoch(client, epoch));
  }

  shiftDatabaseClock(ms: number): void {
    this.#databaseShiftMs += ms;
    this.#toldMs = -1;
  }

  /** Everything that is due until then happens, the calls to the database included. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await this.#settle();
    for (;;) {
      const next = this.#timers[0];
      if (next === undefined || next.atMs > untilMs) break;
      this.#timers.shift();
      this.#nowMs = next.atMs;
      next.run();
      await this.#settle();
    }
    this.#nowMs = untilMs;
  }

  async close(): Promise<void> {
    await this.#postgres.close();
    await dropDatabase(this.#url);
  }

  async #settle(): Promise<void> {
    do {
      await Promise.allSettled(this.#underWay);
      // Whoever waited for an answer goes on.
      for (let turn = 0; turn < 8; turn++) await Promise.resolve();
    } while (this.#underWay.size > 0);
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    return work.finally(() => this.#underWay.delete(work));
  }

  #tellTime(): Promise<unknown> {
    if (this.#toldMs === this.#nowMs) return this.#told;
    this.#toldMs = this.#nowMs;
    const ms = Math.round(startMs + this.#databaseShiftMs + this.#nowMs);
    this.#told = this.#postgres.pool.query("update test_clock set ms = $1", [ms]);
    return this.#told;
  }
}
