/**
 * Stands between the sums by hour and their store in a watched gateway: they are the other thing
 * that is written while calls run, and hold the event loop as a commit of receipts does.
 */
import type { RollupStore } from "../../src/ledger/store.ts";
import { Samples } from "../load/samples.ts";

/** Of the pieces in which the kernel took the processor from no thread of the gateway. */
export const sumTimesMs = new Samples();

export function watchedSums(store: RollupStore): RollupStore {
  return {
    ...store,
    add(rollups, openFromMs) {
      const lostBefore = timesPushedOff();
      const startedMs = performance.now();
      let isNoted = false;
      // When it is done or, where it lets others in between, when those have their turn.
      const note = () => {
        if (isNoted) return;
        isNoted = true;
        const tookMs = performance.now() - startedMs;
        if (rollups.length > 0 && timesPushedOff() === lostBefore) sumTimesMs.add(tookMs);
      };
      setImmediate(note);
      return store.add(rollups, openFromMs).finally(note);
    },
  };
}

/** How often the kernel took the processor from a thread of this process that wanted to go on. */
export function timesPushedOff(): number {
  return process.resourceUsage().involuntaryContextSwitches;
}
