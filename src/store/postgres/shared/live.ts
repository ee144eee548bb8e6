import type { Client, Pool } from "pg";
import type { Receipt } from "../../../ledger/receipt.ts";
import type { Rejection } from "../../../rejections/rejection.ts";
import { type ReceiptRow, toReceipt } from "../../sql/ledger/receipt-row.ts";
import { deadlines } from "../deadlines.ts";
import { exactTypes } from "../ledger/reader.ts";

export interface LiveCallsOptions {
  readonly pool: Pool;
  /** Not connected yet: listening needs a connection of its own. */
  readonly newClient: () => Client;
  readonly onError: (detail: string) => void;
  /** How soon it tries again when the connection is lost. */
  readonly retryMs?: number;
}

/** What processes that write calls look at; longer than the pause, so that one may fail. */
const watchedFor = "30 seconds";
const renewEveryMs = 10_000;
const answerMs = deadlines.tick;
const usualRetryMs = 500;
/** Read in one go, and what may wait for that; the oldest makes room. */
const readAtOnce = 500;
const mostHeard = 10_000;

interface Heard {
  readonly kind: string;
  readonly id: string;
  /** Of a rejection: how many calls more the row stands for. */
  readonly count: number;
}

/**
 * Receipts and refused calls of all processes that share the database, in the order of their commits.
 * While somebody watches, it renews a row; who sees that row says with each commit what it added
 * (`svc_tell_live`). Nothing is said twice. What is committed while the connection is lost is not
 * said: pages read their lists again by themselves.
 */
export class LiveCalls {
  readonly watchers: Set<(receipt: Receipt) => void>;
  readonly rejectionWatchers: Set<(rejection: Rejection) => void>;
  readonly #options: Required<LiveCallsOptions>;
  readonly #closing = new AbortController();
  #heard: Heard[] = [];
  #reading: Promise<void> | undefined;
  #running: Promise<void> | undefined;
  #listening = Promise.withResolvers<void>();

  constructor(options: LiveCallsOptions) {
    this.#options = { retryMs: usualRetryMs, ...options };
    this.watchers = new WatchedSet(() => this.#start());
    this.rejectionWatchers = new WatchedSet(() => this.#start());
  }

  /** Who watches hears of all that is committed from then on; or the database cannot be reached. */
  readonly listening = async (): Promise<void> => {
    await Promise.race([this.#listening.promise, pause(answerMs, this.#closing.signal)]);
  };

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#reading;
  }

  #isWatched(): boolean {
    const count = this.watchers.size + this.rejectionWatchers.size;
    return count > 0 && !this.#closing.signal.aborted;
  }

  #start(): void {
    if (this.#running !== undefined || !this.#isWatched()) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      // Somebody may have come just now.
      this.#start();
    });
  }

  async #run(): Promise<void> {
    let isFailing = false;
    while (this.#isWatched()) {
      try {
        await this.#listen(() => (isFailing = false));
      } catch (error) {
        if (!isFailing) this.#options.onError(String(error));
        isFailing = true;
      }
      this.#listening = Promise.withResolvers();
      if (this.#isWatched()) await pause(this.#options.retryMs, this.#closing.signal);
    }
  }

  /** Until nobody watches any more; rejects when the connection is lost. */
  async #listen(onReady: () => void): Promise<void> {
    const client = this.#options.newClient();
    const lost = new AbortController();
    client.on("error", (error) => lost.abort(error));
    client.on("end", () => lost.abort(new Error("the connection was closed")));
    client.on("notification", ({ payload = "" }) => this.#hear(payload));
    const over = AbortSignal.any([lost.signal, this.#closing.signal]);
    try {
      await client.connect();
      await client.query("listen svc_live");
      while (this.#isWatched()) {
        await client.query({ text: renewSql, answerMs });
        this.#listening.resolve();
        onReady();
        await pause(renewEveryMs, over);
        lost.signal.throwIfAborted();
      }
    } finally {
      // A network that is gone does not say good-bye.
      await Promise.race([client.end().catch(() => {}), pause(answerMs, this.#closing.signal)]);
    }
  }

  #hear(payload: string): void {
    const [kind = "", ...calls] = payload.split(" ");
    for (const call of calls) {
      const [id = "", count = "1"] = call.split(":");
      this.#heard.push({ kind, id, count: Number(count) });
    }
    if (this.#heard.length > mostHeard) this.#heard = this.#heard.slice(-mostHeard);
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
  }

  async #read(): Promise<void> {
    while (this.#heard.length > 0) {
      const some = this.#heard.splice(0, readAtOnce);
      try {
        await this.#tell(some);
      } catch (error) {
        this.#options.onError(String(error));
      }
    }
  }

  async #tell(heard: readonly Heard[]): Promise<void> {
    const idsOf = (kind: string) => heard.filter((one) => one.kind === kind).map(({ id }) => id);
    const receipts = await this.#receipts(idsOf("receipts"));
    const rejections = await this.#rejections(idsOf("rejections"));
    for (const { kind, id, count } of heard) {
      // One that is not there was taken back, or is of a kind that a newer version has.
      const receipt = kind === "receipts" ? receipts.get(id) : undefined;
      if (receipt !== undefined) for (const tell of this.watchers) tell(receipt);
      const rejection = kind === "rejections" ? rejections.get(id) : undefined;
      if (rejection !== undefined)
        for (const tell of this.rejectionWatchers) tell({ ...rejection, count });
    }
  }

  async #receipts(ids: readonly string[]): Promise<ReadonlyMap<string, Receipt>> {
    if (ids.length === 0 || this.watchers.size === 0) return new Map();
    const { rows } = await this.#options.pool.query<ReceiptRow>({
      text: "select * from receipts where id = any ($1)",
      values: [ids],
      types: exactTypes,
    });
    return new Map(rows.map((row) => [row.id, toReceipt(row)]));
  }

  async #rejections(ids: readonly string[]): Promise<ReadonlyMap<string, Rejection>> {
    if (ids.length === 0 || this.rejectionWatchers.size === 0) return new Map();
    const { rows } = await this.#options.pool.query<Rejection>(
      `select id, account_id as "accountId", key_id as "keyId", model, endpoint, dialect, status,
        code, message, reason, count from rejections where id = any ($1)`,
      [ids],
    );
    return new Map(rows.map((row) => [row.id, row]));
  }
}

const renewSql = `update live_watch set until = clock_timestamp() + interval '${watchedFor}'
  where id = 1`;

/** Tells when somebody comes. */
class WatchedSet<T> extends Set<T> {
  readonly #onAdd: () => void;

  constructor(onAdd: () => void) {
    super();
    this.#onAdd = onAdd;
  }

  override add(value: T): this {
    super.add(value);
    this.#onAdd();
    return this;
  }
}

/** Resolves when the time is over, or the signal is given. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    timer.unref();
    signal.addEventListener("abort", end);
  });
}
