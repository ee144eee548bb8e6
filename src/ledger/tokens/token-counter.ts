import { Worker } from "node:worker_threads";
import { monotonicMs } from "../../base/clock.ts";
import { mostTokens } from "../../call/usage.ts";

const maxOpen = 1_000;
const maxOpenBytes = 32 * 1024 * 1024;
/** Free counts that an account can have waiting at once; others get an estimate. */
const maxFree = 4;
/** Free counts are made in pieces, so that one that is paid for never waits for a long text. */
const freePieceChars = 32_768;
/** From here on the worker counts a part of a text, which does not take long. */
const wholeChars = 1_000_000;
/** About what a token of text has. */
const bytesPerToken = 4;
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
  /** The answer where it cannot be counted. */
  readonly otherwise: number;
  readonly deadline: NodeJS.Timeout;
  readonly resolve: (tokens: number) => void;
}

interface Terms {
  readonly lane: Lane;
  readonly limitMs: number;
  readonly toEstimate: (sizeBytes: number) => number;
}

/**
 * Counts tokens (o200k_base) in a thread of its own, for the rare calls whose upstream told no
 * usage. The worker starts with the first count, gets one count at a time, and never keeps the
 * process alive. Counts that a reply waits for come before those of callers who have gone, and both
 * before free ones. Whatever goes wrong (too much waiting, too slow, a dead worker), the answer is
 * the most that the text can be, or a likely number where it is free: never an exception and never
 * later than the limit. One timer watches the worker while it
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
  readonly #free: Lane = { counts: new Set(), bytes: 0 };
  /** Those that go first in front. */
  readonly #lanes = [this.#live, this.#left, this.#free] as const;
  readonly #freeByAccount = new Map<string, number>();
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
    const lane = isLeft ? this.#left : this.#live;
    const limitMs = isLeft ? this.#leftLimitMs : this.#limitMs;
    return this.#enqueue(texts, { lane, limitMs, toEstimate: mostTokens });
  }

  /** For callers who do not pay for it: they must not keep those waiting who do. */
  async countFree(texts: readonly string[], accountId: string): Promise<number> {
    const waiting = this.#freeByAccount.get(accountId) ?? 0;
    if (waiting >= maxFree) return likelyTokens(sizeOf(texts));
    this.#freeByAccount.set(accountId, waiting + 1);
    const endMs = monotonicMs() + this.#limitMs;
    let tokens = 0;
    for (const piece of piecesOf(texts)) {
      const limitMs = endMs - monotonicMs();
      tokens +=
        limitMs <= 0
          ? likelyTokens(sizeOf(piece))
          : await this.#enqueue(piece, { lane: this.#free, limitMs, toEstimate: likelyTokens });
    }
    const left = (this.#freeByAccount.get(accountId) ?? 1) - 1;
    if (left === 0) this.#freeByAccount.delete(accountId);
    else this.#freeByAccount.set(accountId, left);
    return tokens;
  }

  #enqueue(texts: readonly string[], { lane, limitMs, toEstimate }: Terms): Promise<number> {
    const sizeBytes = sizeOf(texts);
    const otherwise = toEstimate(sizeBytes);
    const isTooMuch =
      lane.counts.size >= maxOpen || lane.bytes + sizeBytes > maxOpenBytes || this.#isClosed;
    if (sizeBytes === 0 || isTooMuch) return Promise.resolve(otherwise);
    return new Promise((resolve) => {
      const deadline = setTimeout(() => this.#answer(count), limitMs).unref();
      const count: Count = { texts, sizeBytes, limitMs, otherwise, deadline, resolve };
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
    const lane = this.#lanes.find(({ counts }) => counts.size > 0);
    const [count] = lane?.counts ?? [];
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
    return this.#lanes.flatMap(({ counts }) => [...counts]);
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#end(this.#worker), ms).unref();
  }

  #answer(count: Count, told?: unknown): void {
    const lane = this.#lanes.find(({ counts }) => counts.delete(count));
    if (lane === undefined) return;
    lane.bytes -= count.sizeBytes;
    clearTimeout(count.deadline);
    const isCount = typeof told === "number" && told >= 0 && told <= count.sizeBytes;
    count.resolve(isCount ? told : count.otherwise);
  }
}

const sizeOf = (texts: readonly string[]) =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

const likelyTokens = (sizeBytes: number) => Math.ceil(sizeBytes / bytesPerToken);

function* piecesOf(texts: readonly string[]): Generator<readonly string[]> {
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  if (chars <= freePieceChars || chars > wholeChars) return yield texts;
  let piece: string[] = [];
  let leftChars = freePieceChars;
  for (const text of texts)
    for (let at = 0; at < text.length; ) {
      const part = text.slice(at, at + leftChars);
      at += part.length;
      leftChars -= part.length;
      piece.push(part);
      if (leftChars > 0) continue;
      yield piece;
      piece = [];
      leftChars = freePieceChars;
    }
  if (piece.length > 0) yield piece;
}

/** Undefined when the machine has no thread left to give. */
function startWorker(url: URL): Worker | undefined {
  try {
    return new Worker(url);
  } catch {
    return undefined;
  }
}
