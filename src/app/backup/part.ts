import { randomBytes } from "node:crypto";
import { closeSync, lstatSync, openSync, readdirSync, readSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { magic } from "../../backup/header.ts";
import { createOwned } from "../../base/owned-file.ts";
import { isLocked, lockContent } from "../../store/sqlite/lock.ts";

/**
 * A backup that is not complete. Its process holds a lock on it, which ends with the process: so
 * others can remove what a killed backup has left, and never what is being written.
 */
export interface Part {
  readonly fd: number;
  readonly path: string;
  /** Closes it, and ends the lock. Others may remove it from then on: rename it first. */
  close(): void;
}

/**
 * Removes what killed backups have left in its folder. No two have the same name: a process that
 * removes an old one cannot take away one that was created meanwhile.
 */
export function createPart(file: string, isOwned: boolean): Part {
  removeLeft(dirname(file));
  const path = `${file}.${randomBytes(6).toString("hex")}.part`;
  const fd = isOwned ? createOwned(path) : openSync(path, "wx", 0o600);
  const unlock = lockContent(path);
  const close = () => {
    closeSync(fd);
    unlock();
  };
  return { fd, path, close };
}

/** They may have any name. A folder or file that this user may not read or change is left as it is. */
function removeLeft(folder: string): void {
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    try {
      if (hasMagic(path) && !isLocked(path)) rmSync(path, { force: true });
    } catch {
      // It is in nobody's way.
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".part"));
  } catch {
    return [];
  }
}

function hasMagic(path: string): boolean {
  if (!lstatSync(path).isFile()) return false;
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(magic.length);
    readSync(fd, bytes, 0, magic.length, 0);
    return bytes.equals(magic);
  } finally {
    closeSync(fd);
  }
}
