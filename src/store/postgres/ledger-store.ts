import type { LeaseStore } from "../../ledger/lease-store.ts";
import type { MinuteStore } from "../../ledger/minutes.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import type { LostTail } from "../../ledger/store.ts";
import type { SharedStore, Store } from "../store.ts";
import { deadlines } from "./deadlines.ts";
import { createLeaseStore } from "./ledger/leases.ts";
import { createLedgerStore } from "./ledger/ledger.ts";
import type { Losses } from "./ledger/losses.ts";
import { rehearse } from "./ledger/rehearsal.ts";
import { LedgerWriter } from "./ledger/writer.ts";
import { ensurePartitions } from "./partitions.ts";
import { type Postgres, withDeadline } from "./postgres.ts";
import { createMinuteStore } from "./reports/minutes.ts";
import { PostgresReports } from "./reports/reports.ts";
import { PostgresRollups } from "./reports/rollups.ts";
import { createRetentionStore } from "./retention.ts";

/** The store of a process that charges calls. */
export interface NodeStore extends Store {
  readonly leases: LeaseStore;
  readonly minutes: MinuteStore;
}

export interface NodeStoreOptions {
  readonly postgres: Postgres;
  readonly shared: SharedStore;
  readonly epoch: number;
  /** Keeps what was confirmed. */
  readonly losses?: Pick<Losses, "confirmed" | "onFound"> | undefined;
  readonly lostTail?: LostTail | undefined;
  readonly nowMs: () => number;
  /** So many rows of sums are added to their days in one transaction. */
  readonly foldedAtOnce?: number;
}

/** Of an epoch that no process has: what belongs to one is empty. */
const noEpoch = 0;
const partitionsEveryMs = 3_600_000;

/** For a process that charges nothing: the platform, or a command. */
export function createPlainStore(options: Omit<NodeStoreOptions, "epoch">): Store {
  const { postgres, shared, nowMs } = options;
  const { pool, db } = postgres;
  const patient = withDeadline(db, deadlines.long);
  const rollups = new PostgresRollups({ db, pool, epoch: noEpoch });
  let timer: ReturnType<typeof setInterval> | undefined;
  let isClosed = false;
  return {
    ...shared,
    ledger: createLedgerStore({ pool, watch: () => {}, rollups }),
    retention: createRetentionStore(postgres),
    openReports: (asked) => new PostgresReports(pool, asked),
    fenced: new Promise(() => {}),
    lostTail: undefined,
    // The database itself refuses to charge what an account does not have.
    checkBalances: async () => ({ belowZero: undefined, wrongFromMs: undefined }),
    trustSums: async () => {},
    releaseMemory: () => {},
    startUpkeep(onError) {
      const run = () =>
        void ensurePartitions(patient, nowMs()).catch((error: unknown) => {
          // What the end has cut off is done by the next start.
          if (!isClosed) onError(String(error));
        });
      timer = setInterval(run, partitionsEveryMs);
      timer.unref();
      run();
    },
    close() {
      isClosed = true;
      clearInterval(timer);
      return shared.close();
    },
  };
}

export function createNodeStore(options: NodeStoreOptions): NodeStore {
  const { postgres, epoch, nowMs, foldedAtOnce, losses, lostTail } = options;
  const { pool, db } = postgres;
  const { promise: fenced, resolve: onClosed } = Promise.withResolvers<void>();
  const rollups = new PostgresRollups({ db, pool, epoch, foldedAtOnce });
  losses?.onFound(({ fromMs }) => rollups.distrust({ fromMs, nowMs: nowMs() }));
  let watcher: (receipt: Receipt) => void = () => {};
  const writer = new LedgerWriter({
    pool,
    epoch,
    mark: rollups.mark,
    onReceipt(receipt) {
      losses?.confirmed(receipt.id);
      watcher(receipt);
    },
    onClosed,
    nowMs,
  });
  const ledger = createLedgerStore({
    pool,
    commit: (writes) => writer.commit(writes),
    rehearse: (receipts) => rehearse(pool, epoch, receipts),
    watch(listener) {
      watcher = listener;
    },
    rollups,
  });
  return {
    ...createPlainStore(options),
    lostTail,
    ledger,
    fenced,
    leases: createLeaseStore(pool, epoch),
    minutes: createMinuteStore({ pool, epoch }),
  };
}
