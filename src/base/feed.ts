export const feedTopics = ["accounts", "keys", "catalog", "targets", "temporary-keys"] as const;
export type FeedTopic = (typeof feedTopics)[number];

export interface Change {
  readonly sequence: number;
  readonly topic: FeedTopic;
  readonly subject: string;
}

/**
 * Implemented by the store. A change gets its number inside the writer's transaction, from one row
 * that every writer updates: numbers are seen in order and none turns up late.
 */
export interface ChangeFeed {
  latest(): Promise<number>;
  /** Changes after `sequence` in order, or undefined when some of them are no longer kept. */
  since(sequence: number): Promise<readonly Change[] | undefined>;
}

export interface FeedListener {
  changed(change: Change): Promise<void>;
  /** Too far behind to catch up by changes: read everything anew. */
  reloadAll(): Promise<void>;
}

/** Carries what any process changed into this process's memory. */
export class FeedFollower {
  readonly #feed: ChangeFeed;
  readonly #listener: FeedListener;
  #seen = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(feed: ChangeFeed, listener: FeedListener) {
    this.#feed = feed;
    this.#listener = listener;
  }

  /** The number of the newest change that is in memory. */
  get seen(): number {
    return this.#seen;
  }

  /** Reads everything. The number is taken first: what changes meanwhile is read again, not missed. */
  async start(): Promise<void> {
    this.#seen = await this.#feed.latest();
    await this.#listener.reloadAll();
  }

  /** Resolves when all changes committed before this call are in memory. One runs at a time. */
  catchUp(): Promise<void> {
    const next = this.#running.then(() => this.#step());
    this.#running = next.catch(() => {});
    return next;
  }

  async #step(): Promise<void> {
    const changes = await this.#feed.since(this.#seen);
    if (changes === undefined) return this.start();
    for (const change of changes) {
      await this.#listener.changed(change);
      this.#seen = change.sequence;
    }
  }
}
