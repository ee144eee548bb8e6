/** Injected wherever time decides something, so that tests can move it. */
export interface Clock {
  nowMs(): number;
  /** For lengths of time that a test moves, too. Default: `monotonicMs`. */
  elapsedMs?(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** For lengths of time, in whole ms: steps of the wall clock (NTP, a resumed machine) do not move it. */
export const monotonicMs = (): number => Math.trunc(performance.now());

/** Of this clock, where it has lengths of time of its own. */
export const elapsedMsOf = (clock: Clock): (() => number) =>
  clock.elapsedMs === undefined ? monotonicMs : () => clock.elapsedMs?.() ?? monotonicMs();

/** Lets others have the event loop between two long pieces of work. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
