/** Someone who looks at the overview all the time, and what that costs the calls beside it. */
import { aligned, number, type Spread, spreadOf } from "../gateway/report.ts";

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
  /** Watched ÷ alone, taken within a round, where both met the same machine. */
  readonly ratio: Spread | undefined;
  /** What the watcher takes: CPU milliseconds a second, by the same difference. */
  readonly addedMsASecond: Spread | undefined;
  readonly requestsASecond: Spread | undefined;
};

type Sample = { readonly cpuUs: number; readonly requestsASecond: number };

/** Rounds with and without a watcher by turns, so that both meet the same machine. */
export async function costWatched(options: {
  readonly rounds: number;
  /** Sends requests until all are answered; how many there were. */
  readonly load: () => Promise<number>;
  /** CPU time of the gateway's process so far. */
  readonly cpuMs: () => number;
  readonly nowMs?: () => number;
  readonly watch: () => Promise<{ readonly stop: () => Promise<unknown> }>;
  readonly step?: (label: string) => void;
}): Promise<WatchedCost> {
  const { rounds, load, cpuMs, nowMs = () => performance.now(), watch, step = () => {} } = options;
  const measure = async (): Promise<Sample> => {
    const [beforeMs, startedMs] = [cpuMs(), nowMs()];
    const requests = await load();
    const seconds = (nowMs() - startedMs) / 1_000;
    const cpuUs = ((cpuMs() - beforeMs) * 1_000) / requests;
    return { cpuUs, requestsASecond: requests / seconds };
  };
  const measureWatched = async (): Promise<Sample> => {
    const watcher = await watch();
    try {
      return await measure();
    } finally {
      await watcher.stop();
    }
  };
  const alone: Sample[] = [];
  const watched: Sample[] = [];
  // One goes before, for the compilers.
  await load();
  for (let round = 0; round < rounds; round++) {
    const first = async () => {
      step(`alone, round ${round + 1} of ${rounds}`);
      alone.push(await measure());
    };
    const second = async () => {
      step(`watched, round ${round + 1} of ${rounds}`);
      watched.push(await measureWatched());
    };
    // Who comes first may find the machine cooler or busier.
    for (const turn of round % 2 === 0 ? [first, second] : [second, first]) await turn();
  }
  const each = (of: (alone: Sample, watched: Sample) => number) =>
    spreadOf(
      alone.flatMap((one, at) => {
        const other = watched[at];
        return other === undefined ? [] : [of(one, other)];
      }),
    );
  return {
    alone: spreadOf(alone.map(({ cpuUs }) => cpuUs)),
    watched: spreadOf(watched.map(({ cpuUs }) => cpuUs)),
    ratio: each((one, other) => other.cpuUs / one.cpuUs),
    addedMsASecond: each(
      (one, other) => ((other.cpuUs - one.cpuUs) * other.requestsASecond) / 1_000,
    ),
    requestsASecond: spreadOf(watched.map(({ requestsASecond }) => requestsASecond)),
  };
}

export function watchedTable(costs: Readonly<Record<string, WatchedCost>>): string {
  const text = (spread: Spread | undefined, digits: number) =>
    spread === undefined
      ? "–"
      : `${number(spread.median, digits)} (${number(spread.min, digits)}–${number(spread.max, digits)})`;
  return aligned([
    [
      "CPU of the gateway",
      "requests/s",
      "alone, µs per request",
      "watched",
      "watched ÷ alone",
      "added, ms per second",
    ],
    ...Object.entries(costs).map(([name, cost]) => [
      name,
      text(cost.requestsASecond, 0),
      text(cost.alone, 1),
      text(cost.watched, 1),
      text(cost.ratio, 3),
      text(cost.addedMsASecond, 1),
    ]),
  ]);
}
