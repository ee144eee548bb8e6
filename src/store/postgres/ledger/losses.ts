import { monotonicMs } from "../../../base/clock.ts";
import { idTimeMs } from "../../../base/ids.ts";
import type { LostTail } from "../../../ledger/store.ts";
import { lockFor } from "../../sql/dialect.ts";
import { findLostTail, rememberLostTail } from "../../sql/lost-tail.ts";
import { MarkFile, readMark } from "../../sqlite/mark.ts";
import type { Postgres } from "../postgres.ts";

/** The receipts that were confirmed within one span. */
interface Confirmed {
  readonly fromMs: number;
  readonly span: number;
  lastId: string;
  count: number;
}

const lookEveryMs = 1_000;
/** Where a loss begins within a span, all of it counts. */
const spanMs = 250;
/** Ten minutes: a standby that is further behind loses more than can be told. */
const mostSpans = 2_400;

export interface LossesOptions {
  readonly postgres: Pick<Postgres, "db" | "pool">;
  /** Where the mark lies; undefined: nowhere. */
  readonly markPath: string | undefined;
  readonly nowMs: () => number;
  readonly elapsedMs?: () => number;
}

/**
 * A database that fails over to an asynchronous standby loses what it had confirmed, and cannot show
 * it. Each node keeps what it was confirmed, and looks for it when it has connected anew. The mark on
 * its disk is for the next start; it is never ahead, and up to a second behind.
 */
export class Losses {
  readonly #options: Required<LossesOptions>;
  readonly #mark: MarkFile | undefined;
  #confirmed: Confirmed[] = [];
  #sequence = 0;
  #lostSequence = 0;
  #hasConnected = false;
  #tell: (lost: LostTail) => void = () => {};
  #timer: ReturnType<typeof setInterval> | undefined;
  #isChecking = false;
  /** Since the start. */
  readonly lost = { receipts: 0 };

  constructor(options: LossesOptions) {
    this.#options = { elapsedMs: monotonicMs, ...options };
    const { markPath, postgres } = this.#options;
    if (markPath !== undefined)
      this.#mark = new MarkFile(markPath, readMark(markPath) ?? { receiptId: "", sequence: 0 });
    postgres.pool.on("connect", () => {
      this.#hasConnected = true;
    });
  }

  /** For what is kept in memory, and adds up receipts that are gone. */
  onFound(listener: (lost: LostTail) => void): void {
    this.#tell = listener;
  }

  /** What the last run of this node was confirmed, and the database lacks. */
  async findAtStart(): Promise<LostTail | undefined> {
    const { markPath, postgres, nowMs } = this.#options;
    if (markPath === undefined) return undefined;
    const lost = await findLostTail(postgres.db, readMark(markPath), nowMs());
    if (lost !== undefined) await this.#remember(lost);
    if (lost !== undefined && lost.receiptId !== "") this.#mark?.committed("");
    return lost;
  }

  confirmed(id: string): void {
    const span = Math.floor(this.#options.elapsedMs() / spanMs);
    const last = this.#confirmed.at(-1);
    if (last?.span === span) {
      last.lastId = id;
      last.count++;
      return;
    }
    this.#confirmed.push({ fromMs: idTimeMs(id), span, lastId: id, count: 1 });
    if (this.#confirmed.length > mostSpans) this.#confirmed.shift();
  }

  /** The newest change of the feed. */
  changed(sequence: number): void {
    if (sequence < this.#sequence) {
      this.#lostSequence = this.#sequence;
      this.#hasConnected = true;
    }
    this.#sequence = sequence;
  }

  watch(onLoss: (lost: LostTail) => void): void {
    this.#timer = setInterval(() => void this.#look(onLoss).catch(() => {}), lookEveryMs);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#mark?.close();
  }

  async #look(onLoss: (lost: LostTail) => void): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const lost = await this.check();
      if (lost !== undefined) onLoss(lost);
      this.#write();
    } finally {
      this.#isChecking = false;
    }
  }

  /** Looks, where a connection is new, for what was confirmed; a loss is told once. */
  async check(): Promise<LostTail | undefined> {
    if (!this.#hasConnected) return undefined;
    this.#hasConnected = false;
    try {
      return await this.#compare();
    } catch (error) {
      this.#hasConnected = true;
      throw error;
    }
  }

  async #compare(): Promise<LostTail | undefined> {
    // The last second may get more receipts while the database is asked.
    const known = this.#confirmed.map((one) => ({ ...one }));
    const { rows } = await this.#options.postgres.pool.query<{ id: string }>(
      "select id from receipts where id = any ($1)",
      [known.map(({ lastId }) => lastId)],
    );
    const found = new Set(rows.map(({ id }) => id));
    const missing = known.filter(({ lastId }) => !found.has(lastId));
    const sequence = this.#lostSequence;
    if (missing.length === 0 && sequence === 0) return undefined;
    const receipts = missing.reduce((sum, { count }) => sum + count, 0);
    const lost = {
      receiptId: missing.at(-1)?.lastId ?? "",
      sequence,
      foundAtMs: this.#options.nowMs(),
      ...(missing[0] && { receipts, fromMs: missing[0].fromMs }),
    };
    await this.#remember(lost);
    this.#lostSequence = 0;
    const gone = new Set(missing.map(({ lastId }) => lastId));
    this.#confirmed = this.#confirmed.filter(({ lastId }) => !gone.has(lastId));
    this.lost.receipts += receipts;
    this.#tell(lost);
    if (this.#confirmed.length === 0) this.#mark?.committed("");
    return lost;
  }

  #remember(lost: LostTail): Promise<void> {
    return this.#options.postgres.db.transaction().execute(async (transaction) => {
      await lockFor(transaction, "lost tails");
      await rememberLostTail(transaction, lost);
    });
  }

  #write(): void {
    const last = this.#confirmed.at(-1);
    if (this.#mark === undefined) return;
    if (last !== undefined) this.#mark.committed(last.lastId);
    if (this.#sequence > 0) this.#mark.changed(this.#sequence);
    this.#mark.begin();
    this.#mark.confirmed();
  }
}
