import { type Delivered, type DeliveryOptions, deliver } from "./delivery.ts";

export type Signal = "traces" | "metrics" | "logs";
/**
 * Why telemetry was lost: no room while the collector was slow or away, it stayed away, it refused
 * what it got, or too many requests without a receipt came at once.
 */
export type DropReason = "queue_full" | "unavailable" | "refused" | "rate";

export interface SignalCounts {
  exported: number;
  readonly dropped: Record<DropReason, number>;
}

export const newCounts = (): SignalCounts => ({
  exported: 0,
  dropped: { queue_full: 0, unavailable: 0, refused: 0, rate: 0 },
});

/** A piece of a request body, and how many records it has. */
export interface Encoded {
  readonly json: string;
  readonly count: number;
}

export interface BatchesOptions<T> {
  readonly signal: Signal;
  readonly delivery: DeliveryOptions;
  readonly counts: SignalCounts;
  /** One item, as JSON; several when it makes several records, with commas between them. */
  readonly encode: (item: T) => Encoded;
  /** About how many characters an item keeps in memory. */
  readonly weigh: (item: T) => number;
  /** Puts the records into a whole request. */
  readonly wrap: (records: string) => string;
  readonly onState: (signal: Signal, problem: string | undefined) => void;
  readonly limits?: Partial<BatchLimits>;
}

export interface BatchLimits {
  readonly mostItems: number;
  readonly mostChars: number;
  readonly batchItems: number;
  readonly batchChars: number;
  readonly everyMs: number;
  readonly firstBackoffMs: number;
  readonly longestBackoffMs: number;
  readonly mostTries: number;
}

/**
 * Items wait in memory as they are. A batch is encoded, which takes some 10 ms at most, when it is
 * due: after a second, or as soon as it is full.
 */
const usualLimits: BatchLimits = {
  mostItems: 8_192,
  mostChars: 16 * 1024 * 1024,
  batchItems: 256,
  batchChars: 1024 * 1024,
  everyMs: 1_000,
  firstBackoffMs: 1_000,
  longestBackoffMs: 30_000,
  mostTries: 5,
};

/**
 * A bounded queue in front of the collector: one request at a time, repeated with growing pauses
 * where the collector asks for it or is away. What finds no room is dropped and counted; nothing
 * ever waits for it.
 */
export class Batches<T> {
  readonly #options: BatchesOptions<T>;
  readonly #limits: BatchLimits;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #closing = new AbortController();
  #items: T[] = [];
  #chars = 0;
  #sending: Promise<void> | undefined;
  #isScheduled = false;
  /** Ends the pause before the next try. */
  #wake: (() => void) | undefined;
  #isClosing = false;
  #tries = 0;

  constructor(options: BatchesOptions<T>) {
    this.#options = options;
    this.#limits = { ...usualLimits, ...options.limits };
    this.#timer = setInterval(() => this.#start(), this.#limits.everyMs);
    this.#timer.unref();
  }

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    const { weigh, counts } = this.#options;
    const { mostItems, mostChars, batchItems } = this.#limits;
    const chars = weigh(item);
    if (this.#items.length >= mostItems || this.#chars + chars > mostChars) {
      counts.dropped.queue_full++;
      return;
    }
    this.#chars += chars;
    this.#items.push(item);
    if (this.#items.length < batchItems || this.#isScheduled || this.#sending !== undefined) return;
    this.#isScheduled = true;
    setImmediate(() => this.#start());
  }

  /** Sends what is left, within the time; what does not get there is dropped. */
  async close(withinMs: number): Promise<void> {
    clearInterval(this.#timer);
    this.#isClosing = true;
    this.#wake?.();
    const timer = setTimeout(() => this.#closing.abort(), withinMs);
    await this.#sending;
    while (this.#items.length > 0 && !this.#closing.signal.aborted) await this.#sendBatch();
    clearTimeout(timer);
    this.#options.counts.dropped.unavailable += this.#items.length;
    this.#items = [];
    this.#chars = 0;
  }

  #start(): void {
    this.#isScheduled = false;
    if (this.#sending !== undefined || this.#isClosing || this.#items.length === 0) return;
    this.#sending = this.#sendAll().finally(() => (this.#sending = undefined));
  }

  /** Batches as long as there are full ones; the rest waits for the timer. */
  async #sendAll(): Promise<void> {
    do await this.#sendBatch();
    while (this.#items.length >= this.#limits.batchItems && !this.#isClosing);
  }

  async #sendBatch(): Promise<void> {
    const { counts, delivery, wrap } = this.#options;
    const { json, count } = this.#take();
    if (count === 0) return;
    const body = wrap(json);
    for (let tries = 1; ; tries++) {
      const delivered = await deliver(delivery, body, this.#closing.signal);
      this.#note(delivered);
      if (delivered.kind === "taken") {
        counts.exported += Math.max(0, count - delivered.refused);
        counts.dropped.refused += Math.min(count, delivered.refused);
        return;
      }
      if (delivered.kind === "refused") {
        counts.dropped.refused += count;
        return;
      }
      if (tries >= this.#limits.mostTries || this.#isClosing) {
        counts.dropped.unavailable += count;
        return;
      }
      await this.#pause(delivered.afterMs);
    }
  }

  /** One that cannot be encoded is left out, so that it does not hold up the others. */
  #take(): Encoded {
    const { encode, weigh, counts } = this.#options;
    const { batchItems, batchChars } = this.#limits;
    const pieces: string[] = [];
    let records = 0;
    let chars = 0;
    let taken = 0;
    for (const item of this.#items) {
      if (taken >= batchItems || chars >= batchChars) break;
      taken++;
      this.#chars -= weigh(item);
      try {
        const { json, count } = encode(item);
        if (count === 0) continue;
        pieces.push(json);
        records += count;
        chars += json.length;
      } catch {
        counts.dropped.refused++;
      }
    }
    this.#items = this.#items.slice(taken);
    return { json: pieces.join(","), count: records };
  }

  #note(delivered: Delivered): void {
    const { onState, signal } = this.#options;
    if (this.#closing.signal.aborted) return;
    this.#tries = delivered.kind === "later" ? this.#tries + 1 : 0;
    onState(signal, delivered.reason);
  }

  /** As long as the collector asks for; else twice as long after each failure. */
  async #pause(askedMs: number | undefined): Promise<void> {
    const { firstBackoffMs, longestBackoffMs } = this.#limits;
    const backoffMs = Math.min(
      longestBackoffMs,
      firstBackoffMs * 2 ** Math.min(10, this.#tries - 1),
    );
    const waitMs = askedMs ?? backoffMs * (0.5 + Math.random() / 2);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, waitMs);
    timer.unref();
    await promise;
    clearTimeout(timer);
    this.#wake = undefined;
  }
}
