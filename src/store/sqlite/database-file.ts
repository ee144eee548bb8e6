import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { toAccessProblem } from "../../base/owned-file.ts";
import { Problem } from "../../base/problem.ts";
import { readMark } from "./mark.ts";

const maxLinks = 40;

/** Without symbolic links, also for a database that does not exist yet: its lock lies beside it. */
export function realDatabasePath(path: string): string {
  let at = resolve(path);
  for (let links = 0; links < maxLinks; links++) {
    if (existsSync(at)) return realpathSync(at);
    const target = linkTarget(at);
    if (target === undefined) break;
    at = resolve(dirname(at), target);
  }
  const folder = dirname(at);
  return existsSync(folder) ? join(realpathSync(folder), basename(at)) : at;
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
      ? readlinkSync(path)
      : undefined;
  } catch (error) {
    throw toAccessProblem(error, path);
  }
}

/** Where a restore writes before the database is whole. */
export const restoringPath = (path: string) => `${path}-restoring`;

/**
 * A database that is missing where one has been must not become an empty ledger in silence, nor
 * may its log be overwritten. The first start creates the database before the secret, so a secret
 * without a database is never the trace of a start that was killed.
 */
export function refuseMissing(path: string, dataDir: string): void {
  if (existsSync(path)) return;
  const unfinished = restoringPath(path);
  if (existsSync(unfinished))
    throw new Problem({
      code: "failed",
      message: `The database ${path} is missing because its restore was interrupted. Run svc restore again, or remove ${unfinished} to start without the backup.`,
    });
  const left = [`${path}-wal`, `${path}-mark`, join(dataDir, "secret")].filter((one) =>
    existsSync(one),
  );
  if (left.length === 0) return;
  throw new Problem({
    code: "failed",
    message: `The database ${path} is missing, but ${left.join(", ")} ${left.length === 1 ? "exists" : "exist"}. Restore the database, or move ${left.length === 1 ? "this file" : "these files"} away to start with an empty one.`,
  });
}

/** An empty file in place of a ledger; only the mark shows that there has been one. */
export function refuseEmptied(path: string): void {
  if (readMark(path) === undefined) return;
  throw new Problem({
    code: "failed",
    message: `The database ${path} is empty, but ${path}-mark shows that it once had data. Restore the database, or move both files and the file "secret" of the data directory away to start with an empty one.`,
  });
}

/** The name of a file that was just created, as durable as what comes after it. */
export function syncFolder(path: string): void {
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** The files at the database's path are no longer the ones that this process has open. */
export class MovedError extends Error {
  override readonly name = "MovedError";
}

/** Whether the files at the path are still the open ones: what is written elsewhere is lost. */
export class DatabaseFile {
  readonly #path: string;
  readonly #identity: string;
  /** Of the write-ahead log, once it is open. */
  readonly #logFd: () => number | undefined;
  #isMoved = false;

  constructor(path: string, logFd: () => number | undefined) {
    this.#path = path;
    this.#logFd = logFd;
    this.#identity = identityOf(path) ?? "";
  }

  /** Looks at the files and throws when they have been moved or replaced. */
  check(): void {
    this.#isMoved = identityOf(this.#path) !== this.#identity || this.#isLogMoved();
    this.checkKnown();
  }

  /** Throws when the last look has found them moved: nothing but a flag, for the hot path. */
  checkKnown(): void {
    if (this.#isMoved)
      throw new MovedError(
        `${this.#path} was moved or replaced while it was open; move it back or restart the gateway`,
      );
  }

  #isLogMoved(): boolean {
    const fd = this.#logFd();
    if (fd === undefined) return false;
    const { dev, ino } = fstatSync(fd, { bigint: true });
    return identityOf(`${this.#path}-wal`) !== `${dev} ${ino}`;
  }
}

function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}
