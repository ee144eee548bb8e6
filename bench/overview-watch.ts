/** Someone who looks at the overview all the time, and what that costs the calls beside it. */
import { type Spread, spreadOf } from "./report.ts";

/** Asks again and again, with a pause between; ends with the question under way. */
export function watchWhile(
  ask: () => Promise<unknown>,
  everyMs: number,
): { readonly stop: () => Promise<number> } {
  const state = { isOver: false };
  let wake = () => {};
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, everyMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const asking = (async () => {
    let asked = 0;
    while (!state.isOver) {
      await ask();
      asked++;
      if (!state.isOver) await pause();
    }
    return asked;
  })();
  // Whoever stops it is told; until then nobody listens.
  asking.catch(() => {});
  return {
    stop() {
      state.isOver = true;
      wake();
      return asking;
    },
  };
}

export type WatchedCost = {
  /** CPU microseconds a request. */
  readonly alone: Spread | undefined;
  readonly watched: Spread | undefined;
};

/** Rounds with and without a watcher by turns, so that both meet the same machine. */
export async function costWatched(options: {
  readonly rounds: number;
  /** Sends requests until all are answered; how many there were. */
  readonly load: () => Promise<number>;
  /** CPU time of the gateway's process so far. */
  readonly cpuMs: () => number;
  readonly watch: () => { readonly stop: () => Promise<unknown> };
}): Promise<WatchedCost> {
  const { rounds, load, cpuMs, watch } = options;
  const alone: number[] = [];
  const watched: number[] = [];
  const measure = async () => {
    const beforeMs = cpuMs();
    const requests = await load();
    return ((cpuMs() - beforeMs) * 1_000) / requests;
  };
  // One goes before, for the compilers.
  await load();
  for (let round = 0; round < rounds; round++) {
    alone.push(await measure());
    const watcher = watch();
    try {
      watched.push(await measure());
    } finally {
      await watcher.stop();
    }
  }
  return { alone: spreadOf(alone), watched: spreadOf(watched) };
}
