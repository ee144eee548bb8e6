import type { AuditRecord } from "../base/audit.ts";
import { Problem } from "../base/problem.ts";
import type { Limits } from "../call/limits.ts";
import type { Price } from "../call/price.ts";
import type { Receipt } from "./receipt.ts";
import type { ReceiptMark } from "./retention.ts";
import type { FoldMark, Rollup, RollupStore, Sums, Unwritten } from "./rollups.ts";
import type { CountedReceipt } from "./tokens/reasoning.ts";

export const entryKinds = ["credit", "withdrawal", "refund"] as const;
export type EntryKind = (typeof entryKinds)[number];

/** Money in or out of an account, other than by a receipt. Never changed, never removed. */
export interface Entry {
  readonly id: string;
  readonly accountId: string;
  readonly kind: EntryKind;
  /** Nano-USD; below zero for a withdrawal. */
  readonly nano: bigint;
  /** Unique within the account: the same one again is the same entry. */
  readonly reference: string;
  readonly note: string;
  readonly createdAtMs: number;
}

/**
 * The part of an account's balance that a process may spend: all of it, on one machine. What is
 * left of it is `granted` − `spent`. In the store `spent` is the sum of the account's rollups: it
 * lacks the receipts of the last seconds, until they are added in bulk or recounted after a crash.
 */
export interface Lease {
  readonly accountId: string;
  readonly granted: bigint;
  readonly spent: bigint;
}

/** What the budget of a key or an account has used up in one of its periods. */
export interface BudgetSpend {
  readonly ownerId: string;
  readonly periodStartMs: number;
  readonly spent: bigint;
}

/** An account, or a key of it. */
export interface LimitsOwner {
  readonly accountId: string;
  readonly keyId: string | undefined;
}

export interface LimitsChange {
  readonly owner: LimitsOwner;
  readonly limits: Limits | undefined;
  readonly audit: AuditRecord;
  readonly nowMs: () => number;
  /** Of receipts that stand, what the stored sums lack. */
  readonly unwritten: Unwritten;
  /** Called in the same turn as the commit: no receipt is written in between. */
  readonly onSet: (set: LimitsSet) => void;
}

export interface LimitsSet {
  readonly version: number;
  readonly nowMs: number;
  /** Of a budget: the present period and the one before. */
  readonly spends: readonly BudgetSpend[];
}

/** A request with an Idempotency-Key: running, then done, with its reply where one is kept. */
export interface Claim {
  /** Of the caller's API key and the header; neither can be read from it. */
  readonly id: string;
  readonly bodyHash: string;
  readonly requestId: string;
  readonly isDone: boolean;
  /** Encrypted under the caller's own key. */
  readonly reply: Uint8Array | undefined;
  readonly expiresAtMs: number;
}

export interface ReceiptWrite {
  readonly type: "receipt";
  readonly receipt: Receipt;
  /** Its budgets, as they are at the moment of the commit: one may be set until then. */
  readonly hold: {
    readonly budgets: readonly { readonly ownerId: string; readonly periodStartMs: number }[];
  };
  /** Written together with it. */
  readonly claim?: Claim | undefined;
}

export type LedgerWrite =
  | ReceiptWrite
  | { readonly type: "claim"; readonly claim: Claim }
  | { readonly type: "claim-release"; readonly id: string }
  /** Its commit was never confirmed and its reply was never sent: it must not stand. */
  | { readonly type: "void"; readonly of: ReceiptWrite };

/** What was written is there, but the disk has not confirmed it: it must be asked again. */
export class NotSyncedError extends Error {
  override readonly name = "NotSyncedError";
}

/** The store did not answer: what was to be written stands, or it does not. */
export class UnconfirmedError extends Error {
  override readonly name = "UnconfirmedError";
}

/** One of the writes can never be written as it is; the store itself is well. */
export class UnwritableError extends Error {
  override readonly name = "UnwritableError";
}

/** Requests of other processes have these Idempotency-Keys: those of this one must not be served. */
export class ClaimsLostError extends Error {
  override readonly name = "ClaimsLostError";
  readonly lost: readonly LedgerWrite[];

  constructor(lost: readonly LedgerWrite[]) {
    super("other requests have these claims");
    this.lost = lost;
  }
}

/** Another process has opened the database: this one may write nothing any more, for good. */
export class FencedError extends Problem {
  constructor(
    message = "Another process has opened the database, so this one has stopped writing. Only one gateway can use a database at a time.",
  ) {
    super({ code: "failed", message });
  }
}

export type EntryOutcome =
  | { readonly result: "added" | "known"; readonly entry: Entry }
  | { readonly result: "other"; readonly entry: Entry }
  | { readonly result: "short" | "too-much"; readonly balance: bigint }
  /** There is enough, but other processes have lent it out to calls. */
  | { readonly result: "lent"; readonly balance: bigint; readonly lent: bigint };

