import type { Receipt } from "../../ledger/receipt.ts";

export interface LiveOptions {
  /** The set that is told of every receipt; left alone while nobody looks. */
  readonly watchers: Set<(receipt: Receipt) => void>;
  /** How often those who look are told. */
  readonly everyMs?: number;
}

/** What came since the last time: how many, and the newest of them. */
export interface LiveNews {
  readonly count: number;
  readonly receipts: readonly Receipt[];
}

export interface Listener {
  /** Of one account, or of all. */
  readonly accountId: string | undefined;
  /** Who listens: the id of a person or of a token. */
  readonly actorId: string;
  readonly tell: (news: LiveNews) => void;
  /** Looks whether they still may. */
  readonly recheck: () => Promise<void>;
  /** Ends the stream, and with it the listening. */
  readonly end: () => void;
}

/** Of so many receipts a second nobody reads more. */
const mostKept = 50;
export const mostListeners = 200;
/** More tabs than this nobody looks at; beyond it the oldest gives way to the newest. */
export const mostOfOneActor = 10;

/**
 * Tells those who look at a page of the receipts that have just been written. While nobody does,
 * a receipt costs nothing; else a place in a short list. The rest happens once a second.
 */
export class Live {
  readonly #watchers: LiveOptions["watchers"];
  readonly #everyMs: number;
  readonly #listeners = new Set<Listener>();
  #fresh: Receipt[] = [];
  #counts = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor({ watchers, everyMs = 1_000 }: LiveOptions) {
    this.#watchers = watchers;
    this.#everyMs = everyMs;
  }

  /** Who has all that one may have takes the place of their own. */
  hasRoomFor(actorId: string): boolean {
    return this.#listeners.size < mostListeners || this.#of(actorId).length >= mostOfOneActor;
  }

  /** Gives what ends it. */
  listen(listener: Listener): () => void {
    const mine = this.#of(listener.actorId);
    for (const oldest of mine.slice(0, Math.max(0, mine.length + 1 - mostOfOneActor))) {
      this.#listeners.delete(oldest);
      oldest.end();
    }
    this.#listeners.add(listener);
    if (this.#timer === undefined) {
      this.#watchers.add(this.#add);
      this.#timer = setInterval(this.#tell, this.#everyMs);
      this.#timer.unref();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Resolves when nobody listens any more who no longer may. */
  async recheck(): Promise<void> {
    await Promise.all(Array.from(this.#listeners, (listener) => listener.recheck()));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#watchers.delete(this.#add);
    this.#listeners.clear();
    this.#fresh = [];
    this.#counts.clear();
  }

  #of(actorId: string): readonly Listener[] {
    return Array.from(this.#listeners).filter((one) => one.actorId === actorId);
  }

  readonly #add = (receipt: Receipt): void => {
    const { accountId } = receipt;
    this.#counts.set(accountId, (this.#counts.get(accountId) ?? 0) + 1);
    this.#fresh.push(receipt);
    // Twice the number, so that not every receipt moves all others.
    if (this.#fresh.length > 2 * mostKept) this.#fresh = this.#fresh.slice(-mostKept);
  };

  readonly #tell = (): void => {
    if (this.#counts.size === 0) return;
    const fresh = this.#fresh.slice(-mostKept).toReversed();
    const counts = this.#counts;
    this.#fresh = [];
    this.#counts = new Map();
    let all = 0;
    for (const count of counts.values()) all += count;
    for (const { accountId, tell } of this.#listeners) {
      const count = accountId === undefined ? all : (counts.get(accountId) ?? 0);
      if (count === 0) continue;
      const mine =
        accountId === undefined ? fresh : fresh.filter((one) => one.accountId === accountId);
      tell({ count, receipts: mine });
    }
  };
}
