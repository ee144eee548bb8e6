import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../base/problem.ts";

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

/**
 * One process owns a data directory. The lock is an exclusive SQLite transaction on a file of its
 * own: the operating system drops it when the process dies, however it dies, so there is no stale
 * lock to remove by hand, and the database itself stays readable for other tools.
 */
export function lockDataDir(dataDir: string): DataLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const ownerPath = join(dataDir, "owner.json");
  const database = new Database(join(dataDir, "lock.db"), { create: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    database.run("PRAGMA journal_mode = MEMORY");
    database.run("BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    throw new Problem(
      "busy",
      `${dataDir} is in use: svc gateway is already running${whereIs(ownerPath)}.`,
      cause,
    );
  }
  // What a process that died left behind no longer describes anybody.
  rmSync(ownerPath, { force: true });
  held.add(database);
  return {
    describe: (owner) => writeFileSync(ownerPath, JSON.stringify(owner), { mode: 0o600 }),
    release() {
      rmSync(ownerPath, { force: true });
      held.delete(database);
      database.run("ROLLBACK");
      database.close();
    },
  };
}

function whereIs(ownerPath: string): string {
  try {
    const owner: Partial<Owner> = JSON.parse(readFileSync(ownerPath, "utf8"));
    return ` at ${owner.address} (process ${owner.pid})`;
  } catch {
    return ", or another command is using it just now";
  }
}
