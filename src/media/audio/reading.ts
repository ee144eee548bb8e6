import { UnreadableMedia } from "../frames.ts";

/** Reads a file and returns its duration in seconds. Yields where others may have the event loop. */
export type Reading = Generator<undefined, number, unknown>;

/** So many steps of a loop take about a millisecond. */
export const stepsPerTurn = 16_384;

/** A step of a loop that only looks at bytes takes as long as this part of a step. */
const bytesPerStep = 8;

/** What any file may have: boxes, pages, tags, and the packets of a short recording. */
const leastParts = 65_536;
/** A packet of speech has more bytes than these, with what its container adds. */
const bytesPerPart = 16;

/**
 * Counts the work on a file. A file is refused as soon as it has more parts than audio of its size
 * can have, so that millions of tiny ones cost no more than the first of them.
 */
export class Steps {
  readonly #maxParts: number;
  #parts = 0;
  #inTurn = 0;

  constructor(fileBytes: number) {
    this.#maxParts = leastParts + Math.floor(fileBytes / bytesPerPart);
  }

  /** Packets, frames, elements: each takes a step. */
  add(parts: number): void {
    this.#parts += parts;
    this.#inTurn += parts;
    if (this.#parts > this.#maxParts)
      throw new UnreadableMedia("is made of more and smaller parts than audio has");
  }

  /** Bytes that are looked at one by one. */
  scan(bytes: number): void {
    this.#inTurn += bytes / bytesPerStep;
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

/** The error of a file that has more bytes than its audio can have. */
export function tooDense(): UnreadableMedia {
  return new UnreadableMedia("has more bytes than audio of its duration can have");
}
