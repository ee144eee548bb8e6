import { Database } from "bun:sqlite";
import { Problem } from "../../base/problem.ts";
import type { Sqlite } from "./sqlite.ts";

/** The row of `meta` that a copy to PostgreSQL leaves here: from then on the copy has the money. */
const copiedKey = "store_copied_to";

/** The address of the copy, without user and password; undefined while this database is in use. */
export const copiedTo = ({ raw }: Pick<Sqlite, "raw">): string | undefined =>
  raw.query<{ value: string }, [string]>("select value from meta where key = ?").get(copiedKey)
    ?.value;

/** Both databases would spend the same money. */
export function refuseCopied(sqlite: Sqlite): void {
  const to = copiedTo(sqlite);
  if (to === undefined) return;
  throw new Problem({
    code: "conflict",
    message: `The database ${sqlite.path} was copied to ${to}. Set SVC_DATABASE_URL to that address, or run svc store copy --cancel to go on with the SQLite database.`,
  });
}

/** A second copy would spend the same money as the first. */
export function refuseOtherCopy(path: string, to: string): void {
  const known = withFile(path, (raw) => copiedTo({ raw }));
  if (known === undefined || known === to) return;
  throw new Problem({
    code: "conflict",
    message: `The database ${path} was already copied to ${known}, which has the money now. To copy it to ${to} instead, delete that copy and run svc store copy --cancel first.`,
  });
}

export const markCopied = (path: string, to: string) =>
  withFile(path, (raw) => {
    raw.run("insert or replace into meta (key, value) values (?, ?)", [copiedKey, to]);
  });

/** Where the copy is that the database was marked for, if it was. */
export const takeMarkAway = (path: string) =>
  withFile(path, (raw) => {
    const to = copiedTo({ raw });
    raw.run("delete from meta where key = ?", [copiedKey]);
    return to;
  });

/** Beside the store of this process, which has locked the database. */
function withFile<T>(path: string, work: (raw: Database) => T): T {
  const raw = new Database(path, { readwrite: true, create: false });
  try {
    raw.run("PRAGMA busy_timeout = 5000");
    return work(raw);
  } finally {
    raw.close();
  }
}
