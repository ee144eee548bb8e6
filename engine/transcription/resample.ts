/** Another rate, band-limited by a windowed sinc; exact for any pair of rates. */
export function resample(samples: Float32Array, from: number, to: number): Float32Array {
  const resampler = new Resampler(from, to);
  const pieces = [resampler.push(samples), resampler.end()];
  const length = Math.floor((samples.length * to) / from);
  const whole = new Float32Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece.subarray(0, length - at), at);
    at += Math.min(piece.length, length - at);
  }
  return whole;
}

const halfWaves = 24;

/** The same piece by piece: it keeps no more than the few samples that the next ones need. */
export class Resampler {
  readonly #from: number;
  readonly #to: number;
  readonly #cutoff: number;
  readonly #reach: number;
  /** One filter for each distance that a sample can have from its neighbors. */
  readonly #filters = new Map<number, Float32Array>();
  #kept: Float32Array;
  /** Where `#kept` begins in the whole, and the next sample to make. */
  #start: number;
  #next = 0;

  constructor(from: number, to: number) {
    const divisor = greatestDivisor(from, to);
    this.#from = from / divisor;
    this.#to = to / divisor;
    this.#cutoff = Math.min(1, to / from);
    this.#reach = Math.ceil(halfWaves / this.#cutoff);
    this.#kept = new Float32Array(this.#reach);
    this.#start = -this.#reach;
  }

  push(samples: Float32Array): Float32Array {
    const all = new Float32Array(this.#kept.length + samples.length);
    all.set(this.#kept);
    all.set(samples, this.#kept.length);
    const end = this.#start + all.length;
    // The last sample whose neighbors are all here.
    const count = Math.max(
      0,
      Math.floor(((end - 1 - this.#reach) * this.#to) / this.#from) + 1 - this.#next,
    );
    const made = new Float32Array(count);
    for (let index = 0; index < count; index++) made[index] = this.#sample(all, this.#next + index);
    this.#next += count;
    const center = Math.floor((this.#next * this.#from) / this.#to);
    const dropped = Math.min(all.length, Math.max(0, center - this.#reach - this.#start));
    this.#kept = all.slice(dropped);
    this.#start += dropped;
    return made;
  }

  /** What is left, with silence behind it. */
  end(): Float32Array {
    return this.push(new Float32Array(this.#reach + 1));
  }

  #sample(all: Float32Array, index: number): number {
    const position = index * this.#from;
    const phase = position % this.#to;
    const center = (position - phase) / this.#to;
    const filter = this.#filterOf(phase);
    const first = center - this.#reach - this.#start;
    let sum = 0;
    for (let tap = 0; tap < filter.length; tap++)
      sum += (all[first + tap] ?? 0) * (filter[tap] ?? 0);
    return sum;
  }

  #filterOf(phase: number): Float32Array {
    const known = this.#filters.get(phase);
    if (known !== undefined) return known;
    const reach = this.#reach;
    const filter = Float32Array.from({ length: 2 * reach + 1 }, (_, tap) => {
      const distance = tap - reach - phase / this.#to;
      if (Math.abs(distance) > reach) return 0;
      const taper = 0.5 + 0.5 * Math.cos((Math.PI * distance) / reach);
      return this.#cutoff * sinc(distance * this.#cutoff) * taper;
    });
    // Odd pairs of rates have as many filters as samples: those are made each time.
    if (this.#filters.size < maxFilters) this.#filters.set(phase, filter);
    return filter;
  }
}

const maxFilters = 512;

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}
