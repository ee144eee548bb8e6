import type { Carrier } from "./delivery.ts";
import { DeliveryFailure } from "./delivery-failure.ts";
import type { Destination } from "./destination.ts";
import type { Collected, ReadPart } from "./part.ts";
import { closedMs, hourMs, placeOf, startOf, toHour } from "./progress.ts";
import type { Cursor, ExportedHour, ExportStore, StreamState } from "./store.ts";
import { untilAborted } from "./until-aborted.ts";

/** Hours that are compared with the store in one pass. */
const comparedAtOnce = 8;
/** How long hours are compared after they were delivered. */
const comparedMs = 7 * 24 * hourMs;
const attemptMs = 60_000;

export interface StreamPassOptions {
  readonly store: ExportStore;
  readonly destination: Destination;
  readonly state: StreamState;
  readonly openCarrier: () => Carrier;
  readonly read: ReadPart;
  readonly nowMs: () => number;
  readonly lagMs: number;
  /** The time of this pass is used up. */
  readonly isOver: () => boolean;
  readonly signal: AbortSignal;
  /** How many hours back the comparison goes on. */
  readonly firstCompared: number;
}

/**
 * One stream of one destination: whole hours, oldest first. An hour is delivered once no call of it
 * can end any more. A row that comes even later is found by comparing counts, and its hour is
 * delivered again, under the same names.
 *
 * The cursor moves after a part was delivered, and never over hours without rows: a clock that is
 * ahead would move it past rows that are still to come. A crash in between sends the part again. Where
 * a wrong clock has moved it back, hours that were delivered and have no more rows are skipped.
 */
export class StreamPass {
  /** Delivered by this pass. */
  rows = 0;
  nextCompared: number;
  /** How far the stored cursor was in the future. */
  aheadMs = 0;
  waitsUntilMs: number | undefined;
  /** Files of a dead disk end with no signal: the delivery that this pass has left behind. */
  unfinished: Promise<unknown> | undefined;
  /** Of parts whose own names were taken. */
  readonly otherNames: string[] = [];
  readonly #options: StreamPassOptions;
  #carrier: Carrier | undefined;
  /** As the store has it. */
  #stored: Cursor;
  /** Of the current hour, delivered under its own names. */
  #ownRows = 0;

  constructor(options: StreamPassOptions) {
    this.#options = options;
    this.nextCompared = options.firstCompared;
    this.#stored = options.state.cursor;
  }

