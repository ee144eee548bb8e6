import type { AuditStore } from "../base/audit.ts";
import type { Clock } from "../base/clock.ts";
import type { ChangeFeed } from "../base/feed.ts";
import type { CatalogStore } from "../catalog/catalog.ts";
import type { TargetCheckStore } from "../catalog/target-checks.ts";
import type { ExportStore } from "../exports/store.ts";
import type { ReportsAnswer } from "../fleet/store.ts";
import type { KeyStore } from "../keys/directory.ts";
import type { AccountStore } from "../ledger/account.ts";
import type { Minutes } from "../ledger/minutes.ts";
import type { ProviderFailureStore } from "../ledger/provider-failures.ts";
import type { LedgerReports } from "../ledger/reports.ts";
import type { RetentionStore } from "../ledger/retention.ts";
import type { LedgerStore, LostTail } from "../ledger/store.ts";
import type { PeopleStore } from "../people/store.ts";
import type { RejectionReports, RejectionStore } from "../rejections/rejection.ts";
import type { ResponseStore } from "../responses/response.ts";

/** The ports that need no more than a database: nothing of theirs depends on which process asks. */
export interface SharedStore {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly catalog: CatalogStore;
  readonly targetChecks: TargetCheckStore;
  readonly providerFailures: ProviderFailureStore;
  readonly feed: ChangeFeed;
  readonly people: PeopleStore;
  readonly audit: AuditStore;
  readonly rejections: RejectionStore;
  readonly responses: ResponseStore;
  readonly exports: ExportStore;
  /** Resolves when all that was written survives a power cut. */
  sync(): Promise<void>;
  /** Rejects when the database does not answer, or its files were moved or taken over. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** All ports of the domains, on one database. */
export interface Store extends SharedStore {
  readonly ledger: LedgerStore;
  readonly retention: RetentionStore;
  /** Reads for people, beside all else; to be closed before the store. */
  openReports(options: ReportOptions): LedgerReports & RejectionReports;
  /** For a process that goes on writing: keeps the log short, and waits for no other writer. */
  startUpkeep(onError: (detail: string) => void): void;
  /** Gives back the pages that reading everything at the start has left in memory. */
  releaseMemory(): void;
  /** Resolves when another process has opened the database: this one can write nothing any more. */
  readonly fenced: Promise<void>;
  /** What the disk had confirmed and this opening of the database did not find. */
  readonly lostTail: LostTail | undefined;
  /** Whether some account was charged more than it had, and whether sums are right. */
  checkBalances(): Promise<BalanceCheck>;
  /** All sums were just written: the next check need not add up their receipts again. */
  trustSums(): Promise<void>;
}

export interface ReportOptions {
  readonly clock: Clock;
  /** Writes sums that lack receipts. */
  readonly flush: () => Promise<void>;
  /**
   * Since when sums lack receipts of an account, or of any; undefined when they lack none. Absent:
   * none is counted in memory.
   */
  readonly unwrittenSinceMs?: (accountId: string | undefined) => number | undefined;
  /** Asks all processes that share the database for their sums. Absent: there are none. */
  readonly askNodes?: () => Promise<ReportsAnswer>;
  /** Writes refused calls that are not written yet; absent: there are none. */
  readonly flushRejections?: () => Promise<void>;
  /** Of this process, from its start on. */
  readonly minutes: Minutes;
  /** Monotonic. */
  readonly elapsedMs?: () => number;
  /** How long a report may take. */
  readonly limitMs?: number | undefined;
}

/** An account that was charged more than it ever had. */
export interface BelowZero {
  readonly accountId: string;
  readonly name: string;
  readonly missingNano: bigint;
}

export interface BalanceCheck {
  readonly belowZero: BelowZero | undefined;
  /** From this hour on sums lack receipts, or have too many; undefined when all are right. */
  readonly wrongFromMs: number | undefined;
}
