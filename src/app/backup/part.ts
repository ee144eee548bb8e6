import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { magic } from "../../backup/header.ts";
import { createOwned } from "../../base/owned-file.ts";
import { Problem } from "../../base/problem.ts";
import { isLocked, lockContent } from "../../store/sqlite/lock.ts";

/**
 * A backup that is not complete. Its process holds a lock on it, which ends with the process: so
 * others can remove what a killed backup has left, and never what is being written.
 */
export interface Part {
  readonly fd: number;
  /** Closes it, and ends the lock. Others may remove it from then on: rename it first. */
  close(): void;
}

export const partOf = (path: string) => `${path}.part`;

/** Replaces one that a killed backup has left, and removes the others in its folder. */
export function createPart(path: string, isOwned: boolean): Part {
  const part = partOf(path);
  removeLeft(dirname(path));
  const found = lstatSync(part, { throwIfNoEntry: false });
  if (found !== undefined && (!found.isFile() || isLocked(part))) throw inUse(path);
  rmSync(part, { force: true });
  const fd = isOwned ? createOwned(part) : openSync(part, "wx", 0o600);
  const unlock = lockContent(part);
  const close = () => {
    closeSync(fd);
    unlock();
  };
  // Another process that did the same at the same moment may have taken it for an old one.
  if (statSync(part, { throwIfNoEntry: false })?.ino === fstatSync(fd).ino) return { fd, close };
  close();
  throw inUse(path);
}

const inUse = (path: string) =>
  new Problem({
    code: "busy",
    message: `Another backup writes ${partOf(path)}. Wait for its end. If none is running, remove what has this name.`,
  });

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
