/** Times of one kind, summed up. */

export type Times = {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
};

/** Of sorted values; NaN where there are none. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const index = Math.min(sorted.length - 1, Math.floor(sorted.length * share));
  return sorted[index] ?? Number.NaN;
}

/** Far above what a run has; then the rest is left out. */
const most = 4_000_000;

export class Samples {
  #values: number[] = [];

  add(value: number): void {
    if (this.#values.length < most) this.#values.push(value);
  }

  clear(): void {
    this.#values = [];
  }

  countOver(limit: number): number {
    return this.#values.reduce((count, value) => (value > limit ? count + 1 : count), 0);
  }

  /** All zero where there are none. */
  sumUp(): Times {
    const sorted = Float64Array.from(this.#values).sort();
    const at = (share: number) => (sorted.length === 0 ? 0 : percentile(sorted, share));
    return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
  }
}
