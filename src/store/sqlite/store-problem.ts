import { SQLiteError } from "bun:sqlite";
import { dirname, join } from "node:path";
import { Problem } from "../../base/problem.ts";

/**
 * A message for a person in place of a stack: what is wrong with the database files, and what to
 * do. Unknown errors are returned unchanged.
 */
export function toStoreProblem(error: unknown, path: string, dataDir = dirname(path)): unknown {
  const { code, file } = causeOf(error);
  if (code === undefined) return error;
  const say = (what: string, advice: string) =>
    new Problem({ code: "failed", message: `${what} (${code}). ${advice}`, cause: error });
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code))
    return say(`The disk that holds ${path} is full`, "Free some space and try again.");
  if (/^SQLITE_(CORRUPT|NOTADB|FORMAT)/.test(code))
    return say(`The database ${path} is damaged`, "Restore a backup (docs/deploy/backup.md).");
  // Its message is complete already.
  if (error instanceof Problem) return error;
  if (/^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS)/.test(code))
    return say(
      `The database ${path} is not writable`,
      "Check its owner, its permissions and its disk.",
    );
  if (/^(SQLITE_IOERR|EIO|EFBIG)/.test(code))
    return say(
      `The disk that holds ${path} cannot be read or written`,
      "Check the disk and its limits.",
    );
  if (/^(ENOENT|ENOTDIR|EEXIST|ELOOP|ENAMETOOLONG)$/.test(code)) {
    if (isAbove(file, join(dataDir, "lock.db")))
      return say(`The directory ${dataDir} cannot be created`, "Check SVC_DATA_DIR.");
    if (isAbove(file, `${path}-lock`) || isAbove(file, path))
      return say(`The directory ${dirname(path)} cannot be created`, "Check SVC_DATABASE_URL.");
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return say(`The database ${path} is in use by another program`, "Try again.");
  return error;
}

/** Of the first error in the chain of causes that SQLite or the file system has named. */
function causeOf(error: unknown): { readonly code?: string; readonly file?: unknown } {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof Problem && at.code === "busy") return {};
    if (at instanceof SQLiteError) return { code: at.code ?? "" };
    // Only of files: a port that may not be listened on has no path.
    if ("path" in at && "code" in at && typeof at.code === "string")
      return { code: at.code, file: at.path };
  }
  return {};
}

/** True for the database itself and every directory on the way to it. */
function isAbove(file: unknown, path: string): boolean {
  return typeof file === "string" && (file === path || path.startsWith(`${file}/`));
}
