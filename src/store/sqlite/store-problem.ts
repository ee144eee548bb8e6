import { SQLiteError } from "bun:sqlite";
import { Problem } from "../../base/problem.ts";

/**
 * One sentence for a person in place of a stack: what is wrong with the files of the database, and
 * what to do. What it does not know is returned as it is.
 */
export function toStoreProblem(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const say = (text: string) =>
    new Problem({ code: "failed", message: `${text} (${code}).`, cause: error });
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code))
    return say(`The disk of ${path} is full: free some space and try again`);
  if (/^SQLITE_(CORRUPT|NOTADB|FORMAT)/.test(code))
    return say(`The database ${path} is damaged: restore it from a backup`);
  // It says already what it was about.
  if (error instanceof Problem) return error;
  if (/^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS)/.test(code))
    return say(
      `The database ${path} cannot be written: check its owner, its permissions and its disk`,
    );
  if (/^(SQLITE_IOERR|EIO|EFBIG)/.test(code))
    return say(`The disk of ${path} cannot be read or written: check the disk and its limits`);
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return say(`The database ${path} is in use by another program: try again`);
  return error;
}

/** Of the first error in the chain of causes that SQLite or the file system has named. */
function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof Problem && at.code === "busy") return undefined;
    if (at instanceof SQLiteError) return at.code ?? "";
    // Only of files: a port that may not be listened on has no path.
    if ("path" in at && "code" in at && typeof at.code === "string") return at.code;
  }
  return undefined;
}
