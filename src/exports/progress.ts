import type { Destination } from "./destination.ts";
import type { Cursor, ExportStore, StreamState } from "./store.ts";

export const hourMs = 3_600_000;
export const toHour = (ms: number) => ms - (ms % hourMs);

/** Of each stream, the newest delivered ones by their hour. They are compared for seven days. */
export const mostKnownHours = 14 * 24;

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
  /** Nothing is delivered before this time; undefined: it goes on now. */
  readonly waitsUntilMs: number | undefined;
}

/**
 * Where a stream continues. A cursor in the future comes from a clock that was ahead, or the clock is
 * behind now: then the hour after the last complete one that was delivered is next. If hours were
 * forgotten, and all known ones are in the future, it waits: it would deliver the forgotten ones again.
 */
export async function placeOf(
  store: Pick<ExportStore, "hours">,
  { fromMs }: Pick<Destination, "fromMs">,
  state: StreamState,
  time: Time,
): Promise<Place> {
  const { cursor } = state;
  const aheadMs = cursor.hourMs - Math.max(time.nowMs, toHour(fromMs));
  if (aheadMs <= 0) return { cursor, aheadMs: 0, waitsUntilMs: undefined };
  const endMs = closedMs(time);
  const ends = (await store.hours(state, 0)).map((hour) => hour.hourMs + hourMs);
  const next = ends.filter((ms) => ms <= endMs);
  const waits = next.length === 0 && ends.length >= mostKnownHours;
  return {
    cursor: startOf(Math.max(toHour(fromMs), ...next)),
    aheadMs,
    waitsUntilMs: waits ? Math.min(...ends) + time.lagMs : undefined,
  };
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
