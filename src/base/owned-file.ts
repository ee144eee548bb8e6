import { fchownSync, lchownSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ownUid } from "./network/listen.ts";
import { Problem } from "./problem.ts";

/**
 * Files of a data directory belong to its owner, also those that a command of root creates there:
 * the server, which runs as that owner, must be able to use them afterwards.
 */
export function createOwned(path: string, flags: "wx" | "wx+" = "wx"): number {
  const fd = openSync(path, flags, 0o600);
  changeOwner(path, (uid, gid) => fchownSync(fd, uid, gid));
  return fd;
}

/** For a folder that was just created. */
export function giveToOwner(path: string): void {
  changeOwner(path, (uid, gid) => lchownSync(path, uid, gid));
}

function changeOwner(path: string, change: (uid: number, gid: number) => void): void {
  if (ownUid() !== 0) return;
  try {
    const { uid, gid } = statSync(dirname(path));
    if (uid !== 0) change(uid, gid);
  } catch {
    // A container may take this right from root. The file works for this process at least.
  }
}

/** Whom the server runs as, if root runs a command in the data directory of another user. */
export function userOfServer(dataDir: string): number | undefined {
  const uid = ownUid() === 0 ? ownerOf(dataDir) : undefined;
  return uid === 0 ? undefined : uid;
}

/** A file or directory that this user may not use, with what to do; others' errors are unchanged. */
export function toAccessProblem(error: unknown, path: string): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "EACCES" && code !== "EPERM") return error;
  const user = `User ${ownUid()}`;
  const uid = ownerOf(path);
  const ownerAbove = nearestOwner(dirname(resolve(path)));
  const message =
    uid === undefined
      ? `${user} cannot reach ${path} (${code}). ${asOwner(ownerAbove)}`
      : `${user} cannot use ${path}, which belongs to user ${uid} (${code}). ${ownerAbove === ownUid() && uid !== ownUid() ? `Run as root: chown ${ownUid()} ${path}` : asOwner(ownerAbove)}`;
  return new Problem({ code: "failed", message, cause: error });
}

/** What a command of the wrong user should do; it must not take the files away from a server. */
export function asOwner(uid: number | undefined): string {
  return uid === undefined || uid === ownUid()
    ? "Check the permissions of the file and of the directories above it."
    : `Run the command as its owner: sudo -u '#${uid}' svc …`;
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}

function nearestOwner(path: string): number | undefined {
  for (let at = path; ; at = dirname(at)) {
    const uid = ownerOf(at);
    if (uid !== undefined || at === dirname(at)) return uid;
  }
}
