import type { ChangeFeed } from "../base/feed.ts";
import { Problem } from "../base/problem.ts";
import type { CatalogStore } from "../catalog/catalog.ts";
import type { KeyStore } from "../keys/directory.ts";
import type { AccountStore } from "../ledger/account.ts";
import type { Receipt } from "../ledger/receipt.ts";
import type { LedgerReports } from "../ledger/reports.ts";
import type { LedgerStore } from "../ledger/store.ts";
import type { PeopleStore } from "../people/store.ts";
import { createAccountStore } from "./account-store.ts";
import { createCatalogStore } from "./catalog-store.ts";
import { Checkpoints } from "./checkpoints.ts";
import { createFeedStore } from "./feed-store.ts";
import { createKeyStore } from "./key-store.ts";
import { createLedgerStore } from "./ledger-store.ts";
import { LedgerWriter } from "./ledger-writer.ts";
import { createLimitsWriter } from "./limits-writer.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { migrate } from "./migrations.ts";
import { createPeopleStore } from "./people-store.ts";
import { type ReportOptions, SqliteReports } from "./reports.ts";
import { readOpenFrom, type SumsMark, toOpenFromId } from "./rollup-store.ts";
import type { Sqlite } from "./sqlite.ts";
import { WalSync } from "./wal-sync.ts";

/** All ports of the domains, on one database. */
export interface Store {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly catalog: CatalogStore;
  readonly ledger: LedgerStore;
  readonly feed: ChangeFeed;
  readonly people: PeopleStore;
  /** Reads for people, beside all else; to be closed before the store. */
  openReports(options: ReportOptions): LedgerReports;
  /** Resolves when all that was written survives a power cut. */
  sync(): Promise<void>;
  /** For a process that goes on writing: keeps the log short, and waits for no other writer. */
  startUpkeep(onError: (detail: string) => void): void;
  /** Rejects when the database does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export async function createStore(sqlite: Sqlite, secretFingerprint: string): Promise<Store> {
  const { db, raw, path } = sqlite;
  await migrate(db);
  const known = await readMeta(db, "secret_fingerprint");
  if (known === undefined) await writeMeta(db, "secret_fingerprint", secretFingerprint);
  else if (known !== secretFingerprint)
    throw new Problem(
      "failed",
      "The database belongs to another master secret: with this one no stored key would work. Restore the secret (SVC_SECRET, or the file `secret` in the data directory), or use another SVC_DATA_DIR.",
    );
  const wal = new WalSync(path);
  let checkpoints: Checkpoints | undefined;
  const sums: SumsMark = {
    openFromId: toOpenFromId(await readOpenFrom(db)),
  };
  let watcher: (receipt: Receipt) => void = () => {};
  const writer = new LedgerWriter({
    raw,
    sync: () => wal.sync(),
    onCommit: () => checkpoints?.note(),
    sums,
    onReceipt: (receipt) => watcher(receipt),
  });
  return {
    accounts: createAccountStore(db),
    keys: createKeyStore(db),
    catalog: createCatalogStore(db),
    ledger: createLedgerStore({
      db,
      sums,
      commit: (writes) => writer.commit(writes),
      addSums: (rollups, openFromMs) => writer.addSums(rollups, openFromMs),
      fold: (beforeMs) => writer.fold(beforeMs),
      watch(listener) {
        watcher = listener;
      },
      setLimits: createLimitsWriter(raw, (work, then) => writer.exclusive(work, then)),
    }),
    feed: createFeedStore(db),
    people: createPeopleStore(db),
    openReports: (options) => new SqliteReports(path, options),
    sync: () => wal.sync(),
    startUpkeep(onError) {
      raw.run("PRAGMA busy_timeout = 0");
      checkpoints = new Checkpoints({ path, pause: (work) => writer.pause(work), onError });
    },
    async check() {
      await db.selectFrom("feed").select("sequence").executeTakeFirstOrThrow();
    },
    async close() {
      await checkpoints?.close();
      await wal.close();
      await db.destroy();
    },
  };
}
