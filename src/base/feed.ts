export const feedTopics = ["accounts", "keys", "catalog", "targets", "temporary-keys"] as const;
export type FeedTopic = (typeof feedTopics)[number];

/** A place in the feed. */
export interface FeedPosition {
  readonly sequence: number;
  /**
   * Tells the change from another one with its number: after a failover that lost changes, numbers
   * are given again. Undefined where a database does not lose any, or the change is no longer kept.
   */
  readonly stamp?: string | undefined;
}

export interface Change extends FeedPosition {
  readonly topic: FeedTopic;
  readonly subject: string;
}

/**
 * Implemented by the store. A change gets its number inside the writer's transaction, from one row
 * that every writer updates: numbers are seen in order and none turns up late.
 */
export interface ChangeFeed {
  latest(): Promise<number>;
  newest(): Promise<FeedPosition>;
  /**
   * Changes after a place in order. Undefined when some of them are no longer kept, when there are
   * too many, or when the database has lost the change at that place.
   */
  since(sequence: number, stamp?: string): Promise<readonly Change[] | undefined>;
}

export interface FeedListener {
  changed(changes: readonly Change[]): Promise<void>;
  /** Too far behind to catch up by changes: read everything anew. */
  reloadAll(): Promise<void>;
  /**
   * Ends all that may not be served any more, so that `reloadAll` can run beside calls and beside
   * `changed`. Absent: it runs before anything else.
   */
  endStale?(): Promise<void>;
}

/** Carries what any process changed into this process's memory. */
export class FeedFollower {
  readonly #feed: ChangeFeed;
  readonly #listener: FeedListener;
  #position: FeedPosition = { sequence: 0 };
  #running: Promise<void> = Promise.resolve();
  /** Memory lacks changes from before the position. */
  #isPartial = false;
  #skips = 0;
  #isReloading = false;

  constructor(feed: ChangeFeed, listener: FeedListener) {
    this.#feed = feed;
    this.#listener = listener;
  }

  /** All changes up to this number are in memory. */
  get seen(): number {
    return this.#isPartial ? 0 : this.#position.sequence;
  }

  /** Whether a process has read everything up to this place. */
  isAt({ sequence, stamp }: FeedPosition): boolean {
    if (this.#isPartial || sequence !== this.#position.sequence) return false;
    const own = this.#position.stamp;
    return own === undefined || stamp === undefined || own === stamp;
  }

  /** Reads everything. The number is taken first: what changes meanwhile is read again, not missed. */
  async start(): Promise<void> {
    this.#position = await this.#feed.newest();
    await this.#listener.reloadAll();
  }

  /** Resolves when all changes committed before this call are in memory. One runs at a time. */
  catchUp(): Promise<void> {
    const next = this.#running.then(() => this.#step());
    this.#running = next.catch(() => {});
    return next;
  }

  async #step(): Promise<void> {
    const changes = await this.#feed.since(this.#position.sequence, this.#position.stamp);
    if (changes === undefined) return this.#skip();
    const last = changes.at(-1);
    if (last !== undefined) {
      await this.#listener.changed(changes);
      this.#position = last;
    }
    // One that failed is tried again.
    if (this.#isPartial) this.#reload();
  }

  /** Goes on with the newest change; what lies between is read beside. */
  async #skip(): Promise<void> {
    if (this.#listener.endStale === undefined) return this.start();
    const newest = await this.#feed.newest();
    await this.#listener.endStale();
    this.#position = newest;
    this.#isPartial = true;
    this.#skips++;
    this.#reload();
  }

  #reload(): void {
    if (this.#isReloading) return;
    this.#isReloading = true;
    const skips = this.#skips;
    this.#listener
      .reloadAll()
      .then(
        () => {
          // What it has read may be from before the last skip.
          if (skips === this.#skips) this.#isPartial = false;
        },
        () => {},
      )
      .finally(() => {
        this.#isReloading = false;
      });
  }
}