/** Implemented by the store. */
export interface LedgerStore {
  leases(): Promise<readonly Lease[]>;
  lease(accountId: string): Promise<Lease | undefined>;
  /** Of the periods that began at this moment or later, and of budgets without periods. */
  budgetSpends(fromMs: number): Promise<readonly BudgetSpend[]>;
  /**
   * Changes the limits of an account or a key, adds their version, and sets what their budget has
   * used so far to the sum of the receipts. One transaction, in one turn of the event loop.
   */
  setLimits(change: LimitsChange): Promise<void>;
  /**
   * Adds money, or takes some that is there, together with the account's lease. The same reference
   * again changes nothing, and leaves no audit record.
   */
  addEntry(entry: Entry, audit: AuditRecord): Promise<EntryOutcome>;
  entries(accountId: string): Promise<readonly Entry[]>;
  /**
   * One transaction; resolves when it is durable. What is there already (by its id) is left as it
   * is and charged to nobody again, so that a batch can be tried twice. Rejects with a
   * NotSyncedError when the transaction stands but the disk did not confirm it, with an
   * UnconfirmedError when nobody knows whether it stands, with an
   * UnwritableError when the fault lies in the writes, and with a FencedError for good once
   * another process has opened the database. A ClaimsLostError says that all was written but some
   * claims, which requests of other processes have.
   */
  commit(writes: readonly LedgerWrite[]): Promise<void>;
  /** Does what a commit of these would need, and takes it back. Absent where a commit is a proof. */
  readonly rehearse?: ((receipts: readonly Receipt[]) => Promise<void>) | undefined;
  /** Tells every receipt that a commit has really added, when its transaction stands. */
  watch(listener: (receipt: Receipt) => void): void;
  /** What vendors counted for the newest chats, the oldest first; bounded. */
  recentCounts(): Promise<readonly CountedReceipt[]>;
  findClaim(id: string): Promise<Claim | undefined>;
  /** Of requests that a process which is gone had under way: they cost nothing and may come again. */
  releaseRunningClaims(): Promise<void>;
  /** Some of the claims past their day; how many. */
  eraseClaims(nowMs: number): Promise<number>;
  readonly rollups: RollupStore;
}

/** What totals tell apart; an account, a key or a model each stands in them with all that it did. */
export const totalGroups = ["model", "account", "key"] as const;
export type TotalGroup = (typeof totalGroups)[number];

/** Sums of one account, key or model over an hour or a day. */
export interface Total extends Sums {
  readonly grain: "hour" | "day";
  readonly by: TotalGroup;
  readonly startMs: number;
  readonly name: string;
}

/** All sums that are kept of receipts. */
export interface StoredSums {
  readonly list: readonly Rollup[];
  readonly openFromMs: number | undefined;
  /** What lies before it is in the sums by day and in the totals, and nothing else. */
  readonly foldedTo: FoldMark;
  /** Sums by day: `hourMs` is where the day begins. */
  readonly days: readonly Rollup[];
  readonly totals: readonly Total[];
  /** Earlier hours lack counts of durations: they are from before there were any. */
  readonly countedFromMs: number;
}

/** A price of a model, from a moment on; null: it has none from then on. */
export interface StoredPrice {
  readonly modelId: string;
  readonly version: number;
  readonly effectiveAtMs: number;
  readonly price: Price | null;
}

/** The limits of an account or a key, from a moment on; undefined: none from then on. */
export interface StoredLimits {
  readonly ownerId: string;
  readonly version: number;
  readonly effectiveAtMs: number;
  readonly limits: Limits | undefined;
}

/** What the vendors of a model's routes ask, from a moment on. */
export interface StoredCosts {
  readonly modelId: string;
  readonly version: number;
  readonly effectiveAtMs: number;
  readonly routes: readonly { readonly provider: string; readonly cost: Price | undefined }[];
}

export interface ReceiptFilter {
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly dialect?: string | undefined;
  readonly outcome?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** With `oldestFirst`: later ids than this one. */
  readonly afterId?: string | undefined;
  /** Default: newest first. */
  readonly oldestFirst?: boolean | undefined;
  readonly limit?: number | undefined;
}

/** What the disk had confirmed and the database no longer has: a tail of its log is lost. */
export interface LostTail {
  /** A receipt of the newest commit that is known of; "" where receipts are all there. */
  readonly receiptId: string;
  /** The newest change that is known of; 0 where changes are all there. */
  readonly sequence: number;
  readonly foundAtMs: number;
  /** As far as it is known: how many receipts, and when the first of them began. */
  readonly receipts?: number;
  readonly fromMs?: number;
}

/** One moment of the whole ledger, read beside the process that writes it and without its help. */
export interface LedgerReader {
  receipt(id: string): Promise<Receipt | undefined>;
  receipts(filter: ReceiptFilter): AsyncIterable<Receipt>;
  prices(): Promise<readonly StoredPrice[]>;
  limits(): Promise<readonly StoredLimits[]>;
  costs(): Promise<readonly StoredCosts[]>;
  accounts(): Promise<readonly { readonly id: string; readonly name: string }[]>;
  keys(): Promise<readonly { readonly id: string; readonly name: string; readonly hint: string }[]>;
  entries(): Promise<readonly Entry[]>;
  leases(): Promise<readonly Lease[]>;
  budgetSpends(): Promise<readonly BudgetSpend[]>;
  rollups(): Promise<StoredSums>;
  /** Sums of days stand for receipts from before them. */
  receiptMarks(): Promise<readonly ReceiptMark[]>;
  /** What `spent` of leases adds up: the sums, which may lack the newest receipts, or receipts. */
  readonly spentIs: "sums" | "receipts";
  lostTails(): Promise<readonly LostTail[]>;
  close(): Promise<void>;
}
