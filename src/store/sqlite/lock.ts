import { Database, SQLiteError } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createOwned, toAccessProblem } from "../../base/owned-file.ts";
import { Problem } from "../../base/problem.ts";
import { type DirectoryUser, refuseUnusable } from "./data-dir.ts";

/** Kept here: a lock whose holder forgot it would be collected, and the lock with it. */
const held = new Set<Database>();

/** What the owner of a data directory tells others about itself. */
export interface Owner {
  readonly pid: number;
  readonly address: string;
}

export interface DataLock {
  describe(owner: Owner): void;
  release(): void;
}

/** One process owns a data directory, with its sockets. */
export function lockDataDir(dataDir: string, user: DirectoryUser = "server"): DataLock {
  refuseUnusable(dataDir, user);
  const ownerPath = join(dataDir, "owner.json");
  const release = lockFile(
    join(dataDir, "lock.db"),
    () => `${dataDir} is in use. The gateway is already running${whereIs(ownerPath)}.`,
  );
  // Left by a process that died.
  rmSync(ownerPath, { force: true });
  let described: string | undefined;
  return {
    describe(owner) {
      described = JSON.stringify(owner);
      writeFileSync(ownerPath, described, { mode: 0o600 });
    },
    release() {
      // Where the lock has failed, the file may describe the process that came after this one.
      if (described !== undefined && readText(ownerPath) === described)
        rmSync(ownerPath, { force: true });
      release();
    },
  };
}

/**
 * One process writes a database, whichever data directory it has. The file lies beside the
 * database itself, so that containers which share a volume find the same one. Returns the release.
 */
export function lockDatabase(realPath: string): () => void {
  return lockFile(
    `${realPath}-lock`,
    () =>
      `The database ${realPath} is in use by another gateway or command. Stop it, or set SVC_DATA_DIR to its data directory to run commands through the running gateway.`,
  );
}

/** One backup at a time: what a killed one has left can be removed. Returns the release. */
export function lockBackups(dataDir: string): () => void {
  return lockFile(
    join(dataDir, "backup-lock.db"),
    () => `Another backup of ${dataDir} is running. Wait for its end.`,
  );
}

/**
 * The lock is an exclusive SQLite transaction on a file of its own: the operating system drops it
 * when the process dies, however it dies, so there is no stale lock to remove by hand, and the
 * database itself stays readable for other tools. A lock file that is deleted no longer
 * locks anything: for that case every write checks the epoch (fence.ts).
 */
function lockFile(path: string, busyText: () => string): () => void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  createPrivate(path);
  const database = new Database(path, { create: true });
  try {
    beginExclusive(database);
  } catch (cause) {
    database.close();
    const isBusy = cause instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(cause.code ?? "");
    throw isBusy ? new Problem({ code: "busy", message: busyText(), cause }) : cause;
  }
  held.add(database);
  return () => {
    held.delete(database);
    database.run("ROLLBACK");
    database.close();
  };
}

function beginExclusive(database: Database): void {
  database.run("PRAGMA busy_timeout = 0");
  // Without a file beside it.
  database.run("PRAGMA journal_mode = MEMORY");
  database.run("BEGIN EXCLUSIVE");
}

/**
 * The same lock on a file that is no database. Where the file system has no locks, it is missing, and
 * `isLocked` is true. It ends when this process closes any handle of the file.
 */
export function lockContent(path: string): () => void {
  const database = new Database(path, { readwrite: true, create: false });
  held.add(database);
  try {
    // The file is empty still, and nothing is written by this.
    beginExclusive(database);
  } catch (error) {
    if (!(error instanceof SQLiteError)) throw error;
  }
  return () => {
    held.delete(database);
    database.close();
  };
}

/** Whether a process has locked the content of a file, or may have. */
export function isLocked(path: string): boolean {
  const database = new Database(path, { readwrite: true, create: false });
  try {
    beginExclusive(database);
    return false;
  } catch (error) {
    // It was locked, and then read.
    return !(error instanceof SQLiteError && error.code === "SQLITE_NOTADB");
  } finally {
    database.close();
  }
}

/** Another local user who may read a lock file can lock it as well. */
function createPrivate(path: string): void {
  try {
    // A file that exists is not opened here: closing it again would drop this process's own lock.
    if (existsSync(path)) chmodSync(path, 0o600);
    else closeSync(createOwned(path));
  } catch (error) {
    // Another process has just created it.
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
    throw toAccessProblem(error, path);
  }
}

function whereIs(ownerPath: string): string {
  const owner = readOwner(ownerPath);
  return owner === undefined
    ? " or another command is using it"
    : ` at ${owner.address} (process ${owner.pid})`;
}

function readOwner(ownerPath: string): Partial<Owner> | undefined {
  try {
    return JSON.parse(readFileSync(ownerPath, "utf8"));
  } catch {
    return undefined;
  }
}

/** The process that says that it owns a data directory. It may have died since. */
export function ownerPid(dataDir: string): number | undefined {
  const pid = readOwner(join(dataDir, "owner.json"))?.pid;
  return typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
