import type { ExportStore } from "../../exports/store.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import type { LostTail } from "../../ledger/store.ts";
import { createAuditStore } from "../sql/audit.ts";
import { createCatalogStore } from "../sql/catalog/catalog.ts";
import { createTargetCheckStore } from "../sql/catalog/target-checks.ts";
import { createExportStore } from "../sql/exports/store.ts";
import { createFeedStore } from "../sql/feed.ts";
import { createKeyStore } from "../sql/keys.ts";
import { createAccountStore } from "../sql/ledger/accounts.ts";
import { findLostTail, type LedgerMark, rememberLostTail } from "../sql/lost-tail.ts";
import { createPeopleStore } from "../sql/people/people.ts";
import { createProviderFailureStore } from "../sql/reports/provider-reading.ts";
import { SqlResponses } from "../sql/responses/store.ts";
import { type Db, localNode } from "../sql/schema.ts";
import { checkSecret } from "../sql/secret.ts";
import type { Store } from "../store.ts";
import { DatabaseFile } from "./database-file.ts";
import { Fence } from "./fence.ts";
import { checkBalances, trustSums } from "./ledger/balances.ts";
import { Checkpoints } from "./ledger/checkpoints.ts";
import { createLedgerStore } from "./ledger/ledger.ts";
import { createLimitsWriter } from "./ledger/limits-writer.ts";
import { createRetentionStore } from "./ledger/retention.ts";
import { WalSync } from "./ledger/wal-sync.ts";
import { LedgerWriter } from "./ledger/writer.ts";
import { MarkFile, readMark } from "./mark.ts";
import { migrate } from "./migrations/migrations.ts";
import { createRejectionStore } from "./rejections/store.ts";
import { SqliteReports } from "./reports/reports.ts";
import { readOpenFrom, type SumsMark, toOpenFromId } from "./reports/rollups.ts";
import type { Sqlite } from "./sqlite.ts";

export const otherSecret =
  "Restore the secret (SVC_SECRET, or the file `secret` in the data directory), or use another SVC_DATA_DIR.";

export async function createStore(sqlite: Sqlite, secretFingerprint: string): Promise<Store> {
  const { db, raw, path } = sqlite;
  await migrate(db);
  await checkSecret(db, { fingerprint: secretFingerprint, advice: otherSecret });
  const { fence, markFile, wal, file, lostTail } = await takeOver(sqlite);
  let checkpoints: Checkpoints | undefined;
  const sums: SumsMark = { openFromId: toOpenFromId(await readOpenFrom(db)) };
  let watcher: (receipt: Receipt) => void = () => {};
  const latestChange = raw.query<{ sequence: number }, []>("select sequence from feed");
  const writer = new LedgerWriter({
    raw,
    sync: () => wal.sync(),
    onCommit: () => checkpoints?.note(),
    guard() {
      fence.check();
      file.checkKnown();
    },
    sums,
    onReceipt(receipt) {
      markFile.committed(receipt.id);
      watcher(receipt);
    },
  });
  return {
    accounts: createAccountStore(db, openPurse),
    keys: createKeyStore(db),
    catalog: createCatalogStore(db),
    targetChecks: createTargetCheckStore(db),
    providerFailures: createProviderFailureStore(db),
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
    retention: createRetentionStore(db),
    feed: createFeedStore(db),
    people: createPeopleStore(db),
    audit: createAuditStore(db),
    rejections: openRejections(sqlite, writer),
    responses: new SqlResponses(db, () => checkpoints?.note()),
    exports: createExportStore(db, oneAtATime()),
    openReports: (options) => new SqliteReports(path, options),
    sync() {
      // In the middle of a transaction the number may still be rolled back.
      if (!raw.inTransaction) markFile.changed(latestChange.get()?.sequence ?? 0);
      return wal.sync();
    },
    startUpkeep(onError) {
      raw.run("PRAGMA busy_timeout = 0");
      checkpoints = new Checkpoints({ path, pause: (work) => writer.pause(work), onError });
    },
    releaseMemory: () => void raw.run("PRAGMA shrink_memory"),
    async check() {
      sqlite.guard.check();
      await db.selectFrom("feed").select("sequence").executeTakeFirstOrThrow();
    },
    async close() {
      await checkpoints?.close();
      await wal.close();
      markFile.close();
      await db.destroy();
    },
    fenced: fence.lost,
    lostTail,
    checkBalances: () => checkBalances(db),
    trustSums: () => trustSums(db),
  };
}

/** This process alone writes to the database. */
function oneAtATime(): ExportStore["alone"] {
  let isRunning = false;
  return async (work) => {
    if (isRunning) return false;
    isRunning = true;
    await work().finally(() => (isRunning = false));
    return true;
  };
}

const openRejections = ({ db, raw }: Sqlite, writer: LedgerWriter) =>
  createRejectionStore({ db, raw, exclusive: (work, then) => writer.exclusive(work, then) });

/** One process spends all that an account has. */
async function openPurse(transaction: Db, accountId: string): Promise<void> {
  await transaction
    .insertInto("leases")
    .values({ account_id: accountId, node: localNode, epoch: 0, granted: 0n, spent: 0n })
    .execute();
}

/** From here on this process is the one that writes, and knows what the one before it confirmed. */
async function takeOver({ db, raw, path, guard }: Sqlite) {
  const fence = Fence.raise(raw);
  const mark = readMark(path);
  const lostTail = await findLostTail(db, mark, Date.now());
  if (lostTail !== undefined) await rememberLostTail(db, lostTail);
  const markFile = new MarkFile(path, toKnown(mark, lostTail));
  const wal = new WalSync(path, markFile);
  const file = new DatabaseFile(path, () => wal.fd);
  guard.check = () => {
    fence.check();
    file.check();
  };
  return { fence, markFile, wal, file, lostTail };
}

/** What the next mark begins with: nothing of what is missing. */
function toKnown(mark: LedgerMark | undefined, lost: LostTail | undefined): LedgerMark {
  if (mark === undefined || lost !== undefined) return { receiptId: "", sequence: 0 };
  return mark;
}

/** Whether a ledger was ever begun in it: it belongs to a secret then. */
export function hasLedger({ raw }: Sqlite): boolean {
  const meta = "select 1 from sqlite_master where type = 'table' and name = 'meta'";
  if (raw.query(meta).get() === null) return false;
  return raw.query("select 1 from meta where key = 'secret_fingerprint'").get() !== null;
}
