import type { StreamState } from "./store.ts";

const hourMs = 3_600_000;

export interface Lag {
  /** How long after its end an hour is due. */
  readonly lagMs: number;
  readonly nowMs: number;
}

/** For how long the hour at the cursor has been due; 0 before the first pass has found an hour. */
export const lagOf = ({ cursor }: Pick<StreamState, "cursor">, { lagMs, nowMs }: Lag): number =>
  cursor.hourMs === 0 ? 0 : Math.max(0, nowMs - lagMs - (cursor.hourMs + hourMs));
