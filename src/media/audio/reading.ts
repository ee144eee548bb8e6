import { UnreadableMedia } from "../frames.ts";

/** Reads a file and returns its duration in seconds. Yields where others may have the event loop. */
export type Reading = Generator<undefined, number, unknown>;

/** So many steps of a loop take about a millisecond. */
export const stepsPerTurn = 16_384;

/** A day of speech has fewer packets, also where 25 MiB hold that much. */
const maxSteps = 8_000_000;

/** Counts steps of work, so that a reading yields by what it did and not by how often it looped. */
export class Steps {
  #total = 0;
  #inTurn = 0;

  add(steps: number): void {
    this.#total += steps;
    this.#inTurn += steps;
    if (this.#total > maxSteps) throw new UnreadableMedia("has too many packets to be audio");
  }

  /** Whether to yield now. */
  endsTurn(): boolean {
    if (this.#inTurn < stepsPerTurn) return false;
    this.#inTurn = 0;
    return true;
  }
}

const minRate = 4_000;
const maxRate = 384_000;

/** A rate that nobody records at makes hours of frames last seconds. */
export function checkRate(rate: number): void {
  if (rate < minRate || rate > maxRate)
    throw new UnreadableMedia(`must have ${minRate} to ${maxRate} samples per second`);
}
