import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { Problem } from "./problem.ts";

export type Move = (from: string, to: string) => void;

interface ReplaceOptions {
  readonly path: string;
  readonly text: string;
  /** How the new file gets into the old one's place. */
  readonly move?: Move | undefined;
}

/**
 * Puts a text into a file, with the owner and the rights that it had: the old file or the new one
 * stands there, whenever this process may end. A file that cannot be exchanged (one that a container
 * has mounted by itself, one in a folder of somebody else) is written through instead. What it gives
 * undoes it.
 */
export function replaceFile({ path, text, move = renameSync }: ReplaceOptions): () => void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    // A link stays a link: what it leads to is replaced.
    const target = existsSync(path) ? realpathSync(path) : path;
    const old = existsSync(target) ? readFileSync(target) : undefined;
    put({ path: target, bytes: Buffer.from(text), move });
    return () => {
      if (old === undefined) rmSync(target, { force: true });
      else put({ path: target, bytes: old, move });
    };
  } catch (cause) {
    throw new Problem({
      code: "failed",
      message: `${path} cannot be written: ${messageOf(cause)}. Nothing was changed.`,
      cause,
    });
  }
}

export const messageOf = (cause: unknown) =>
  cause instanceof Error ? cause.message : String(cause);

/** What says that the file may be written, but not exchanged. */
const inTheWay = new Set(["EBUSY", "EXDEV", "EACCES", "EPERM", "EROFS"]);

interface Put {
  readonly path: string;
  readonly bytes: Buffer;
  readonly move: Move;
}

function put({ path, bytes, move }: Put): void {
  const old = existsSync(path) ? statSync(path) : undefined;
  const beside = `${path}.${randomUUID()}.tmp`;
  try {
    writeBeside({ path: beside, bytes, old });
    move(beside, path);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    if (old === undefined || !inTheWay.has(code)) throw cause;
    writeThrough(path, bytes);
  } finally {
    rmSync(beside, { force: true });
  }
}

function writeBeside(options: {
  readonly path: string;
  readonly bytes: Buffer;
  readonly old: Stats | undefined;
}): void {
  const { path, bytes, old } = options;
  // The old file may hold keys: nobody else reads the new one before its rights are set.
  const handle = openSync(path, "wx", old === undefined ? 0o666 : 0o600);
  try {
    if (old !== undefined) {
      const { uid, gid } = fstatSync(handle);
      if (uid !== old.uid || gid !== old.gid) fchownSync(handle, old.uid, old.gid);
      fchmodSync(handle, old.mode & 0o777);
    }
    overwrite(handle, bytes);
  } finally {
    closeSync(handle);
  }
}

function writeThrough(path: string, bytes: Buffer): void {
  const old = readFileSync(path);
  const handle = openSync(path, "r+");
  try {
    overwrite(handle, bytes);
  } catch (cause) {
    overwrite(handle, old);
    throw cause;
  } finally {
    closeSync(handle);
  }
}

/** Not emptied first: on a full disk the old text still has its room. */
function overwrite(handle: number, bytes: Buffer): void {
  let at = 0;
  while (at < bytes.length) at += writeSync(handle, bytes, at, bytes.length - at, at);
  ftruncateSync(handle, bytes.length);
  fsyncSync(handle);
}
