/** Opens when at least this many recent requests came to their end, and half of them badly. */
const leastRequests = 10;
const worstShare = 0.5;
/** Or when this many fail one after another, none long after the one before. */
const mostInARow = 5;
const rowWithinMs = 30_000;

/** The recent failures of a target: of this bucket of time and the one before, and in a row. */
export class FailureCount {
  #recent = 0;
  #before = 0;
  #inARow = 0;
  #failedMs = 0;

  get total(): number {
    return this.#recent + this.#before;
  }

  add(nowMs: number): void {
    this.#recent++;
    this.#inARow = nowMs - this.#failedMs > rowWithinMs ? 1 : this.#inARow + 1;
    this.#failedMs = nowMs;
  }

  endRow(): void {
    this.#inARow = 0;
  }

  /** The next bucket begins. */
  turn(isNext: boolean): void {
    this.#before = isNext ? this.#recent : 0;
    this.#recent = 0;
  }

  clear(): void {
    this.#recent = 0;
    this.#before = 0;
    this.#inARow = 0;
  }

  isTooHigh(requests: number): boolean {
    if (this.#inARow >= mostInARow) return true;
    return requests >= leastRequests && this.total >= requests * worstShare;
  }
}
