import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { damaged } from "../../backup/header.ts";
import { isEncrypted } from "../../backup/protection.ts";
import { type BackupInput, type OpenBackup, openBackup } from "../../backup/reader.ts";
import { systemClock } from "../../base/clock.ts";
import { createOwned } from "../../base/owned-file.ts";
import { invalid, Problem } from "../../base/problem.ts";
import type {
  ReadRequest,
  RestoreRequest,
  RestoreView,
  VerifiedView,
} from "../../cli/backup-wiring.ts";
import { type Configuration, loadConfiguration } from "../../config/load.ts";
import { isPostgresUrl } from "../../config/setting-readers.ts";
import { verifyLedger } from "../../ledger/verify/verify.ts";
import { fingerprintOf } from "../../secrets/master-key.ts";
import { keptSecret, masterSecret } from "../../secrets/master-secret.ts";
import {
  finishRestored,
  installRestored,
  refuseExisting,
} from "../../store/sqlite/backup/restored.ts";
import { integrityProblem, removeDatabase } from "../../store/sqlite/backup/snapshot.ts";
import { checkSpace } from "../../store/sqlite/backup/space.ts";
import { realDatabasePath, restoringPath, syncFolder } from "../../store/sqlite/database-file.ts";
import { openLedgerReader } from "../../store/sqlite/ledger/reader.ts";
import { lockDatabase, lockDataDir } from "../../store/sqlite/lock.ts";
import { compareSchema } from "../../store/sqlite/migrations/migrations.ts";
import { toStoreProblem } from "../../store/sqlite/store-problem.ts";
import { isReplaceable, masterOf, secretSource } from "../secret.ts";
import { viewOf } from "./backup.ts";
import { standardOutput, writeAll } from "./output.ts";
import { checkTrust } from "./trust.ts";

/** `svc restore`: into a directory without a database, and no byte outside of it. */
export async function restoreStore(
  given: Configuration,
  request: RestoreRequest,
): Promise<RestoreView> {
  const configuration = request.dataDir === undefined ? given : inDirectory(given, request.dataDir);
  const { dataDir, databaseUrl } = configuration.settings;
  if (isPostgresUrl(databaseUrl))
    throw new Problem({
      code: "failed",
      message:
        "svc restore writes a SQLite database, but SVC_DATABASE_URL names PostgreSQL. Unset it, or restore PostgreSQL with pg_restore (docs/deploy/backup.md).",
    });
  const input = inputOf(request);
  let path = databaseUrl ?? join(dataDir, "svc.db");
  try {
    path = realDatabasePath(path);
    refuseExisting(path);
    const lock = lockDataDir(dataDir, "command");
    try {
      const unlock = lockDatabase(path);
      try {
        refuseExisting(path);
        return await restoreInto({ configuration, path, request, input });
      } finally {
        unlock();
      }
    } finally {
      lock.release();
    }
  } catch (error) {
    throw toStoreProblem(error, path, dataDir);
  }
}

/** A flag for a directory comes before the setting, and the directory may have a database elsewhere. */
const inDirectory = ({ environment }: Configuration, dataDir: string) =>
  loadConfiguration({
    ...environment,
    SVC_DATA_DIR: resolve(dataDir),
    SVC_DATABASE_URL: undefined,
    SVC_DATABASE_URL_FILE: undefined,
  });

interface Restoring {
  readonly configuration: Configuration;
  readonly path: string;
  readonly request: RestoreRequest;
  readonly input: BackupInput;
}

