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

/** What one question may ask for. */
export const mostSteps = 1_000;
export const mostReceipts = 1_000;

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

export interface ReceiptQuery {
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly provider?: string | undefined;
  /** `ok`, `left`, a code, or `failed` for every code. */
  readonly outcome?: string | undefined;
  /** The beginning of an id, or all of it. */
  readonly idPrefix?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Where the page before this one ended. */
  readonly after?: string | undefined;
  /** The newest first, unless told. */
  readonly oldestFirst?: boolean | undefined;
  readonly limit: number;
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
  /** What was committed but is not in the sums yet is added to them first. */
  usage(query: UsageQuery): Promise<readonly UsagePoint[]>;
  receipts(query: ReceiptQuery): Promise<ReceiptPage>;
  receipt(id: string): Promise<Receipt | undefined>;
  close(): Promise<void>;
}
