import type { LedgerReader } from "../../src/ledger/store.ts";
import type { SharedStore, Store } from "../../src/store/store.ts";

/** A fresh database that can be opened several times, as several processes would. */
export interface SharedDatabase<T extends SharedStore = SharedStore> {
  open(secretFingerprint?: string): Promise<T>;
  remove(): Promise<void>;
}

/** What databases do differently by design; all else is the same on each. */
export interface LedgerTraits {
  /** What takes the money of an account: a commit of receipts, or the sums that are added of them. */
  readonly chargedBy: "commits" | "sums";
  /** Whether a commit stands, and is told, in the same turn of the event loop that asks for it. */
  readonly commitsInTurn: boolean;
}

export interface ContractDatabase extends SharedDatabase<Store> {
  readonly traits: LedgerTraits;
  /** Beside it, as a command does. */
  openReader(): Promise<LedgerReader>;
}