async function restoreInto({
  configuration,
  path,
  request,
  input,
}: Restoring): Promise<RestoreView> {
  const { dataDir } = configuration.settings;
  const temporary = restoringPath(path);
  const secretPart = join(dataDir, "secret-restoring");
  const leftovers = [temporary, secretPart].filter((one) => existsSync(one));
  const clear = () => {
    removeDatabase(temporary);
    rmSync(secretPart, { force: true });
  };
  clear();
  const backup = await openBackup(input);
  const secret = secretFor(backup, configuration, input.name);
  refuseNewer(backup, input.name);
  checkSpace(dirname(path), backup.about.databaseBytes, "the restored database");
  try {
    await writeDatabase(backup, temporary, request);
    const master = masterOf(configuration.settings, backup.about.secretFingerprint);
    const { trusts } = request;
    const isOwn = await checkTrust({ path: temporary, name: input.name, backup, master, trusts });
    request.onProgress({ step: "check", ...all(backup) });
    const nowMs = systemClock.nowMs();
    const { keepSchema: keepsSchema } = request;
    const backupAtMs = backup.header.createdAtMs;
    const options = { path, backupAtMs, nowMs, keepsSchema, endsAccess: !isOwn };
    const { facts, migrated, paused } = await finishRestored(options);
    if (facts.secretFingerprint !== backup.about.secretFingerprint)
      throw new Problem({
        code: "failed",
        message: `${input.name} contains another database than it says, so it was not restored. Use another backup.`,
      });
    // Only the version that wrote it can read the ledger of an older schema.
    const isOld = keepsSchema && compareSchema(facts.migrations).lacking.length > 0;
    const problems = isOld ? null : await ledgerProblems(temporary, backup, request);
    request.signal.throwIfAborted();
    if (secret.source === "backup") writeSecret(dataDir, secretPart, secret.text);
    installRestored(path, facts);
    return {
      ...viewOf(backup),
      file: request.file,
      encrypted: isEncrypted(backup.header),
      data_dir: dataDir,
      database: path,
      secret: secret.source,
      setting: secret.source === "settings" ? settingOf(configuration.settings) : null,
      migrated,
      paused_exports: paused,
      ended_access: !isOwn,
      ledger_problems: problems,
      leftovers,
    };
  } catch (error) {
    clear();
    throw error;
  }
}

const all = ({ about: { databaseBytes } }: OpenBackup) => ({
  doneBytes: databaseBytes,
  totalBytes: databaseBytes,
});

interface RestoredSecret {
  readonly text: string;
  readonly source: RestoreView["secret"];
}

/** The secret that opens the database, before anything is written. */
function secretFor(
  { about, secret: own }: OpenBackup,
  { settings }: Configuration,
  name: string,
): RestoredSecret {
  const { secret: fromEnvironment, secretFile, dataDir } = settings;
  const wanted = about.secretFingerprint;
  const ofDirectory = join(dataDir, "secret");
  const isSet = fromEnvironment !== undefined || secretFile !== undefined;
  if (!isSet && !existsSync(ofDirectory)) {
    if (own === undefined)
      throw new Problem({
        code: "failed",
        message: `${name} does not contain the master secret, and ${dataDir} has none. Set SVC_SECRET or SVC_SECRET_FILE, or copy the file secret of the original to ${ofDirectory} (its fingerprint is ${wanted}).`,
      });
    if (fingerprintOf(own) === wanted) return { text: own, source: "backup" };
    throw damaged(name, "its secret does not belong to its database");
  }
  const text = masterSecret({ ...secretSource(settings), hasDatabase: true });
  const fingerprint = fingerprintOf(text);
  if (fingerprint === wanted) return { text, source: isSet ? "settings" : "data directory" };
  // A rotation has replaced it since; the first start puts it back.
  if (isReplaceable(settings) && keptSecret(dataDir, wanted) !== undefined)
    return { text, source: "data directory" };
  const setting = settingOf(settings);
  const where =
    setting === null
      ? ofDirectory
      : secretFile === undefined || setting === "SVC_SECRET"
        ? `the secret in ${setting}`
        : `the file in ${setting} (${secretFile})`;
  const isInBackup = own !== undefined && fingerprintOf(own) === wanted;
  throw new Problem({
    code: "failed",
    message: `${name} belongs to the master secret with the fingerprint ${wanted}, but ${where} has the fingerprint ${fingerprint}, so no stored key would work. ${otherSecretAdvice({ setting, wanted, isInBackup })}`,
  });
}

/** The setting that names the master secret, before the data directory's file. */
const settingOf = ({ secret, secretFile }: Configuration["settings"]): RestoreView["setting"] =>
  secret !== undefined ? "SVC_SECRET" : secretFile !== undefined ? "SVC_SECRET_FILE" : null;

