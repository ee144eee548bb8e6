import {
  fsyncSync,
  linkSync,
  lstatSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { invalid, Problem } from "../../base/problem.ts";
import { syncFolder } from "../../store/sqlite/database-file.ts";
import { createPart } from "./part.ts";

/** Standard output, as a name of a file. */
export const standardOutput = "-";
const namePattern = /^svc-\d{8}T\d{6}Z\.svcbackup$/;

/** Where a backup is written; the names of files in a folder are made of the moment. */
export function backupPath(
  given: string,
  { nowMs, force }: { readonly nowMs: number; readonly force: boolean },
): string {
  if (given === standardOutput) return given;
  const path = resolve(given);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    const moment = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
    return backupPath(join(path, `svc-${moment}.svcbackup`), { nowMs, force });
  }
  if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw invalid({
      file: `file: the directory ${dirname(path)} does not exist. Create it first.`,
    });
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (force && found.isFile())) return path;
  const advice = found.isFile()
    ? "already exists. Choose another name, or replace it with --force."
    : `is ${found.isSymbolicLink() ? "a symbolic link" : "not a regular file"}, and svc backup replaces only regular files. Choose another name. FILE - writes to standard output.`;
  throw new Problem({ code: "conflict", field: "file", message: `${path} ${advice}` });
}

export interface Keeping {
  readonly folder: string;
  readonly keep: number;
  /** It stays, whatever its name: a clock that was once wrong has named others of the future. */
  readonly written: string;
  /** Default: the names that `svc backup DIRECTORY` gives. */
  readonly pattern?: RegExp;
}

export function removeOldest({ folder, keep, written, pattern }: Keeping): readonly string[] {
  const names = readdirSync(folder).filter((name) => (pattern ?? namePattern).test(name));
  const others = names.filter((name) => name !== basename(written)).toSorted();
  const old = others.slice(0, Math.max(0, names.length - keep));
  for (const name of old) rmSync(join(folder, name), { force: true });
  return old.map((name) => join(folder, name));
}

export interface BackupSink {
  write(bytes: Uint8Array): Promise<void>;
  /** The file has its name and is on the disk. */
  finish(): void;
  /** Leaves nothing of it. */
  undo(): void;
}

export interface BackupOutput {
  readonly file: string;
  /** A file in it belongs to its owner; elsewhere, to the user of the command. */
  readonly dataDir: string;
  /** Whether it may replace a file that has its name when it is complete. */
  readonly force?: boolean;
}

export function openSink({ file, dataDir, force = false }: BackupOutput): BackupSink {
  if (file === standardOutput) return standardOutputSink();
  const isOwned = `${realpathSync(dirname(file))}/`.startsWith(`${realpathSync(dataDir)}/`);
  return fileSink(file, { isOwned, force });
}

function standardOutputSink(): BackupSink {
  return {
    write: (bytes) =>
      new Promise((done, fail) => {
        process.stdout.write(bytes, (error) => (error ? fail(toOutputProblem(error)) : done()));
      }),
    finish() {},
    undo() {},
  };
}

function toOutputProblem(cause: NodeJS.ErrnoException): Problem {
  const message =
    cause.code === "EPIPE"
      ? "The program that reads the backup ended before the backup was complete. What it has read cannot be restored."
      : `The backup cannot be written to standard output (${cause.code}).`;
  return new Problem({ code: "failed", message, cause });
}

/** Under another name until it is whole: what has the name of a backup is one. */
function fileSink(
  path: string,
  { isOwned, force }: { readonly isOwned: boolean; readonly force: boolean },
): BackupSink {
  return inFile(path, () => {
    const part = createPart(path, isOwned);
    let isOpen = true;
    const close = () => {
      if (isOpen) part.close();
      isOpen = false;
    };
    return {
      async write(bytes) {
        inFile(path, () => writeAll(part.fd, bytes));
      },
      finish: () =>
        inFile(path, () => {
          fsyncSync(part.fd);
          if (force) renameSync(part.path, path);
          else renameToNew(part.path, path);
          close();
          syncFolder(path);
        }),
      undo() {
        if (!isOpen) return;
        rmSync(part.path, { force: true });
        close();
      },
    };
  });
}

/** Another backup may have got the name meanwhile: two of the same second, in the same folder. */
function renameToNew(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    // The file system may have no links.
    if (lstatSync(to, { throwIfNoEntry: false }) === undefined) return renameSync(from, to);
    throw new Problem({
      code: "conflict",
      field: "file",
      message: `${to} was created while this backup was written, so this one was discarded. Back up again with another name.`,
      cause: error,
    });
  }
  rmSync(from, { force: true });
}

export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at);
}

/** What the file system says, for a person. */
function inFile<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new Problem({ code: "failed", message: adviceOn(code, path), cause });
  }
}

function adviceOn(code: string, path: string): string {
  if (/^(ENOSPC|EDQUOT)$/.test(code))
    return `The disk that holds ${path} is full (${code}), so the backup was not written. Free some space and try again.`;
  const what = `The backup ${path} cannot be written (${code}).`;
  return code === "ENOENT"
    ? `${what} Its directory, or the unfinished file in it, was removed. Back up again.`
    : `${what} Check the owner and the permissions of its directory.`;
}
