import type { Carrier } from "./delivery.ts";
import { DeliveryFailure } from "./delivery-failure.ts";
import type { Destination } from "./destination.ts";
import type { Collected, ReadPart } from "./part.ts";
import type { Cursor, ExportedHour, ExportStore, StreamState } from "./store.ts";

const hourMs = 3_600_000;
const toHour = (ms: number) => ms - (ms % hourMs);

/** Hours that are compared with the store in one pass. */
const comparedAtOnce = 8;
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
 * The cursor moves after a part was delivered. A crash in between sends the part again.
 */
export class StreamPass {
  /** How long hours are compared after they were delivered. */
  static readonly comparedMs = 7 * 24 * hourMs;
  /** Delivered by this pass. */
  rows = 0;
  nextCompared: number;
  readonly #options: StreamPassOptions;
  #carrier: Carrier | undefined;

  constructor(options: StreamPassOptions) {
    this.#options = options;
    this.nextCompared = options.firstCompared;
  }

  async run(): Promise<void> {
    const { isOver, state } = this.#options;
    let cursor: Cursor | undefined = state.cursor;
    while (!isOver()) {
      const next = await this.#step(cursor);
      if (next === undefined) return;
      if (next === "caught-up") return this.#compare(cursor);
      cursor = next;
    }
  }

  /** Hours that begin before it are complete, as far as time alone can say. */
  #closedMs(): number {
    return toHour(Math.max(0, this.#options.nowMs() - this.#options.lagMs));
  }

  /** The next cursor; undefined when another process has moved this one. */
  async #step(from: Cursor): Promise<Cursor | "caught-up" | undefined> {
    const closedMs = this.#closedMs();
    if (from.hourMs >= closedMs) return "caught-up";
    const { store, state } = this.#options;
    if (from.part === 1 && from.afterId === "") {
      const firstMs = await store.firstMs(state.stream, from.hourMs, closedMs);
      const firstHour = firstMs === undefined ? closedMs : toHour(firstMs);
      if (firstHour > from.hourMs) return this.#move(from, { to: startOf(firstHour) });
    }
    const part = await this.#deliver({ ...from, isLate: false });
    const hourRows = from.hourRows + (part?.rows ?? 0);
    const rows = part?.rows ?? 0;
    if (part?.isFull === true)
      return this.#move(from, {
        to: { hourMs: from.hourMs, afterId: part.lastId, part: from.part + 1, hourRows },
        rows,
      });
    const closed = { hourMs: from.hourMs, rows: hourRows, known: hourRows };
    return this.#move(from, { to: startOf(from.hourMs + hourMs), rows, closed });
  }

  async #move(
    from: Cursor,
    { to, rows = 0, closed }: { to: Cursor; rows?: number; closed?: ExportedHour },
  ): Promise<Cursor | undefined> {
    const { store, state, nowMs } = this.#options;
    const moved = await store.advance(state, { from, to, rows, atMs: nowMs(), closed });
    return moved ? to : undefined;
  }

  async #deliver({
    hourMs: ofMs,
    afterId,
    part: number,
    isLate,
  }: Pick<Cursor, "hourMs" | "afterId" | "part"> & { readonly isLate: boolean }): Promise<
    Collected | undefined
  > {
    const { destination, state, read, openCarrier, signal } = this.#options;
    const { format } = destination;
    const { stream } = state;
    this.#carrier ??= openCarrier();
    const { mostRows, mostBytes, packs } = this.#carrier;
    const span = { fromMs: ofMs, toMs: ofMs + hourMs, afterId };
    const isPacked = packs && format === "jsonl";
    const part = await read(span, { mostRows, mostBytes, format, packs: isPacked });
    if (part === undefined) return undefined;
    const { rows, body } = part;
    const attempt = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
    await this.#carrier.deliver(
      { stream, format, hourMs: ofMs, number, isLate, rows, body },
      attempt,
    );
    this.rows += rows;
    return part;
  }

  /** Some of the hours that were delivered lately, and in later passes the others. */
  async #compare({ hourMs: endMs }: Cursor): Promise<void> {
    const { store, state, destination, isOver } = this.#options;
    const most = StreamPass.comparedMs / hourMs;
    const known = new Map(
      (await store.hours(state, endMs - StreamPass.comparedMs)).map((hour) => [hour.hourMs, hour]),
    );
    for (let left = comparedAtOnce; left > 0 && !isOver(); left--) {
      const ofMs = endMs - (this.nextCompared + 1) * hourMs;
      const has = known.get(ofMs)?.known ?? 0;
      const count = ofMs < destination.fromMs ? 0 : await store.count(state.stream, ofMs);
      if (count > has) await this.#deliverAgain(ofMs, count);
      this.nextCompared = (this.nextCompared + 1) % most;
    }
  }

  async #deliverAgain(ofMs: number, count: number): Promise<void> {
    const { store, state, nowMs } = this.#options;
    // What is left of the hour must not replace the whole of it.
    const isLate = ofMs < (await store.keptFromMs());
    let [afterId, rows] = ["", 0];
    for (let number = 1; ; number++) {
      const part = await this.#deliver({ hourMs: ofMs, afterId, part: number, isLate });
      rows += part?.rows ?? 0;
      afterId = part?.lastId ?? afterId;
      if (part?.isFull !== true) break;
    }
    const known = Math.max(count, rows);
    await store.setHour(state, { hourMs: ofMs, rows, known }, { rows, atMs: nowMs() });
  }
}

const startOf = (ofMs: number): Cursor => ({ hourMs: ofMs, afterId: "", part: 1, hourRows: 0 });

const firstPauseMs = 5_000;
const longestPauseMs = 15 * 60_000;

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
