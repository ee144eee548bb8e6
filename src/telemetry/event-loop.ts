import { Histogram, toBounds } from "./histogram.ts";

/** Twenty looks a second cost some hundredths of a percent of a core. */
const everyMs = 50;
const bounds = toBounds([1, 2, 5, 10, 20, 50, 100, 250, 500, 1_000]);

/** How late the event loop is, as everybody feels it who waits for it. */
export class EventLoopLag {
  readonly late = new Histogram(bounds);
  readonly #timer: ReturnType<typeof setInterval>;
  #dueMs: number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#dueMs = nowMs() + everyMs;
    this.#timer = setInterval(() => {
      const atMs = nowMs();
      this.late.observe(Math.max(0, atMs - this.#dueMs));
      this.#dueMs = atMs + everyMs;
    }, everyMs);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
