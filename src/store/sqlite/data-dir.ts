import { accessSync, constants, lstatSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { ownUid } from "../../base/network/listen.ts";
import { asOwner } from "../../base/owned-file.ts";
import { Problem } from "../../base/problem.ts";

/** A server may be given the directory of another user; a command must not take it from a server. */
export type DirectoryUser = "server" | "command";

/**
 * Refuses a data directory that cannot be used, or that other users could change, before anything in
 * it is created or opened.
 */
export function refuseUnusable(dataDir: string, user: DirectoryUser): void {
  const found = lookAt(dataDir);
  if (found === undefined) return refuseUncreatable(dataDir);
  if (!found.isDirectory())
    throw problem(
      `SVC_DATA_DIR is ${dataDir}, which is not a directory. Set it to a directory, or move the file away.`,
    );
  const trouble = troubleOfWriting(dataDir);
  if (trouble === "EROFS") throw readOnly(`The data directory ${dataDir} is`);
  if (trouble !== undefined)
    throw problem(
      `The data directory ${dataDir} belongs to user ${found.uid}, and user ${ownUid()} cannot write to it (${trouble}). ${user === "server" ? `Run the server as its owner, or run: chown -R ${ownUid()} ${dataDir}` : asOwner(found.uid)}`,
    );
  if ((found.mode & 0o002) !== 0)
    throw problem(
      `Every user of this machine can write to the data directory ${dataDir} and replace its files. Check that they are yours, and run: chmod 700 ${dataDir}`,
    );
}

/** Throws where it cannot be said. */
export const hasDirectory = (dataDir: string): boolean => lookAt(dataDir) !== undefined;

/** Undefined if it does not exist. */
function lookAt(dataDir: string): Stats | undefined {
  try {
    const found = statSync(dataDir, { throwIfNoEntry: false });
    if (found !== undefined || lstatSync(dataDir, { throwIfNoEntry: false }) === undefined)
      return found;
  } catch (error) {
    const code = codeOf(error);
    if (code === "EACCES")
      throw problem(
        `User ${ownUid()} cannot reach the data directory ${dataDir} (EACCES). Check the rights of the directories above it.`,
      );
    if (code === "ENOTDIR")
      throw problem(
        `SVC_DATA_DIR is ${dataDir}, and a part of this path is a file. Set it to a directory.`,
      );
    if (code !== "ELOOP") throw error;
  }
  throw problem(
    `SVC_DATA_DIR is ${dataDir}, a link that leads nowhere. Create the directory that it points to, or correct the link.`,
  );
}

/** The first start creates it, with the directories above it. */
function refuseUncreatable(dataDir: string): void {
  let parent = dirname(dataDir);
  while (statSync(parent, { throwIfNoEntry: false }) === undefined && parent !== dirname(parent))
    parent = dirname(parent);
  const trouble = troubleOfWriting(parent);
  if (trouble === "EROFS")
    throw readOnly(`The data directory ${dataDir} does not exist, and ${parent} is`);
  if (trouble !== undefined)
    throw problem(
      `The data directory ${dataDir} does not exist, and user ${ownUid()} cannot create it in ${parent} (${trouble}). Create it for this user, or set SVC_DATA_DIR to another directory.`,
    );
}

function troubleOfWriting(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

const codeOf = (error: unknown) =>
  error instanceof Error && "code" in error ? String(error.code) : "unknown error";

const readOnly = (what: string) =>
  problem(
    `${what} on a read-only file system (EROFS). Mount it so that it can be written, or set SVC_DATA_DIR to another directory.`,
  );

const problem = (message: string) => new Problem({ code: "failed", message });
