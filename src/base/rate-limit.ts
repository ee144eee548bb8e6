/** At most so many in each second; what comes beyond is for the owner to count. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #nowMs: () => number;
  #secondMs = Number.NEGATIVE_INFINITY;
  #count = 0;

  constructor(perSecond: number, nowMs: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#nowMs = nowMs;
  }

  admits(): boolean {
    const nowMs = this.#nowMs();
    if (nowMs - this.#secondMs >= 1_000) {
      this.#secondMs = nowMs;
      this.#count = 0;
    }
    return ++this.#count <= this.#perSecond;
  }
}
