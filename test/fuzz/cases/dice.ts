import { seededRandom } from "../../fixtures/media/fixture.ts";

/** Chances that come out the same in every run with the same seed and the same case number. */
export class Dice {
  readonly #random: (below: number) => number;

  constructor(seed: number, caseNumber = 0) {
    // Neighbouring cases must not look alike, so their numbers are spread over all 32 bits first.
    this.#random = seededRandom(
      Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(caseNumber + 1, 0xc2b2ae35),
    );
  }

  /** 0 to count - 1 */
  below(count: number): number {
    return this.#random(count);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** True so many times of a hundred. */
  percent(share: number): boolean {
    return this.below(100) < share;
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.below(from.length)];
    if (picked === undefined) throw new Error("there is nothing to pick from");
    return picked;
  }

  /** By weight: an entry of weight 2 comes up twice as often as one of weight 1. */
  weighted<T>(from: readonly (readonly [weight: number, value: T])[]): T {
    const total = from.reduce((sum, [weight]) => sum + weight, 0);
    let left = this.below(total);
    for (const [weight, value] of from) {
      if (left < weight) return value;
      left -= weight;
    }
    throw new Error("weights are positive integers");
  }

  list<T>(length: number, make: (at: number) => T): readonly T[] {
    return Array.from({ length }, (_, at) => make(at));
  }

  /** Each entry so many times of a hundred, in any order. */
  some<T>(from: readonly T[], share: number): readonly T[] {
    return this.shuffled(from.filter(() => this.percent(share)));
  }

  shuffled<T>(from: readonly T[]): readonly T[] {
    return from
      .map((value) => ({ value, turn: this.below(2 ** 31) }))
      .toSorted((a, b) => a.turn - b.turn)
      .map(({ value }) => value);
  }

  /** Small sizes as often as large ones. */
  magnitude(least: number, most: number): number {
    const share = this.below(10_001) / 10_000;
    return Math.round(least * (most / least) ** share);
  }
}
