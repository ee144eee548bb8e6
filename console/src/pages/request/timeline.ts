export interface TimelineParts {
  /** Of the whole bar, from 0 to 1. */
  readonly waitingShare: number;
  readonly waitingMs: number;
  readonly answeringMs: number;
}

/** Where no byte went out, all of it was waiting. */
export function timelineOf(firstByteMs: number | null, durationMs: number): TimelineParts {
  const waitingMs = Math.min(firstByteMs ?? durationMs, durationMs);
  return {
    waitingShare: durationMs === 0 ? (firstByteMs === null ? 1 : 0) : waitingMs / durationMs,
    waitingMs,
    answeringMs: durationMs - waitingMs,
  };
}

interface AttemptTimes {
  readonly started_ms: number | null;
  readonly duration_ms: number | null;
}

export interface AttemptBar {
  /** Of the whole bar, from 0 to 1. */
  readonly from: number;
  readonly share: number;
  readonly startedMs: number;
  readonly durationMs: number;
}

/** Undefined where the receipt is older than the times of attempts, or no target was asked. */
export function attemptBarOf(attempt: AttemptTimes, totalMs: number): AttemptBar | undefined {
  const { started_ms: startedMs, duration_ms: durationMs } = attempt;
  if (startedMs === null || durationMs === null) return undefined;
  const shareOf = (ms: number) => (totalMs === 0 ? 1 : Math.min(1, ms / totalMs));
  const from = totalMs === 0 ? 0 : shareOf(startedMs);
  return { from, share: Math.min(1 - from, shareOf(durationMs)), startedMs, durationMs };
}
