import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { locksDir } from "./layout.ts";

/** Kept here: a lock whose holder forgot it would be collected, and the lock with it. */
const held = new Set<Database>();
const pollMs = 200;

export interface SetLock {
  release(): void;
}

/**
 * One process makes a set. The lock is an exclusive SQLite transaction on a file of its own: the
 * operating system drops it when the process dies, however it dies, so no lock is ever stale.
 */
export function tryLockSet(cacheDir: string, set: string): SetLock | undefined {
  mkdirSync(locksDir(cacheDir), { recursive: true });
  const database = new Database(join(locksDir(cacheDir), `${set}.lock`), { create: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    // Nothing is written: a journal beside the lock would only be another file to explain.
    database.run("PRAGMA journal_mode = MEMORY");
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  held.add(database);
  return {
    release() {
      held.delete(database);
      database.run("ROLLBACK");
      database.close();
    },
  };
}

interface LockWait {
  readonly cacheDir: string;
  readonly set: string;
  readonly signal?: AbortSignal | undefined;
}

/** Waits as long as another process makes the set; ended by the signal alone. */
export async function lockSet({ cacheDir, set, signal }: LockWait): Promise<SetLock> {
  for (;;) {
    signal?.throwIfAborted();
    const lock = tryLockSet(cacheDir, set);
    if (lock !== undefined) return lock;
    await sleep(pollMs, undefined, signal === undefined ? {} : { signal });
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}
