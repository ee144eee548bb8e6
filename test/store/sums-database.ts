import type { Receipt } from "../../src/ledger/receipt.ts";
import type { LedgerReports } from "../../src/ledger/reports.ts";
import type { RollupStore } from "../../src/ledger/rollups.ts";
import type { Lease, StoredSums } from "../../src/ledger/store.ts";
import type { ReportOptions, Store } from "../../src/store/store.ts";
import { auditOf } from "./audit-sample.ts";
import type { ContractDatabase } from "./contract-database.ts";
import { entryOf, maxBalance, type Opened, write } from "./ledger-samples.ts";

/** What a process adds up of its receipts, and what reports read of it. */
export interface SumsDatabase {
  readonly rollups: RollupStore;
  /** Gives both accounts all that they can have. */
  fund(): Promise<void>;
  commit(receipts: readonly Receipt[]): Promise<void>;
  watch(listener: (receipt: Receipt) => void): void;
  openReports(options: ReportOptions): LedgerReports;
  readSums(): Promise<StoredSums>;
  /** Another process beside this one. */
  open(): Promise<SumsDatabase>;
  /** The next process, after this one died and what it had left open was counted again. */
  restart(): Promise<SumsDatabase>;
  leases(): Promise<readonly Lease[]>;
  /** Whether accounts are charged what is added to the sums, and not what receipts say. */
  readonly chargesSums: boolean;
  close(): Promise<void>;
}

export const accountIds = ["acct_1", "acct_2"];

export function sumsOf({ database, store }: Opened): SumsDatabase {
  const { ledger } = store;
  return {
    rollups: ledger.rollups,
    async fund() {
      for (const accountId of accountIds)
        await ledger.addEntry(entryOf({ accountId, nano: maxBalance }), auditOf());
    },
    commit: (receipts) => ledger.commit(receipts.map((receipt) => write(receipt))),
    watch: (listener) => ledger.watch(listener),
    openReports: (options) => store.openReports(options),
    async readSums() {
      const reader = await database.openReader();
      return reader.rollups().finally(() => reader.close());
    },
    open: async () => sumsOf({ database, store: await database.open() }),
    restart: async () => sumsOf({ database, store: await recovered(database) }),
    leases: () => ledger.leases(),
    chargesSums: database.traits.chargedBy === "sums",
    close: () => store.close(),
  };
}

async function recovered(database: ContractDatabase): Promise<Store> {
  const store = await database.open();
  const { rollups } = store.ledger;
  const openFromMs = await rollups.openFromMs();
  if (openFromMs !== undefined) await rollups.recount(openFromMs);
  return store;
}
