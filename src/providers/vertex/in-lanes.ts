import { type Signal, toAbortSignal } from "../../call/signal.ts";
export interface Lanes<T, R> {
  readonly items: readonly T[];
  readonly most: number;
  readonly signal: Signal;
  readonly work: (item: T, signal: Signal) => Promise<R>;
}

/** Several at a time, results in the order of the items. The first failure ends all that are on their way. */
export async function inLanes<T, R>({ items, most, signal, work }: Lanes<T, R>): Promise<R[]> {
  const [only] = items;
  if (items.length === 1 && only !== undefined) return [await work(only, signal)];
  const stop = new AbortController();
  const ended = AbortSignal.any([toAbortSignal(signal), stop.signal]);
  const either: Signal = Object.assign(ended, { trace: signal.trace });
  const results: R[] = [];
  const left = items.entries();
  const lane = async () => {
    for (const [at, item] of left) results[at] = await work(item, either);
  };
  try {
    await Promise.all(Array.from({ length: Math.min(most, items.length) }, lane));
  } catch (error) {
    stop.abort(error);
    throw error;
  }
  return results;
}
