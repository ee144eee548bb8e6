import type { ZoneOffset } from "../base/time-zone.ts";
import type { CallFilters } from "../call/call-filters.ts";
import type { Receipt } from "./receipt.ts";

/** Upper ends, in milliseconds, of what durations are counted by; the last count is of all above. */
export const latencyBoundsMs = [
  25, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200,
] as const;

/** The shortest time where there is none: any that comes is shorter. The longest is then 0. */
export const noShortestMs = Number.MAX_SAFE_INTEGER;

/** Between which times all that were counted lie: counts by steps alone are too coarse. */
export interface TimeEnds {
  readonly shortestMs: number;
  readonly longestMs: number;
  readonly shortestFirstByteMs: number;
  readonly longestFirstByteMs: number;
}

/** Stands for all but the dearest names, where there are more of a group than a chart can show. */
export const othersName = "others";
export const mostNames = 20;
/** The same where a list shows each of them. */
export const mostListed = 1_000;

/** What one question may ask for. */
export const mostSteps = 1_000;
export const mostReceipts = 1_000;
/** Hours that may be read for fewer steps: days of a time zone, or one sum. */
export const mostHours = 100 * 24;
/** Sorting and counting look at no more receipts than this, the newest. */
export const mostLooked = 100_000;

export type UsageGrain = "minute" | "hour" | "day";
export type UsageGroup = "none" | "model" | "key" | "account";

export interface UsageQuery {
  /** Of one account; of all unless told. */
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  /** Steps of time are told whole, from the one that this moment lies in. */
  readonly fromMs: number;
  /** Steps that begin before it are told; at most `mostSteps` in all. */
  readonly toMs: number;
  /** Minutes are known of the last hour alone. */
  readonly grain: UsageGrain;
  readonly by: UsageGroup;
  /**
   * With days: of which time zone, by its offsets from `fromMs` on, in whole hours. A point's start
   * is then the midnight of its date in UTC.
   */
  readonly dayOffsets?: readonly ZoneOffset[] | undefined;
  /** One step from `fromMs` to `toMs`, and up to `mostListed` names. */
  readonly isWhole?: boolean | undefined;
}

/** What was used within one step of time, by one of a group. */
export interface UsagePoint extends TimeEnds {
  readonly startMs: number;
  /** Of the model, key or account, or `othersName`; "" when nothing is told apart. */
  readonly name: string;
  readonly receipts: number;
  readonly failures: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly charged: bigint;
  /** How many took so long, by `latencyBoundsMs`, and one more. */
  readonly durations: readonly number[];
  /** The same of the time to the first byte, of answers that streamed. */
  readonly firstBytes: readonly number[];
}

/** What one provider did from an hour on. */
export interface ProviderSums {
  readonly provider: string;
  /** Calls for which it was called last, and how many of these failed. */
  readonly receipts: number;
  readonly failures: number;
  /** Failed attempts that were followed by another one. */
  readonly fallbacks: number;
  /** Of the receipts whose vendor cost is known. */
  readonly vendorCost: bigint;
  readonly vendorKnown: number;
  /** Cost beyond what could be charged. */
  readonly shortfall: bigint;
  readonly shortestMs: number;
  readonly longestMs: number;
  /** How many took so long, by `latencyBoundsMs`, and one more. */
  readonly durations: readonly number[];
}

export interface ReceiptFilters extends CallFilters {
  readonly provider?: string | undefined;
  /** `ok`, `left`, a code, or `failed` for every code. */
  readonly outcome?: string | undefined;
}

export interface ReceiptQuery extends ReceiptFilters {
  /** Where the page before this one ended. */
  readonly after?: string | undefined;
  /** Default: newest first. */
  readonly oldestFirst?: boolean | undefined;
  readonly limit: number;
}

/** By what people paid, or by how long it took. */
export type RankColumn = "charged" | "duration";

export interface RankQuery extends ReceiptFilters {
  readonly by: RankColumn;
  /** Default: largest first. */
  readonly isAscending?: boolean | undefined;
  readonly after?: RankMark | undefined;
  readonly limit: number;
}

/** Where a page of ranked receipts ended. */
export interface RankMark {
  readonly value: bigint;
  readonly id: string;
  /** The newest receipt when the first page was read: later ones are left out of the next. */
  readonly newestId: string;
}

export interface RankedPage {
  readonly receipts: readonly Receipt[];
  /** Undefined at the end. */
  readonly after: RankMark | undefined;
}

export interface ReceiptCount {
  readonly count: number;
  /** There may be more: no further receipts were looked at. */
  readonly isCapped: boolean;
}

export interface SpendQuery {
  readonly accountIds: readonly string[];
  /** Whole UTC days, starting with the day of this moment. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface ReceiptPage {
  readonly receipts: readonly Receipt[];
  /** For the next page; undefined at the end. A page may be short, or empty, and yet have a next. */
  readonly after: string | undefined;
}

/**
 * Reads for people: by a connection and on a thread of its own, so that no call waits for a chart.
 * Sums come from rollups; receipts are read from those hours alone that have some that match.
 */
export interface LedgerReports {
  /**
   * Writes sums that lack receipts, though not more often than the store can bear. Resolves with the
   * moment since which receipts of the account, or of any, are still missing in the answers to what
   * is asked now; undefined when none is.
   */
  catchUp(accountId: string | undefined): Promise<number | undefined>;
  /** Catches up first. */
  usage(query: UsageQuery): Promise<readonly UsagePoint[]>;
  /** By provider, whole hours from this moment on. */
  providers(fromMs: number): Promise<readonly ProviderSums[]>;
  receipts(query: ReceiptQuery): Promise<ReceiptPage>;
  /** Among the newest `mostLooked` that there were when the first page was read. */
  ranked(query: RankQuery): Promise<RankedPage>;
  count(query: ReceiptFilters): Promise<ReceiptCount>;
  /** In nano-USD, by the id of each key that was charged anything. */
  keySpending(query: SpendQuery): Promise<ReadonlyMap<string, bigint>>;
  receipt(id: string): Promise<Receipt | undefined>;
  close(): Promise<void>;
}
