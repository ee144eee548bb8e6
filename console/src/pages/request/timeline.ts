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
