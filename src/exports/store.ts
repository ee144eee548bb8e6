import type { AuditRecord } from "../base/audit.ts";
import type { Destination, Stream } from "./destination.ts";

/** A run of failures ends where nothing was tried for so long: the process was off, or it was paused. */
export const longestRestMs = 24 * 3_600_000;

/** How far a stream is: rows of this hour after `afterId` come next, as part `part`. */
export interface Cursor {
  readonly hourMs: number;
  /** "" at the start of an hour. */
  readonly afterId: string;
  readonly part: number;
  /** Of this hour, in the parts before. */
  readonly hourRows: number;
}

/** One stream of one destination. */
export interface StreamState {
  readonly destinationId: string;
  readonly stream: Stream;
  readonly cursor: Cursor;
  /** Delivered in all, repetitions included. */
  readonly rows: number;
  readonly deliveredAtMs: number | undefined;
  /** In all. */
  readonly failures: number;
  /** Since it last worked. */
  readonly failuresInRow: number;
  /** Why the newest attempt failed; undefined: it did not. */
  readonly failure: string | undefined;
  /** The first failure of the current run: since it last worked, or since it last rested. */
  readonly failingSinceMs: number | undefined;
  readonly retryAtMs: number;
}

/** An hour that was delivered. */
export interface ExportedHour {
  readonly hourMs: number;
  /** Delivered under the names of the hour itself; fewer than `known` where others have these names. */
  readonly rows: number;
  /** The largest count of rows that the hour was compared with. */
  readonly known: number;
}

export interface Advance {
  readonly from: Cursor;
  readonly to: Cursor;
  /** Delivered since `from`. */
  readonly rows: number;
  readonly atMs: number;
  /** The hour that is complete with it, or that has other names so far. */
  readonly hour?: ExportedHour | undefined;
}

export interface Failed {
  readonly failure: string;
  readonly atMs: number;
  readonly retryAtMs: number;
}

/** Rows of an hour, or of what is left of it. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly afterId: string;
}

type StreamOf = Pick<StreamState, "destinationId" | "stream">;

/** Implemented by the store. */
export interface ExportStore {
  list(): Promise<readonly Destination[]>;
  /** False when the name is taken; `full` when there are too many. */
  add(destination: Destination, audit: AuditRecord): Promise<boolean | "full">;
  /** False when it is in this state already, or gone. */
  setPaused(id: string, pausedAtMs: number | undefined, audit: AuditRecord): Promise<boolean>;
  remove(id: string, audit: AuditRecord): Promise<boolean>;
  states(): Promise<readonly StreamState[]>;
  /** False when the cursor is no longer `from`: another process has moved it, or it is gone. */
  advance(of: StreamOf, advance: Advance): Promise<boolean>;
  fail(of: StreamOf, failed: Failed): Promise<void>;
  hours(of: StreamOf, fromMs: number): Promise<readonly ExportedHour[]>;
  /** After an hour was delivered again. */
  setHour(
    of: StreamOf,
    hour: ExportedHour,
    delivered: { rows: number; atMs: number },
  ): Promise<void>;
  /** Of a stream, all but the newest. By number: the clock may be wrong. */
  forgetHours(of: StreamOf, most: number): Promise<void>;
  /** Runs it, unless another process does; whether it ran. Ends with the process that runs it. */
  alone(work: () => Promise<void>): Promise<boolean>;
  /** The moment of the first row from one moment to another. */
  firstMs(stream: Stream, fromMs: number, toMs: number): Promise<number | undefined>;
  /** How many rows an hour has, by the sums where there are some. */
  count(stream: Stream, hourMs: number): Promise<number>;
  audit(span: Span, limit: number): Promise<readonly AuditRecord[]>;
  /** Random, and kept by backups and copies. */
  storeId(): Promise<string>;
  /** Receipts of some accounts from before it are gone. */
  keptFromMs(): Promise<number>;
}
