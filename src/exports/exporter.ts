import { type Clock, monotonicMs } from "../base/clock.ts";
import { toDateText } from "../base/dates.ts";
import type { Log } from "../base/log.ts";
import type { Carrier } from "./delivery.ts";
import { DeliveryFailure } from "./delivery-failure.ts";
import type { Destination, Stream } from "./destination.ts";
import type { ReadPart } from "./part.ts";
import { mostKnownHours } from "./progress.ts";
import type { ExportStore, StreamState } from "./store.ts";
import { failureOf, longestPauseMs, StreamPass } from "./stream-pass.ts";

export interface ExporterOptions {
  readonly store: ExportStore;
  readonly sources: Readonly<Record<Stream, ReadPart>>;
  /** Throws a `DeliveryFailure` when a secret it needs is not there. */
  readonly openCarrier: OpenCarrier;
  readonly clock: Clock;
  /** How long after its end an hour can still get rows: the longest call, and some more. */
  readonly lagMs: number;
  readonly log: Log;
  /** From 0 to 1, for the pauses between attempts. */
  readonly random?: () => number;
}

/** `isNew`: nothing was delivered to it yet. */
export type OpenCarrier = (destination: Destination, isNew: boolean) => Carrier;

export interface PassResult {
  /** Delivered by this pass, by destination. */
  readonly rows: ReadonlyMap<string, number>;
}

/** One destination works no longer than this at a time; it goes on with the next pass. */
const budgetMs = 60_000;

/**
 * Moves every destination on by one pass. Destinations do not wait for each other within it, and a
 * pass is bounded: one that hangs delays the others by the time limit of one attempt. Only one
 * process runs a pass at a time; the cursors are in the store, so any process can run the next.
 */
export class Exporter {
  readonly #options: ExporterOptions;
  /** By stream, as are the others: those whose failure is in the log. */
  readonly #failing = new Set<string>();
  /** Deliveries that were given up and have not ended, by destination. */
  readonly #unfinished = new Map<string, Promise<unknown>>();
  /** Those whose cursor is in the future, with the warning that is in the log. */
  readonly #ahead = new Map<string, keyof typeof aheadTexts>();
  /** Of each stream: which of the recent hours is compared next. */
  readonly #compared = new Map<string, number>();

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  /** Undefined when another pass is running. `isForced`: without waiting for the next attempt. */
  async pass(options: {
    readonly signal: AbortSignal;
    readonly name?: string | undefined;
    readonly isForced?: boolean;
  }): Promise<PassResult | undefined> {
    const rows = new Map<string, number>();
    const ran = await this.#options.store.alone(async () => {
      const { store } = this.#options;
      const states = await store.states();
      const due = (await store.list()).filter(
        ({ name, pausedAtMs }) =>
          pausedAtMs === undefined && (options.name === undefined || name === options.name),
      );
      await Promise.all(
        due.map(async (destination) => {
          const own = states.filter(({ destinationId }) => destinationId === destination.id);
          rows.set(destination.name, await this.#run(destination, own, options));
        }),
      );
    });
    return ran ? { rows } : undefined;
  }

  async #run(
    destination: Destination,
    states: readonly StreamState[],
    { signal, isForced = false }: { readonly signal: AbortSignal; readonly isForced?: boolean },
  ): Promise<number> {
    const { store, sources, clock, lagMs } = this.#options;
    const endMs = monotonicMs() + budgetMs;
    const isNew = states.every((state) => state.rows === 0);
    let rows = 0;
    for (const state of states) {
      if (signal.aborted) break;
      if (!isForced && isResting(state, clock.nowMs())) continue;
      const place = placeName(state);
      const pass = new StreamPass({
        store,
        destination,
        state,
        openCarrier: () => this.#options.openCarrier(destination, isNew),
        read: sources[state.stream],
        nowMs: () => clock.nowMs(),
        lagMs,
        isOver: () => signal.aborted || monotonicMs() >= endMs,
        signal,
        firstCompared: this.#compared.get(place) ?? 0,
      });
      try {
        if (this.#unfinished.has(destination.id))
          throw new DeliveryFailure("an earlier delivery hangs and has not ended yet");
        await pass.run();
        this.#compared.set(place, pass.nextCompared);
        this.#worked(destination, state, pass.rows);
        if (pass.rows > 0) await store.forgetHours(state, mostKnownHours);
      } catch (error) {
        if (pass.unfinished !== undefined) this.#leave(destination, pass.unfinished);
        if (!signal.aborted) await this.#failed(destination, state, error);
      }
      this.#warnIfAhead(destination, state, pass);
      this.#warnOfOthers(destination, state, pass.otherNames);
      rows += pass.rows;
    }
    return rows;
  }

  /** One at a time: each may occupy a thread of this process for as long as its disk hangs. */
  #leave({ id }: Destination, delivery: Promise<unknown>): void {
    const ended = () => void this.#unfinished.delete(id);
    this.#unfinished.set(id, delivery);
    delivery.then(ended, ended);
  }

  #warnIfAhead(
    { name }: Destination,
    state: StreamState,
    { aheadMs, waitsUntilMs }: StreamPass,
  ): void {
    const place = placeName(state);
    if (aheadMs === 0) return void this.#ahead.delete(place);
    const what = waitsUntilMs === undefined ? "continues" : "waits";
    if (this.#ahead.get(place) === what) return;
    this.#ahead.set(place, what);
    this.#options.log.warn(aheadTexts[what], {
      export: name,
      stream: state.stream,
      ahead_s: Math.ceil(aheadMs / 1000),
      ...(waitsUntilMs === undefined ? {} : { waits_until: toDateText(waitsUntilMs) }),
    });
  }

  #warnOfOthers({ name }: Destination, { stream }: StreamState, names: readonly string[]): void {
    if (names.length === 0) return;
    this.#options.log.warn(
      "the destination has other content under the names of this export: nothing was replaced, and the rows have other names",
      { export: name, stream, files: names.length, first: names[0] },
    );
  }

  #worked({ name }: Destination, state: StreamState, rows: number): void {
    if (rows === 0 || !this.#failing.delete(placeName(state))) return;
    this.#options.log.info("the export works again", { export: name, stream: state.stream });
  }

  async #failed({ name }: Destination, state: StreamState, error: unknown): Promise<void> {
    const { store, clock, log, random = Math.random } = this.#options;
    const { reason, pauseMs } = failureOf(error, state.failuresInRow, random());
    const atMs = clock.nowMs();
    await store.fail(state, { failure: reason, atMs, retryAtMs: atMs + pauseMs });
    const place = placeName(state);
    if (this.#failing.has(place)) return;
    this.#failing.add(place);
    log.warn("the export fails, and is tried again until it works", {
      export: name,
      stream: state.stream,
      detail: reason,
    });
  }
}

const aheadTexts = {
  continues:
    "the clock was ahead, or is behind now: the export continues after the last complete hour that it delivered",
  waits:
    "the clock is behind, or was ahead for weeks: the export waits, so that nothing is delivered again",
};

/** Ids are never used again, names of exports are. */
const placeName = ({ destinationId, stream }: StreamState) => `${destinationId} ${stream}`;

/** A time beyond the longest pause comes from a clock that was ahead. */
const isResting = ({ retryAtMs }: StreamState, nowMs: number) =>
  nowMs < retryAtMs && retryAtMs - nowMs <= longestPauseMs;
