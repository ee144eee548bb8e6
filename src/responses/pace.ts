import { nextTurn } from "../base/clock.ts";
import { Mutex } from "../base/mutex.ts";

/** In units of `JsonWeight`: about 7 ms. */
const mostPerTurn = 1_000_000;

/**
 * Work on stored texts, of all requests, one step after another: those that wait for a turn of the
 * event loop would otherwise all go on in the same one.
 */
export class Pace {
  readonly #mutex = new Mutex();
  #spent = 0;

  run<T>(cost: number, work: () => T | Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      if (this.#spent + cost > mostPerTurn) {
        await nextTurn();
        this.#spent = 0;
      }
      this.#spent += cost;
      return work();
    });
  }
}

/** Of going over bytes that are not weighed: an eighth of parsing them where they are dense. */
export const bytesCost = (sizeBytes: number) => sizeBytes / 8;
