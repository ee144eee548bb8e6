import { Worker } from "node:worker_threads";
import { mostTokens } from "../../call/usage.ts";

const maxOpen = 1_000;
const maxOpenBytes = 32 * 1024 * 1024;
/** Loading the vocabulary takes half a second; a machine in trouble gets longer, but not forever. */
const startMs = 30_000;

export interface TokenCounterOptions {
  /** A worker that had nothing to do for so long is ended, and its memory with it. */
  readonly idleMs?: number;
  /** From the question to the answer; and the longest that the worker may be busy with one. */
  readonly limitMs?: number;
  /** The same where nobody waits for the answer. */
  readonly leftLimitMs?: number;
  readonly workerUrl?: URL;
}

interface Lane {
  readonly counts: Set<Count>;
  bytes: number;
}

interface Count {
  readonly texts: readonly string[];
  readonly sizeBytes: number;
  readonly limitMs: number;
  readonly deadline: NodeJS.Timeout;
  readonly resolve: (tokens: number) => void;
}

/**
 * Counts tokens (o200k_base) in a thread of its own, for the rare calls whose upstream told no
 * usage. The worker starts with the first count, gets one count at a time, and never keeps the
 * process alive. Counts that a reply waits for come before those of callers who have gone. Whatever
 * goes wrong (too much waiting, too slow, a dead worker), the answer is the most that the text can
 * be: never an exception and never later than the limit. One timer watches the worker while it
 * starts, works or idles; when it fires, the worker is ended, and the next count starts another.
 */
export class TokenCounter {
  readonly #idleMs: number;
  readonly #limitMs: number;
  readonly #workerUrl: URL;
  readonly #leftLimitMs: number;
  /** Not yet answered, the oldest first: those that a reply waits for, and the others. */
  readonly #live: Lane = { counts: new Set(), bytes: 0 };
  readonly #left: Lane = { counts: new Set(), bytes: 0 };
  #worker: Worker | undefined;
  #isReady = false;
  #atWork: Count | undefined;
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

  /** `isLeft`: the caller has gone, so that nobody waits for it. */
  count(texts: readonly string[], isLeft = false): Promise<number> {
    const sizeBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const lane = isLeft ? this.#left : this.#live;
    const isTooMuch =
      lane.counts.size >= maxOpen || lane.bytes + sizeBytes > maxOpenBytes || this.#isClosed;
    if (sizeBytes === 0 || isTooMuch) return Promise.resolve(mostTokens(sizeBytes));
    return new Promise((resolve) => {
      const limitMs = isLeft ? this.#leftLimitMs : this.#limitMs;
      const deadline = setTimeout(() => this.#answer(count), limitMs).unref();
      const count: Count = { texts, sizeBytes, limitMs, deadline, resolve };
      lane.counts.add(count);
      lane.bytes += sizeBytes;
      this.#next();
    });
  }

  /** Answers what is open with an estimate, as it does every count from now on. */
  close(): void {
    this.#isClosed = true;
    for (const count of this.#all()) this.#answer(count);
    this.#end(this.#worker);
  }

  #next(): void {
    if (this.#atWork !== undefined) return;
    const [count] = this.#live.counts.size > 0 ? this.#live.counts : this.#left.counts;
    if (count !== undefined && this.#worker === undefined) this.#start();
    if (this.#worker === undefined || !this.#isReady) return;
    this.#atWork = count;
    this.#endAfter(count === undefined ? this.#idleMs : count.limitMs);
    if (count !== undefined) this.#worker.postMessage(count.texts, []);
  }

  #start(): void {
    const worker = startWorker(this.#workerUrl);
    this.#isReady = false;
    if (worker === undefined) {
      for (const count of this.#all()) this.#answer(count);
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
    const count = this.#atWork;
    this.#atWork = undefined;
    this.#isReady = true;
    if (count !== undefined) this.#answer(count, data);
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
    for (const count of lost) if (count !== undefined) this.#answer(count);
    this.#next();
  }

  #all(): readonly Count[] {
    return [...this.#live.counts, ...this.#left.counts];
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#end(this.#worker), ms).unref();
  }

  #answer(count: Count, told?: unknown): void {
    const lane = [this.#live, this.#left].find(({ counts }) => counts.delete(count));
    if (lane === undefined) return;
    lane.bytes -= count.sizeBytes;
    clearTimeout(count.deadline);
    const isCount = typeof told === "number" && told >= 0 && told <= count.sizeBytes;
    count.resolve(isCount ? told : mostTokens(count.sizeBytes));
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
