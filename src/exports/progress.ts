import type { Destination } from "./destination.ts";
import type { Cursor, ExportStore, StreamState } from "./store.ts";

export const hourMs = 3_600_000;
export const toHour = (ms: number) => ms - (ms % hourMs);

export interface Time {
  readonly nowMs: number;
  /** How long after its end an hour is due. */
  readonly lagMs: number;
}

/** Hours that begin before it are complete, as far as time alone can say. */
export const closedMs = ({ nowMs, lagMs }: Time): number => toHour(Math.max(0, nowMs - lagMs));

export const startOf = (ofMs: number): Cursor => ({
  hourMs: ofMs,
  afterId: "",
  part: 1,
  hourRows: 0,
});

export interface Place {
  /** What comes next. */
  readonly cursor: Cursor;
  /** How far the stored cursor is in the future; 0: it is right. */
  readonly aheadMs: number;
}

/**
 * Where a stream continues. A clock that was ahead has delivered hours that were not over, so its
 * cursor is in the future now: then the hour after the last complete one that was delivered is next.
 */
export async function placeOf(
  store: Pick<ExportStore, "hours">,
  { fromMs }: Pick<Destination, "fromMs">,
  state: StreamState,
  time: Time,
): Promise<Place> {
  const { cursor } = state;
  const aheadMs = cursor.hourMs - Math.max(time.nowMs, toHour(fromMs));
  if (aheadMs <= 0) return { cursor, aheadMs: 0 };
  const endMs = closedMs(time);
  const delivered = await store.hours(state, 0);
  const next = delivered.map((hour) => hour.hourMs + hourMs).filter((ms) => ms <= endMs);
  return { cursor: startOf(Math.max(toHour(fromMs), ...next)), aheadMs };
}

export interface Progress {
  /** All rows from before it were delivered. */
  readonly toMs: number;
  /** For how long the next hour with rows has been due; 0: none is. */
  readonly lagMs: number;
  readonly aheadMs: number;
}

export async function progressOf(
  store: Pick<ExportStore, "hours" | "firstMs">,
  destination: Pick<Destination, "fromMs">,
  state: StreamState,
  time: Time,
): Promise<Progress> {
  const { cursor, aheadMs } = await placeOf(store, destination, state, time);
  const endMs = closedMs(time);
  const firstMs =
    cursor.hourMs < endMs ? await store.firstMs(state.stream, cursor.hourMs, endMs) : undefined;
  if (firstMs === undefined) return { toMs: Math.max(cursor.hourMs, endMs), lagMs: 0, aheadMs };
  const toMs = toHour(firstMs);
  return { toMs, lagMs: Math.max(0, time.nowMs - time.lagMs - (toMs + hourMs)), aheadMs };
}
