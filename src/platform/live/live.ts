import type { Receipt } from "../../ledger/receipt.ts";
import type { Rejection } from "../../rejections/rejection.ts";

export interface LiveOptions {
  /** Notified of every receipt; empty while no page listens. */
  readonly watchers: Set<(receipt: Receipt) => void>;
  /** The same for calls that were rejected. */
  readonly rejectionWatchers: Set<(rejection: Rejection) => void>;
  /** Resolves when watchers are notified of all that happens from then on; absent: at once. */
  readonly listening?: (() => Promise<void>) | undefined;
  /** How often listeners are notified. */
  readonly everyMs?: number | undefined;
}

/** Receipts since the last event: their number, and the newest of them. */
export interface LiveNews {
  readonly count: number;
  readonly receipts: readonly Receipt[];
  /** Calls that were rejected in the meantime. */
  readonly rejected: number;
}

export interface Listener {
  /** Of one account, or of all. */
  readonly accountId: string | undefined;
  /** The listener: the id of a user or of a token. */
  readonly actorId: string;
  readonly tell: (news: LiveNews) => void;
  /** Checks whether the listener still has access. */
  readonly recheck: () => Promise<void>;
  /** Ends the stream, and with it the listening. */
  readonly end: () => void;
}

/** Receipts per event: a reader cannot follow more per second. */
const mostKept = 50;
export const mostListeners = 200;
/** Streams per actor; beyond it, the oldest is closed. */
export const mostOfOneActor = 10;

/**
 * Notifies open pages of new receipts. Without listeners a receipt costs nothing, otherwise an entry
 * in a short list. Events are sent once per second.
 */
export class Live {
  readonly #watchers: LiveOptions["watchers"];
  readonly #rejectionWatchers: LiveOptions["rejectionWatchers"];
  readonly listening: () => Promise<void>;
  readonly #everyMs: number;
  readonly #listeners = new Set<Listener>();
  #fresh: Receipt[] = [];
  #counts = new Map<string, number>();
  #rejected = new Map<string, number>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor({ watchers, rejectionWatchers, listening, everyMs = 1_000 }: LiveOptions) {
    this.#watchers = watchers;
    this.#rejectionWatchers = rejectionWatchers;
    this.listening = listening ?? (async () => {});
    this.#everyMs = everyMs;
  }

  /** An actor at their own limit replaces one of their own streams. */
  hasRoomFor(actorId: string): boolean {
    return this.#listeners.size < mostListeners || this.#of(actorId).length >= mostOfOneActor;
  }

  /** Returns a function that ends it. */
  listen(listener: Listener): () => void {
    const mine = this.#of(listener.actorId);
    for (const oldest of mine.slice(0, Math.max(0, mine.length + 1 - mostOfOneActor))) {
      this.#listeners.delete(oldest);
      oldest.end();
    }
    this.#listeners.add(listener);
    if (this.#timer === undefined) {
      this.#watchers.add(this.#add);
      this.#rejectionWatchers.add(this.#addRejection);
      this.#timer = setInterval(this.#tell, this.#everyMs);
      this.#timer.unref();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Resolves when all listeners without access have been closed. */
  async recheck(): Promise<void> {
    await Promise.all(Array.from(this.#listeners, (listener) => listener.recheck()));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#watchers.delete(this.#add);
    this.#rejectionWatchers.delete(this.#addRejection);
    this.#listeners.clear();
    this.#fresh = [];
    this.#counts.clear();
    this.#rejected.clear();
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

  readonly #addRejection = ({ accountId, count }: Rejection): void => {
    this.#rejected.set(accountId, (this.#rejected.get(accountId) ?? 0) + count);
  };

  readonly #tell = (): void => {
    if (this.#counts.size === 0 && this.#rejected.size === 0) return;
    const fresh = this.#fresh.slice(-mostKept).toReversed();
    const counts = this.#counts;
    const rejections = this.#rejected;
    this.#fresh = [];
    this.#counts = new Map();
    this.#rejected = new Map();
    for (const { accountId, tell } of this.#listeners) {
      const count = countOf(counts, accountId);
      const rejected = countOf(rejections, accountId);
      if (count === 0 && rejected === 0) continue;
      const mine =
        accountId === undefined ? fresh : fresh.filter((one) => one.accountId === accountId);
      tell({ count, receipts: mine, rejected });
    }
  };
}

/** Of one account, or of all. */
function countOf(counts: ReadonlyMap<string, number>, accountId: string | undefined): number {
  if (accountId !== undefined) return counts.get(accountId) ?? 0;
  let all = 0;
  for (const count of counts.values()) all += count;
  return all;
}
