import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { idTimeMs } from "../../base/ids.ts";
import type { Configuration } from "../../config/load.ts";
import { isPostgresUrl } from "../../config/setting-readers.ts";
import { verifyLedger } from "../../ledger/verify/verify.ts";
import { realDatabasePath } from "../../store/sqlite/database-file.ts";
import { openForReading } from "../../store/sqlite/ledger/reader.ts";
import { readMark } from "../../store/sqlite/mark.ts";
import { migrateStore } from "../schema.ts";
import { withLedger } from "../store.ts";
import {
  type Checks,
  type DatabaseFindings,
  gibibyte,
  lostAdvice,
  lostReceipts,
  sizeText,
} from "./checks.ts";

const nothing: DatabaseFindings = {
  isReady: false,
  isUnreadable: false,
  fingerprint: undefined,
  newestReceiptMs: undefined,
  aheadMs: undefined,
};

const longLog = gibibyte;

export async function checkDatabase(
  checks: Checks,
  configuration: Configuration,
  isDeep: boolean,
): Promise<DatabaseFindings> {
  const { databaseUrl } = configuration.settings;
  let found: Partial<DatabaseFindings> | undefined;
  try {
    found = isPostgresUrl(databaseUrl)
      ? await (await import("./postgres.ts")).checkPostgres(checks, configuration, databaseUrl)
      : checkSqlite(checks, configuration, isDeep);
    if (found.fingerprint === undefined) return { ...nothing, ...found };
    const isCurrent = await checkSchema(checks, configuration);
    if (isCurrent && isDeep) await checkLedger(checks, configuration);
    return { ...nothing, ...found, isReady: isCurrent };
  } catch (error) {
    checks.failed(error);
    return { ...nothing, ...found, isUnreadable: found?.fingerprint === undefined };
  }
}

function checkSqlite(
  checks: Checks,
  { settings }: Configuration,
  isDeep: boolean,
): Partial<DatabaseFindings> {
  const { databaseUrl, dataDir } = settings;
  const path = realDatabasePath(databaseUrl ?? join(dataDir, "svc.db"));
  if (!existsSync(path)) {
    if (existsSync(join(dataDir, "secret")) || existsSync(`${path}-mark`)) {
      checks.problem(
        `The database ${path} is missing, although this data directory had one.`,
        "Restore it from a backup.",
      );
      return { isUnreadable: true };
    }
    checks.skipped(`${path} does not exist yet; the first start creates it`);
    return {};
  }
  checks.ok(`SQLite, ${sizeText(statSync(path).size)} in ${path}`);
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (logBytes > longLog)
    checks.warning(
      `Its write-ahead log has ${sizeText(logBytes)}.`,
      "A program that keeps reading the database holds it back. End that program; the log shrinks by itself.",
    );
  const raw = openForReading(path);
  try {
    const meta = (key: string) =>
      raw.query<{ value: string }, [string]>("select value from meta where key = ?").get(key)
        ?.value;
    if (meta("lost_tails") !== undefined) checks.problem(lostReceipts, lostAdvice);
    if (isDeep) checkPages(checks, raw);
    const receiptId = readMark(path)?.receiptId ?? "";
    return {
      fingerprint: meta("secret_fingerprint"),
      wrappings: wrappingsIn(raw),
      newestReceiptMs: receiptId === "" ? undefined : idTimeMs(receiptId),
    };
  } finally {
    raw.close();
  }
}

function wrappingsIn(raw: ReturnType<typeof openForReading>): readonly string[] | undefined {
  const table = "select 1 from sqlite_master where type = 'table' and name = 'data_keys'";
  // A schema from before data keys.
  if (raw.query(table).get() === null) return undefined;
  return raw
    .query<{ wrapping: string }, []>("select distinct wrapping from data_keys")
    .all()
    .map(({ wrapping }) => wrapping);
}

function checkPages(checks: Checks, raw: ReturnType<typeof openForReading>): void {
  const found = raw.query<{ quick_check: string }, []>("pragma quick_check(1)").get()?.quick_check;
  if (found === "ok") checks.ok("Its pages are intact");
  else checks.problem(`The database file is damaged: ${found}.`, "Restore it from a backup.");
}

/** Whether this version can use it as it is. */
async function checkSchema(checks: Checks, configuration: Configuration): Promise<boolean> {
  const { pending, warning } = await migrateStore(configuration, { dryRun: true });
  if (warning !== undefined) checks.problem(warning);
  if (pending.length === 0) checks.ok("Its schema is up to date");
  else
    checks.warning(
      `An upgrade is pending: ${pending.join(", ")}.`,
      "svc migrate --dry-run shows what it does. The next start applies it.",
    );
  return pending.length === 0 && warning === undefined;
}

async function checkLedger(checks: Checks, configuration: Configuration): Promise<void> {
  const { ok, receipts, problemCount } = await withLedger(configuration, (ledger) =>
    verifyLedger(ledger, () => {}),
  );
  if (ok) checks.ok(`Its ledger adds up (${receipts} receipts)`);
  else
    checks.problem(
      `The ledger has ${problemCount} ${problemCount === 1 ? "problem" : "problems"}.`,
      "svc ledger verify lists them.",
    );
}
