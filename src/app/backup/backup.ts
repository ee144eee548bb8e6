import { createReadStream, existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import { newKey } from "../../backup/protection.ts";
import { chunkBytes, writeBackup } from "../../backup/writer.ts";
import { systemClock } from "../../base/clock.ts";
import { invalid, Problem } from "../../base/problem.ts";
import { withoutPassword } from "../../base/text/passwords.ts";
import type { BackupProgress, BackupRequest, BackupView } from "../../cli/backup-wiring.ts";
import type { Configuration } from "../../config/load.ts";
import { isPostgresUrl } from "../../config/setting-readers.ts";
import type { MasterKey } from "../../secrets/master-key.ts";
import { secretOf } from "../../secrets/master-secret.ts";
import { removeDatabase, takeSnapshot } from "../../store/sqlite/backup/snapshot.ts";
import { lockBackups } from "../../store/sqlite/lock.ts";
import { toStoreProblem } from "../../store/sqlite/store-problem.ts";
import { isInDataDir, masterOf } from "../secret.ts";
import { existingSqlite } from "../sqlite-file.ts";
import { backupPath, openSink, removeOldest } from "./output.ts";

/** `svc backup`: of SQLite, beside a running gateway or without one. */
export async function backupStore(
  configuration: Configuration,
  request: BackupRequest,
): Promise<BackupView> {
  const { dataDir, databaseUrl } = configuration.settings;
  if (isPostgresUrl(databaseUrl)) throw withPostgres(databaseUrl);
  const { nowMs } = systemClock;
  const path = existingSqlite(configuration);
  if (request.keep !== undefined && !isDirectory(resolve(request.file)))
    throw invalid({
      keep: `keep needs a directory to keep backups in, and ${request.file} is none. Create the directory first.`,
    });
  const file = backupPath(request.file, { nowMs: nowMs(), force: request.force });
  const hasSecret = request.passphrase !== undefined && isInDataDir(configuration.settings);
  const written = await backupDatabase({
    ...request,
    path,
    dataDir,
    file,
    hasSecret,
    masterOf: (fingerprint) => masterOf(configuration.settings, fingerprint),
  });
  const { keep } = request;
  const removed =
    keep === undefined ? [] : removeOldest({ folder: dirname(file), keep, written: file });
  return { ...written, removed };
}

const isDirectory = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

export interface DatabaseBackup {
  readonly path: string;
  readonly dataDir: string;
  readonly file: string;
  /** Whether it may replace a file that has its name when it is complete. */
  readonly force?: boolean;
  readonly passphrase?: string | undefined;
  /** That of the data directory; only an encrypted backup has it. */
  readonly hasSecret?: boolean;
  /** The master secret with this fingerprint: it marks the backup as written by its holder. */
  readonly masterOf: (fingerprint: string) => MasterKey | undefined;
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * First a copy of the database as of one moment, in the data directory; then the backup from it. A
 * backup that fails or is killed leaves no file with the name of a backup.
 */
export async function backupDatabase(backup: DatabaseBackup): Promise<Omit<BackupView, "removed">> {
  const { path, dataDir, file, passphrase, signal } = backup;
  const onProgress = backup.onProgress ?? (() => {});
  const unlock = lockBackups(dataDir);
  const copy = join(dataDir, "backup-copy.db");
  // Left by a backup that was killed.
  removeDatabase(copy);
  try {
    const { nowMs } = systemClock;
    const onCopied = (doneBytes: number, totalBytes: number) =>
      onProgress({ step: "copy", doneBytes, totalBytes });
    const snapshot = await takeSnapshot({ path, to: copy, nowMs, onProgress: onCopied, signal });
    const { facts, atMs, sizeBytes } = snapshot;
    const secret = ownSecret(backup, facts.secretFingerprint);
    const key = passphrase === undefined ? undefined : await newKey(passphrase);
    const sink = openSink(backup);
    try {
      const hasSecret = secret !== undefined;
      const about = { ...facts, databaseBytes: sizeBytes, hasSecret };
      const header = { version: packageJson.version, createdAtMs: atMs };
      const master = backup.masterOf(facts.secretFingerprint);
      const markOf = (digest: string) => master?.backupMark(digest);
      const database = createReadStream(copy, { highWaterMark: chunkBytes });
      // Its reader gets errors too. After one of the sink, the file is gone before it is opened.
      database.on("error", () => {});
      const { bytes, sha256 } = await writeBackup(
        { header, about, secret, markOf, database },
        {
          write(part) {
            signal?.throwIfAborted();
            return sink.write(part);
          },
          key,
          onProgress: (doneBytes) =>
            onProgress({ step: "write", doneBytes, totalBytes: sizeBytes }),
        },
      );
      sink.finish();
      return { ...viewOf({ header, about }), file, bytes, sha256, encrypted: key !== undefined };
    } catch (error) {
      sink.undo();
      throw error;
    }
  } catch (error) {
    throw toStoreProblem(error, path, dataDir);
  } finally {
    removeDatabase(copy);
    unlock();
  }
}

/** What backups and restores show of a backup. */
export function viewOf({
  header,
  about,
}: {
  readonly header: { readonly version: string; readonly createdAtMs: number };
  readonly about: Parameters<typeof writeBackup>[0]["about"];
}) {
  return {
    version: header.version,
    created_at: new Date(header.createdAtMs).toISOString(),
    receipts: about.receipts,
    accounts: about.accounts,
    newest_receipt: about.newestReceipt === "" ? null : about.newestReceipt,
    sequence: about.sequence,
    schema: about.migrations.at(-1) ?? "",
    database_bytes: about.databaseBytes,
    secret_fingerprint: about.secretFingerprint,
    has_secret: about.hasSecret,
  };
}

/**
 * The secret of the data directory that the copy belongs to: a rotation may have replaced the file
 * since. One from elsewhere stays where the operator keeps it.
 */
function ownSecret(
  { hasSecret = false, dataDir }: DatabaseBackup,
  fingerprint: string,
): string | undefined {
  if (!hasSecret || !existsSync(join(dataDir, "secret"))) return undefined;
  const found = secretOf(dataDir, fingerprint);
  if (found !== undefined) return found;
  throw new Problem({
    code: "failed",
    message:
      "The file secret in the data directory does not belong to this database, so the backup was not written. Restore the right one first.",
  });
}

const withPostgres = (url: string) =>
  new Problem({
    code: "failed",
    message: [
      "svc backup is for SQLite, and this installation uses PostgreSQL: use its own tools, and keep the master secret (SVC_SECRET, SVC_SECRET_FILE or the file secret), because without it no stored key works.",
      `  back up:  pg_dump --format=custom --file=svc.dump "${withoutPassword(url)}"`,
      '  restore:  pg_restore --no-owner --exit-on-error --dbname="ADDRESS OF AN EMPTY DATABASE" svc.dump',
      "docs/deploy/backup.md has the details, also for point-in-time recovery.",
    ].join("\n"),
  });
