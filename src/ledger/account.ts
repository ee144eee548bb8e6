import type { AuditRecord } from "../base/audit.ts";
import type { TextSearch } from "../base/text-search.ts";
import type { Limits } from "../call/limits.ts";

/** Who pays. Keys belong to an account. */
export interface Account {
  readonly id: string;
  /** Unique: people may say it wherever a command asks for an account. */
  readonly name: string;
  readonly createdAtMs: number;
  /** Since when it may not call; absent: it may. */
  readonly suspendedAtMs?: number;
  readonly limits?: Limits;
  /** Counts the changes of the limits; absent: there never were any. */
  readonly limitsVersion?: number;
  /** How long its receipts are kept; absent: for as long as those of all accounts. */
  readonly receiptsDays?: number;
}

export interface AccountFilter {
  /** True: those that may not call, and no others. */
  readonly isSuspended?: boolean;
}

/** Implemented by the store. Every write is an entry of the change feed and of the audit log. */
export interface AccountStore {
  list(): Promise<readonly Account[]>;
  /** All accounts, many at a time, in the order of their ids. */
  pages(filter?: AccountFilter): AsyncIterable<readonly Account[]>;
  /** Of those that exist, by their ids. */
  getMany(ids: readonly string[]): Promise<readonly Account[]>;
  find(idOrName: string): Promise<Account | undefined>;
  /** By name and id, the best first. */
  search(wanted: TextSearch): Promise<readonly Account[]>;
  /** False when the name is taken. */
  insert(account: Account, audit: AuditRecord): Promise<boolean>;
  /** Undefined: it may call again. */
  setSuspended(id: string, atMs: number | undefined, audit: AuditRecord): Promise<void>;
  /** Undefined: its receipts are kept for as long as those of all accounts. */
  setReceiptsDays(id: string, days: number | undefined, audit: AuditRecord): Promise<void>;
}
