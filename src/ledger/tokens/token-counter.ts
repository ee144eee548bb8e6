import { Worker } from "node:worker_threads";
import { CountQueue, type QueueBounds, type Queued } from "./count-queue.ts";
import { likelyTokens } from "./likely-tokens.ts";
import { TokenCount } from "./token-count.ts";

const mega = 1024 * 1024;
/** A quarter of the room is the most that one account gets. */
const paidBounds: QueueBounds = {
  all: { counts: 1_000, bytes: 32 * mega },
  perAccount: { counts: 250, bytes: 8 * mega },
};
const freeBounds: QueueBounds = {
  all: { counts: 1_000, bytes: 32 * mega },
  perAccount: { counts: 4, bytes: 8 * mega },
};
/** Each such turn goes to callers who have gone first, so that replies cannot hold them up forever. */
const leftTurn = 4;
/** Loading the vocabulary takes half a second; a machine in trouble gets longer, but not forever. */
const startMs = 30_000;

export interface TokenCounterOptions {
  /** A worker that had nothing to do for so long is ended, and its memory with it. */
  readonly idleMs?: number;
  /** From the question to the answer; and the longest that the worker may be busy with one piece. */
  readonly limitMs?: number;
  /** From the question to the answer where nobody waits for it. */
  readonly leftLimitMs?: number;
  readonly workerUrl?: URL;
}

/**
 * What a count is for: a reply that waits for it, a caller who has gone, or one who does not pay for
 * it and must not keep those waiting who do.
 */
export type CountPurpose = "reply" | "left" | "free";

export interface CountFor {
  readonly accountId: string;
  readonly purpose: CountPurpose;
}

interface Waiting extends Queued {
  readonly count: TokenCount;
  readonly deadline: NodeJS.Timeout;
  readonly resolve: (tokens: number) => void;
}

/**
 * Counts tokens (o200k_base) in a thread of its own, for the rare calls whose upstream reports no
 * usage. The worker starts with the first count, gets one piece of text at a time, and never keeps
 * the process alive. Within each purpose the accounts take turns, a piece per turn, and each has a
 * part of the room only: an account that asks for much delays nobody else by more than its turns.
 *
 * Whatever goes wrong (too much waiting, too slow, a dead worker), the answer is an estimate that is
 * likely, from a sample if the worker gets to count one: never an exception and never later than the
 * limit. One timer watches the worker while it starts, works or idles; when it fires, the worker is
 * ended, and the next count starts another.
 */
export class TokenCounter {
  readonly #idleMs: number;
  readonly #limitMs: number;
  readonly #leftLimitMs: number;
  readonly #workerUrl: URL;
  readonly #queues: Readonly<Record<CountPurpose, CountQueue<Waiting>>> = {
    reply: new CountQueue(paidBounds),
    left: new CountQueue(paidBounds),
    free: new CountQueue(freeBounds),
  };
  #turns = 0;
  #worker: Worker | undefined;
  #isReady = false;
  #atWork: Waiting | undefined;
  #watch: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: TokenCounterOptions = {}) {
    this.#idleMs = options.idleMs ?? 600_000;
    this.#limitMs = options.limitMs ?? 10_000;
    this.#leftLimitMs = options.leftLimitMs ?? 60_000;
    this.#workerUrl = options.workerUrl ?? new URL("./token-worker.ts", import.meta.url);
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  count(texts: readonly string[], { accountId, purpose }: CountFor): Promise<number> {
    const queue = this.#queues[purpose];
    if (this.#isClosed || !queue.hasPlaceFor(accountId))
      return Promise.resolve(likelyTokens(texts));
    const whole = new TokenCount(texts);
    if (whole.isEmpty) return Promise.resolve(0);
    const hasRoom = queue.hasRoomFor(accountId, whole.keptBytes);
    const count = hasRoom ? whole : new TokenCount(texts, { isSampled: true });
    const limitMs = purpose === "left" ? this.#leftLimitMs : this.#limitMs;
    return new Promise((resolve) => {
      const deadline = setTimeout(() => this.#answer(waiting), limitMs).unref();
      const { keptBytes } = count;
      const waiting: Waiting = { accountId, keptBytes, count, deadline, resolve };
      queue.add(waiting);
      this.#next();
    });
  }

  /** Answers what is open with an estimate, as it does every count from now on. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#all()) this.#answer(waiting);
    this.#end(this.#worker);
  }

  #next(): void {
    if (this.#atWork !== undefined) return;
    if (this.#worker === undefined && this.#hasWork()) this.#start();
    if (this.#worker === undefined || !this.#isReady) return;
    this.#atWork = this.#chosen();
    const piece = this.#atWork?.count.piece;
    this.#endAfter(piece === undefined ? this.#idleMs : this.#limitMs);
    if (piece !== undefined) this.#worker.postMessage(piece, []);
  }

  #hasWork(): boolean {
    return Object.values(this.#queues).some((queue) => !queue.isEmpty);
  }

  #chosen(): Waiting | undefined {
    const { reply, left, free } = this.#queues;
    this.#turns = (this.#turns + 1) % leftTurn;
    const [first, second] = this.#turns === 0 ? [left, reply] : [reply, left];
    return first.next() ?? second.next() ?? free.next();
  }

  #start(): void {
    const worker = startWorker(this.#workerUrl);
    this.#isReady = false;
    if (worker === undefined) {
      for (const waiting of this.#all()) this.#answer(waiting);
      return;
    }
    worker.on("message", (data: unknown) => {
      if (worker === this.#worker) this.#hear(data);
    });
    worker.on("error", () => this.#end(worker));
    worker.on("exit", () => this.#end(worker));
    // Last, because a listener makes the worker keep the process alive again.
    worker.unref();
    this.#worker = worker;
    this.#endAfter(startMs);
  }

  #hear(data: unknown): void {
    const waiting = this.#atWork;
    this.#atWork = undefined;
    this.#isReady = true;
    if (waiting !== undefined) {
      const isTaken = waiting.count.take(data);
      if (!isTaken || waiting.count.piece === undefined) this.#answer(waiting);
    }
    this.#next();
  }

  /** The count at work ends with its worker; so do all when the worker could not even start. */
  #end(worker: Worker | undefined): void {
    if (worker === undefined || worker !== this.#worker) return;
    clearTimeout(this.#watch);
    void worker.terminate();
    this.#worker = undefined;
    const lost = this.#isReady ? [this.#atWork] : this.#all();
    this.#atWork = undefined;
    for (const waiting of lost) if (waiting !== undefined) this.#answer(waiting);
    this.#next();
  }

  #all(): readonly Waiting[] {
    return Object.values(this.#queues).flatMap((queue) => queue.all());
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#end(this.#worker), ms).unref();
  }

  /** With what is known of it by now. */
  #answer(waiting: Waiting): void {
    const queue = Object.values(this.#queues).find((one) => one.delete(waiting));
    if (queue === undefined) return;
    clearTimeout(waiting.deadline);
    waiting.resolve(waiting.count.tokens);
  }
}

/** Undefined when the machine has no thread left to give. */
function startWorker(url: URL): Worker | undefined {
  try {
    return new Worker(url);
  } catch {
    return undefined;
  }
}
