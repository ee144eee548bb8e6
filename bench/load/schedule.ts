/**
 * When the requests of an open loop are due: at a fixed rate, whatever the replies do.
 *
 * The generator's clock is a timer of a millisecond, so a request is sent up to that much after its
 * exact time, for every target alike. That wait is the clock's resolution and is not counted. If the
 * clock itself is late, because the generator had no CPU, the requests were due when it should have
 * ticked, and the delay is counted. So is every wait for a free connection.
 */
export type ScheduleOptions = {
  readonly perSecond: number;
  readonly count: number;
  readonly startNs: number;
};

/** A timer of 1 ms goes off after 1 to 1.25 ms if the process has CPU. */
const tickNs = 1.25e6;

export class Schedule {
  readonly #options: ScheduleOptions;
  #taken = 0;
  #lastTickNs: number;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#lastTickNs = options.startNs;
  }

  get isOver(): boolean {
    return this.#taken === this.#options.count;
  }

  /** The times from which the latencies of the requests that are due now count. */
  take(nowNs: number): readonly number[] {
    const { perSecond, count, startNs } = this.#options;
    const intervalNs = 1e9 / perSecond;
    const expectedTickNs = Math.min(nowNs, this.#lastTickNs + tickNs);
    this.#lastTickNs = nowNs;
    const due: number[] = [];
    for (; this.#taken < count; this.#taken++) {
      const exactNs = startNs + this.#taken * intervalNs;
      if (exactNs > nowNs) break;
      due.push(Math.max(exactNs, expectedTickNs));
    }
    return due;
  }
}
