import type { CallFilters } from "../call/call-filters.ts";

/** Why a model could not be called. For operators only: the caller just learns that it could not be. */
export const rejectionReasons = [
  "unknown_model",
  "not_allowed",
  "needs_price",
  "no_route",
  "retired",
] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** A call that was refused before admission: it has no receipt. Never a body, a prompt or a secret. */
export interface Rejection {
  /** The request's own id, which contains its time. */
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The name that was asked for, as shown; "" where it is unknown. */
  readonly model: string;
  /** "" for a path that does not exist. */
  readonly endpoint: string;
  /** Of a call to a chat model; "" for others, or where several differ. */
  readonly dialect: string;
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** For operators alone; "" where there is no more to say than the code, or several differ. */
  readonly reason: RejectionReason | "";
  /** 1, or how many calls of the same key, code and minute this row stands for. */
  readonly count: number;
}

/** How many calls of one key were refused within a minute, for one reason and model. */
export interface RejectionCount {
  readonly minuteMs: number;
  readonly accountId: string;
  readonly keyId: string;
  /** A model of the catalog, or "": callers can make up as many names as they like. */
  readonly model: string;
  readonly code: string;
  readonly status: number;
  readonly count: number;
}

/** What is written in one transaction. */
export interface RejectionBatch {
  /** A row that is there already gets the count added. */
  readonly rows: readonly Rejection[];
  readonly counts: readonly RejectionCount[];
  /** When calls of these keys were refused. Temporary keys are left out by the store. */
  readonly keys: readonly { readonly keyId: string; readonly lastMs: number }[];
}

export const minuteMs = 60_000;
const dayMs = 86_400_000;

export const rowsKeptMs = 30 * dayMs;
/** The current minute, and sixty that are over. */
export const minutesKeptMs = 61 * minuteMs;
/** The longest chart and the period before it. */
export const hoursKeptMs = 181 * dayMs;

/** How much is kept in the database. The oldest goes first. */
export interface RejectionBounds {
  readonly rows: number;
  readonly rowsOfAccount: number;
  /** Of minutes, and as many of hours. */
  readonly counts: number;
  readonly countsOfAccount: number;
}

export const usualBounds: RejectionBounds = {
  rows: 200_000,
  rowsOfAccount: 10_000,
  counts: 200_000,
  countsOfAccount: 20_000,
};

/** Calls of a key that were refused lately, by reason. */
export interface RecentRejections {
  readonly keyId: string;
  readonly status: number;
  readonly code: string;
  readonly count: number;
}

/** Implemented by the store. */
export interface RecentQuery {
  readonly accountId?: string | undefined;
  readonly fromMs: number;
}

export interface RejectionStore {
  add(batch: RejectionBatch): Promise<void>;
  /** Deletes a step of what is too old or too much; false when nothing is left to delete. */
  erase(nowMs: number): Promise<boolean>;
  /** By key, the most frequent first; of all accounts by default. */
  recent(query: RecentQuery): Promise<readonly RecentRejections[]>;
  /** When a call of each key was last refused, by its id; absent: never. */
  lastRejections(): Promise<ReadonlyMap<string, number>>;
}

export interface RejectionFilters extends CallFilters {
  readonly code?: string | undefined;
}

export interface RejectionQuery extends RejectionFilters {
  /** Where the page before this one ended. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface RejectionPage {
  /** Newest first. */
  readonly rejections: readonly Rejection[];
  /** For the next page; undefined at the end. */
  readonly after: string | undefined;
}

/** Of calls, which are more than the rows. */
export interface RejectionTotal {
  readonly count: number;
  /** Only the newest rows were looked at: there may be more. */
  readonly isCapped: boolean;
}

/** Rows that are looked at for a total. */
export const mostCounted = 100_000;

export interface RejectedQuery {
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly fromMs: number;
  readonly toMs: number;
  /** Minutes are known of the last hour alone. */
  readonly grain: "minute" | "hour";
  readonly by: "none" | "model" | "key" | "account";
  /** Names that are counted one by one, however few calls of theirs were refused. */
  readonly names: readonly string[];
}

/** How many calls were refused within a minute or an hour, by one of a group. */
export interface RejectedPoint {
  readonly startMs: number;
  /** Of the model, key or account; `otherNames` for all that are not counted one by one. */
  readonly name: string;
  readonly count: number;
}

export const otherNames = "others";
/** Counted one by one in an answer. */
export const mostNames = 20;
export const mostRows = 1_000;

/** Reads for people, beside the calls. What is not written yet is written first. */
export interface RejectionReports {
  /** As that of the store, without holding up the thread that serves calls. */
  recent(query: RecentQuery): Promise<readonly RecentRejections[]>;
  rejections(query: RejectionQuery): Promise<RejectionPage>;
  countRejections(query: RejectionFilters): Promise<RejectionTotal>;
  rejected(query: RejectedQuery): Promise<readonly RejectedPoint[]>;
}
