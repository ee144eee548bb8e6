/** What a queue has to know of a count. */
export interface Queued {
  readonly accountId: string;
  /** Of text that the count keeps in memory. */
  readonly keptBytes: number;
}

export interface Room {
  readonly counts: number;
  readonly bytes: number;
}

export interface QueueBounds {
  readonly all: Room;
  readonly perAccount: Room;
}

interface Share<Count> {
  readonly counts: Set<Count>;
  bytes: number;
}

/**
 * Counts that wait, by account: the accounts take turns, and the counts of one account come one after
 * another. An account gets only its part of the room, so that it neither delays others by more than
 * its turn nor keeps them out.
 */
export class CountQueue<Count extends Queued> {
  readonly #bounds: QueueBounds;
  /** The account whose turn is next first. */
  readonly #shares = new Map<string, Share<Count>>();
  #counts = 0;
  #bytes = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  get isEmpty(): boolean {
    return this.#counts === 0;
  }

  hasPlaceFor(accountId: string): boolean {
    const { all, perAccount } = this.#bounds;
    const counts = this.#shares.get(accountId)?.counts.size ?? 0;
    return this.#counts < all.counts && counts < perAccount.counts;
  }

  hasRoomFor(accountId: string, bytes: number): boolean {
    const { all, perAccount } = this.#bounds;
    const shareBytes = this.#shares.get(accountId)?.bytes ?? 0;
    return this.#bytes + bytes <= all.bytes && shareBytes + bytes <= perAccount.bytes;
  }

  add(count: Count): void {
    const { accountId, keptBytes } = count;
    const share = this.#shares.get(accountId) ?? { counts: new Set(), bytes: 0 };
    this.#shares.set(accountId, share);
    share.counts.add(count);
    share.bytes += keptBytes;
    this.#counts++;
    this.#bytes += keptBytes;
  }

  /** False if it is not here. */
  delete(count: Count): boolean {
    const { accountId, keptBytes } = count;
    const share = this.#shares.get(accountId);
    if (share?.counts.delete(count) !== true) return false;
    share.bytes -= keptBytes;
    if (share.counts.size === 0) this.#shares.delete(accountId);
    this.#counts--;
    this.#bytes -= keptBytes;
    return true;
  }

  /** The count whose turn it is. It stays here, and its account goes to the end. */
  next(): Count | undefined {
    for (const [accountId, share] of this.#shares) {
      this.#shares.delete(accountId);
      this.#shares.set(accountId, share);
      for (const count of share.counts) return count;
    }
    return undefined;
  }

  all(): readonly Count[] {
    return [...this.#shares.values()].flatMap(({ counts }) => [...counts]);
  }
}