function otherSecretAdvice(options: {
  readonly setting: RestoreView["setting"];
  readonly wanted: string;
  readonly isInBackup: boolean;
}): string {
  const { setting, wanted, isInBackup } = options;
  if (setting === null)
    return `Use the secret of the original as it was at the time of the backup (a rotation keeps it as secret.${wanted}), or another directory.`;
  if (isInBackup)
    return `Unset ${setting}: the backup contains its secret, which is then written to the data directory.`;
  return setting === "SVC_SECRET"
    ? "Set SVC_SECRET to the secret of the original as it was at the time of the backup."
    : "Let SVC_SECRET_FILE name a file with the secret of the original as it was at the time of the backup.";
}

function refuseNewer({ header, about }: OpenBackup, name: string): void {
  const { unknown } = compareSchema(about.migrations);
  if (unknown.length === 0) return;
  throw new Problem({
    code: "failed",
    message: `${name} was written by the newer version ${header.version} (it has the ${unknown.length === 1 ? "migration" : "migrations"} ${unknown.join(", ")}). Restore it with that version.`,
  });
}

async function writeDatabase(
  backup: OpenBackup,
  path: string,
  { onProgress, signal }: ReadRequest,
): Promise<void> {
  const totalBytes = backup.about.databaseBytes;
  const fd = createOwned(path);
  try {
    let doneBytes = 0;
    for await (const piece of backup.database()) {
      signal.throwIfAborted();
      writeAll(fd, piece);
      doneBytes += piece.length;
      onProgress({ step: "read", doneBytes, totalBytes });
    }
  } finally {
    closeSync(fd);
  }
}

async function ledgerProblems(
  path: string,
  backup: OpenBackup,
  { onProgress }: ReadRequest,
): Promise<number> {
  onProgress({ step: "verify", ...all(backup) });
  const reader = openLedgerReader(path);
  try {
    return (await verifyLedger(reader)).problemCount;
  } finally {
    await reader.close();
  }
}

/** Before the database has its name: without the secret it would not start. */
function writeSecret(dataDir: string, part: string, text: string): void {
  const path = join(dataDir, "secret");
  const fd = createOwned(part);
  try {
    writeAll(fd, Buffer.from(`${text}\n`));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(part, path);
  syncFolder(path);
}

/** `svc backup verify`: all that a restore checks, in a directory of its own. */
export async function verifyBackup(request: ReadRequest): Promise<VerifiedView> {
  const input = inputOf(request);
  const backup = await openBackup(input);
  const folder = unpackFolder();
  const path = join(folder, "svc.db");
  try {
    checkSpace(folder, backup.about.databaseBytes, "the unpacked database");
    await writeDatabase(backup, path, request);
    request.onProgress({ step: "check", ...all(backup) });
    const problem = integrityProblem(path);
    if (problem !== undefined) throw damaged(input.name, `its database has an error: ${problem}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { ...viewOf(backup), file: request.file, encrypted: isEncrypted(backup.header) };
}

/** Of this process. What a killed one has left is a whole database, not encrypted, and goes first. */
function unpackFolder(): string {
  for (const name of readdirSync(tmpdir())) {
    const owner = /^svc-backup-(\d+)-/.exec(name)?.[1];
    const path = join(tmpdir(), name);
    if (owner === undefined || isAlive(Number(owner))) continue;
    // That of another user stays: this process may not remove it.
    if (lstatSync(path, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    rmSync(path, { recursive: true, force: true });
  }
  return mkdtempSync(join(tmpdir(), `svc-backup-${process.pid}-`));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function inputOf({ file, passphrase }: ReadRequest): BackupInput {
  if (file === standardOutput)
    return { name: "Standard input", bytes: Bun.stdin.stream(), passphrase };
  const path = resolve(file);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new Problem({
      code: "not_found",
      field: "file",
      message: `The backup ${path} does not exist. Check its name.`,
    });
  if (stats.isDirectory())
    throw invalid({ file: `file: ${path} is a directory. Name a backup in it.` });
  return { name: path, bytes: createReadStream(path), passphrase };
}