  async run(): Promise<void> {
    const { store, destination, state, isOver } = this.#options;
    const place = await placeOf(store, destination, state, this.#time());
    this.aheadMs = place.aheadMs;
    this.waitsUntilMs = place.waitsUntilMs;
    if (place.waitsUntilMs !== undefined) return;
    let { cursor } = place;
    if (cursor.part > 1 && !hasOtherNames(await this.#known(cursor.hourMs)))
      this.#ownRows = cursor.hourRows;
    while (!isOver()) {
      const next = await this.#step(cursor);
      if (next === undefined) return;
      if (next === "caught-up") return this.#caughtUp(cursor);
      cursor = next;
    }
  }

  #time() {
    const { nowMs, lagMs } = this.#options;
    return { nowMs: nowMs(), lagMs };
  }

  /** The next cursor; undefined when another process has moved this one. */
  async #step(cursor: Cursor): Promise<Cursor | "caught-up" | undefined> {
    const endMs = closedMs(this.#time());
    if (cursor.hourMs >= endMs) return "caught-up";
    const { store, state } = this.#options;
    let from = cursor;
    if (from.part === 1 && from.afterId === "") {
      const firstMs = await store.firstMs(state.stream, from.hourMs, endMs);
      if (firstMs === undefined) return "caught-up";
      from = startOf(toHour(firstMs));
    }
    const known = await this.#known(from.hourMs);
    if (from.part === 1 && known !== undefined) {
      const count = await store.count(state.stream, from.hourMs);
      if (count <= known.known) return this.#move({ to: startOf(from.hourMs + hourMs) });
    }
    const replaces = await this.#owns(known);
    const part = await this.#deliver({ ...from, isLate: false, replaces });
    const hourRows = from.hourRows + (part?.rows ?? 0);
    const rows = part?.rows ?? 0;
    const hour = { hourMs: from.hourMs, rows: this.#ownRows, known: hourRows };
    if (part?.isFull === true)
      return this.#move({
        to: { hourMs: from.hourMs, afterId: part.lastId, part: from.part + 1, hourRows },
        rows,
        hour: hasOtherNames(hour) ? hour : undefined,
      });
    return this.#move({ to: startOf(from.hourMs + hourMs), rows, hour });
  }

  async #move({
    to,
    rows = 0,
    hour,
  }: {
    readonly to: Cursor;
    readonly rows?: number;
    readonly hour?: ExportedHour | undefined;
  }): Promise<Cursor | undefined> {
    const { store, state, nowMs } = this.#options;
    const atMs = nowMs();
    const moved = await store.advance(state, { from: this.#stored, to, rows, atMs, hour });
    if (!moved) return undefined;
    this.#stored = to;
    return to;
  }

  async #caughtUp(cursor: Cursor): Promise<void> {
    await this.#compare(cursor);
    // The rows that could not be delivered are gone, by retention.
    if (this.#options.state.failure !== undefined && this.rows === 0)
      await this.#move({ to: this.#stored });
  }

  async #known(ofMs: number): Promise<ExportedHour | undefined> {
    const { store, state } = this.#options;
    return (await store.hours(state, ofMs)).find((one) => one.hourMs === ofMs);
  }

  /** The hour has its names from this export, which can deliver no fewer rows now. */
  async #owns(hour: ExportedHour | undefined): Promise<boolean> {
    if (hour === undefined || hasOtherNames(hour)) return false;
    return hour.hourMs >= (await this.#options.store.keptFromMs());
  }

  async #deliver({
    hourMs: ofMs,
    afterId,
    part: number,
    isLate,
    replaces,
  }: PartOfHour): Promise<Collected | undefined> {
    const { destination, state, read, openCarrier, signal } = this.#options;
    const { format } = destination;
    const { stream } = state;
    if (number === 1) this.#ownRows = 0;
    this.#carrier ??= openCarrier();
    const { mostRows, mostBytes, packs } = this.#carrier;
    const span = { fromMs: ofMs, toMs: ofMs + hourMs, afterId };
    const isPacked = packs && format === "jsonl";
    const part = await read(span, { mostRows, mostBytes, format, packs: isPacked });
    if (part === undefined) return undefined;
    const { rows, body } = part;
    const attempt = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
    const delivery = this.#carrier.deliver(
      { stream, format, hourMs: ofMs, number, isLate, replaces, rows, body },
      attempt,
    );
    this.unfinished = delivery;
    const otherName = await untilAborted(delivery, attempt);
    this.unfinished = undefined;
    if (otherName === undefined) this.#ownRows += rows;
    else this.otherNames.push(otherName);
    this.rows += rows;
    return part;
  }

  /** Some of the hours of the last days, and in later passes the others. */
  async #compare(cursor: Cursor): Promise<void> {
    const { store, state, destination, isOver } = this.#options;
    const closed = closedMs(this.#time());
    const endMs = Math.min(cursor.hourMs, closed);
    const fromMs = Math.max(closed - comparedMs, toHour(destination.fromMs), 0);
    const hours = (endMs - fromMs) / hourMs;
    if (hours <= 0) return;
    const known = new Map((await store.hours(state, fromMs)).map((hour) => [hour.hourMs, hour]));
    for (let left = Math.min(hours, comparedAtOnce); left > 0 && !isOver(); left--) {
      const ofMs = endMs - ((this.nextCompared % hours) + 1) * hourMs;
      const has = known.get(ofMs)?.known ?? 0;
      const count = await store.count(state.stream, ofMs);
      if (count > has) await this.#deliverAgain(ofMs, count);
      this.nextCompared = (this.nextCompared + 1) % hours;
    }
  }

  async #deliverAgain(ofMs: number, count: number): Promise<void> {
    const { store, state, nowMs } = this.#options;
    // What is left of the hour must not replace the whole of it.
    const isLate = ofMs < (await store.keptFromMs());
    const replaces = await this.#owns(await this.#known(ofMs));
    let [afterId, rows] = ["", 0];
    for (let number = 1; ; number++) {
      const part = await this.#deliver({ hourMs: ofMs, afterId, part: number, isLate, replaces });
      rows += part?.rows ?? 0;
      afterId = part?.lastId ?? afterId;
      if (part?.isFull !== true) break;
    }
    const known = Math.max(count, rows);
    const hour = { hourMs: ofMs, rows: this.#ownRows, known };
    await store.setHour(state, hour, { rows, atMs: nowMs() });
  }
}

interface PartOfHour extends Pick<Cursor, "hourMs" | "afterId" | "part"> {
  readonly isLate: boolean;
  readonly replaces: boolean;
}

const hasOtherNames = (hour: ExportedHour | undefined): boolean =>
  hour !== undefined && hour.rows < hour.known;

const firstPauseMs = 5_000;
export const longestPauseMs = 15 * 60_000;

/** Pauses double; where waiting alone helps nothing, the longest comes at once. */
export function failureOf(
  error: unknown,
  failuresInRow: number,
  random: number,
): { readonly reason: string; readonly pauseMs: number } {
  const jitter = 0.5 + random / 2;
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failuresInRow, 20));
  if (!(error instanceof DeliveryFailure))
    return { reason: String(error), pauseMs: pauseMs * jitter };
  const { message, isFinal, afterMs = 0 } = error;
  const ownMs = (isFinal ? longestPauseMs : pauseMs) * jitter;
  return { reason: message, pauseMs: Math.min(longestPauseMs, Math.max(ownMs, afterMs)) };
}
