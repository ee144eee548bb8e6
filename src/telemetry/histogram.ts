/** Upper bounds of buckets, rising; one more bucket takes what lies above them. */
interface Bounds {
  readonly ms: readonly number[];
  /** In seconds, as they are told; the last is the bucket above them all. */
  readonly texts: readonly string[];
}

/** Once for all histograms that share them: to write numbers costs more than to count. */
export function toBounds(ms: readonly number[]): Bounds {
  return { ms, texts: [...ms.map((bound) => String(bound / 1000)), "+Inf"] };
}

/** Cheap to fill: one addition to a bucket. What is told of it is made when somebody asks. */
export class Histogram {
  readonly bounds: Bounds;
  readonly #counts: number[];
  #sumMs = 0;

  constructor(bounds: Bounds) {
    this.bounds = bounds;
    this.#counts = bounds.texts.map(() => 0);
  }

  observe(ms: number): void {
    let at = 0;
    for (const boundMs of this.bounds.ms) {
      if (ms <= boundMs) break;
      at++;
    }
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sumMs += ms;
  }

  /** How many were in each bucket. */
  get counts(): readonly number[] {
    return this.#counts;
  }

  get sumMs(): number {
    return this.#sumMs;
  }

  /** How many were at or below each bound; the last is how many there were. */
  cumulative(): readonly number[] {
    let total = 0;
    return this.#counts.map((count) => {
      total += count;
      return total;
    });
  }
}
