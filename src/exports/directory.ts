import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { giveToOwner } from "../base/owned-file.ts";
import { groupsOf, mayCreateIn } from "../base/permissions.ts";
import { otherPath, type Part, partPath } from "./delivery.ts";
import { DeliveryFailure } from "./delivery-failure.ts";
import { isMarked, markerName, markerOf, notMarked, type Owner, unmark } from "./marker.ts";

/** What is done in a directory, by a process of its own. */
export type DirectoryTask =
  | { readonly kind: "deliver"; readonly part: Part }
  | { readonly kind: "claim" | "release" | "test" };

export interface DirectoryRequest {
  readonly dir: string;
  readonly owner: Owner;
  /** Nothing was delivered yet: a directory without a marker gets one. */
  readonly mayMark: boolean;
  /** The server's, where root tests the directory for it. */
  readonly user: number | undefined;
  readonly task: DirectoryTask;
}

/**
 * A file has its name only once it is whole and on the disk. One that was cut short by a crash is
 * replaced by the next attempt, because it has the same name. A marker shows that this is the directory
 * of this export, and not the mount point of a volume that is gone. Returns the other name of a part
 * whose own is taken.
 */
export async function work(request: DirectoryRequest): Promise<string | undefined> {
  const { dir, owner, task } = request;
  try {
    switch (task.kind) {
      case "deliver":
        return await deliver(request, task.part);
      case "claim":
        await mark(request);
        return undefined;
      case "release":
        await unmark(dir, owner);
        return undefined;
      case "test":
        await test(request);
        return undefined;
    }
  } catch (cause) {
    throw toFailure(dir, cause);
  }
}

async function mark({ dir, owner }: DirectoryRequest): Promise<void> {
  await checkFolder(dir);
  // The server must be able to read what a command of another user has written.
  if (!(await isMarked(dir, owner))) await write(dir, markerName, markerOf(owner), 0o644);
}

async function checkMarker({ dir, owner, mayMark }: DirectoryRequest): Promise<void> {
  await checkFolder(dir);
  if (!(await isMarked(dir, owner)) && !mayMark) throw notMarked({ dir, name: owner.name });
}

async function deliver(request: DirectoryRequest, part: Part): Promise<string | undefined> {
  const { dir, mayMark } = request;
  await checkMarker(request);
  if (mayMark) await mark(request);
  const own = partPath(part);
  const isFree = part.replaces || !(await hasOther(join(dir, own), part.body));
  await write(dir, isFree ? own : otherPath(part), part.body);
  return isFree ? undefined : otherPath(part);
}

async function test(request: DirectoryRequest): Promise<void> {
  const { dir, user } = request;
  await checkMarker(request);
  const name = ".svc-export-test";
  await write(dir, name, new Uint8Array());
  await rm(join(dir, name));
  if (user !== undefined && !mayCreateIn(dir, { uid: user, groups: groupsOf(user) }))
    throw new DeliveryFailure(
      `${dir} cannot be written by user ${user}, which owns the data directory`,
    );
}

/** A file is there, and its content differs. */
async function hasOther(path: string, body: Part["body"]): Promise<boolean> {
  try {
    const { size } = await stat(path);
    return size !== body.length || !(await readFile(path)).equals(body);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}

/** Not created: a volume that is not mounted would be filled in its place. */
async function checkFolder(dir: string): Promise<void> {
  if (!(await stat(dir)).isDirectory()) throw new DeliveryFailure(`${dir} is not a directory`);
}

/** Receipts are for their owners alone. */
async function write(dir: string, name: string, body: Part["body"], mode = 0o600): Promise<void> {
  await checkFolder(dir);
  const path = join(dir, name);
  const folder = dirname(path);
  const firstNew = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (firstNew !== undefined) giveFolders(firstNew, folder);
  const partial = join(folder, `.${basename(path)}.part`);
  await rm(partial, { force: true });
  const file = await open(partial, "wx", mode);
  try {
    // Whatever the umask is.
    await file.chmod(mode);
    await file.writeFile(body);
    await file.sync();
  } finally {
    await file.close();
  }
  // A command of root must not leave the server a file or folder that it cannot replace.
  giveToOwner(partial);
  await rename(partial, path);
  // Names survive a power cut, too: of the file, and of folders that are new.
  for (let above = folder; ; above = dirname(above)) {
    await syncFolder(above);
    if (firstNew === undefined || above === dirname(firstNew)) return;
  }
}

/** The topmost first: each gets the owner of the one above it. */
function giveFolders(firstNew: string, folder: string): void {
  if (folder !== firstNew && folder !== dirname(folder)) giveFolders(firstNew, dirname(folder));
  giveToOwner(folder);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "cannot be written: permission denied",
  EPERM: "cannot be written: permission denied",
  EROFS: "cannot be written: its disk is read-only",
  ENOSPC: "cannot be written: the disk is full",
  EDQUOT: "cannot be written: the disk is full",
  ENOTDIR: "cannot be written: a part of the path is not a directory",
};

function toFailure(dir: string, cause: unknown): DeliveryFailure {
  if (cause instanceof DeliveryFailure) return cause;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  const reason = reasons[code] ?? "cannot be written";
  return new DeliveryFailure(`${dir} ${reason} (${code})`, { cause });
}
