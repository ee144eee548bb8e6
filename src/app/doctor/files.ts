import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  openSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ownUid } from "../../base/network/listen.ts";
import { asOwner, toAccessProblem } from "../../base/owned-file.ts";
import type { Configuration } from "../../config/load.ts";
import { isPostgresUrl } from "../../config/setting-readers.ts";
import { type Checks, gibibyte, sizeText } from "./checks.ts";

const leastFree = gibibyte / 10;
const littleFree = gibibyte;
const slowSyncMs = 20;

/** By their numbers in the kernel: SQLite's log needs shared memory and locks that work. */
const networkFileSystems: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0x517b: "SMB",
  0xff534d42: "CIFS",
  0xfe534d42: "SMB",
};
const lostOnRestart: Readonly<Record<number, string>> = {
  0x01021994: "memory (tmpfs)",
  0x794c7630: "a container's own layer (overlay)",
};

/** The data directory: its disk, and who may read it. */
export function checkFiles(checks: Checks, { settings }: Configuration): void {
  const { dataDir, databaseUrl } = settings;
  const found = lookAt(dataDir);
  if (found === undefined) return checkParent(checks, dataDir);
  if (!found.isDirectory())
    return checks.problem(
      `SVC_DATA_DIR is ${dataDir}, which is not a directory.`,
      "Set it to a directory, or move the file away.",
    );
  const isWritable = checkAccess(checks, dataDir, found);
  checkFileSystem(checks, dataDir, !isPostgresUrl(databaseUrl));
  if (isWritable) checkSync(checks, dataDir);
  for (const name of ["secret", "svc.db"]) checkPrivate(checks, join(dataDir, name));
}

function lookAt(dataDir: string): Stats | undefined {
  try {
    return statSync(dataDir, { throwIfNoEntry: false });
  } catch (error) {
    throw toAccessProblem(error, dataDir);
  }
}

/** The first start creates it. */
function checkParent(checks: Checks, dataDir: string): void {
  let parent = dirname(dataDir);
  while (!existsSync(parent)) parent = dirname(parent);
  if (canWrite(parent))
    return checks.ok(
      `The data directory ${dataDir} does not exist yet; the first start creates it`,
    );
  checks.problem(
    `The data directory ${dataDir} does not exist, and ${parent} is not writable.`,
    "Create it for the user who runs the server, or set SVC_DATA_DIR to another directory.",
  );
}

function checkAccess(checks: Checks, dataDir: string, { mode, uid }: Stats): boolean {
  if (!canWrite(dataDir)) {
    checks.problem(
      `The data directory ${dataDir} is not writable for this user (${ownUid()}).`,
      asOwner(uid),
    );
    return false;
  }
  if ((mode & 0o002) !== 0)
    checks.problem(
      `Every user of this machine can write to the data directory ${dataDir}, so the server does not start.`,
      `Check that its files are yours, and run: chmod 700 ${dataDir}`,
    );
  else if ((mode & 0o077) !== 0)
    checks.warning(
      `Other users of this machine can enter the data directory ${dataDir}.`,
      `chmod 700 ${dataDir}`,
    );
  else checks.ok(`The data directory ${dataDir} is writable, and private`);
  if (uid !== ownUid())
    checks.warning(
      `The data directory belongs to user ${uid}, and this command runs as user ${ownUid()}.`,
      "Run commands as the user who runs the server.",
    );
  return true;
}

/** Files that only their owner may read. */
function checkPrivate(checks: Checks, path: string): void {
  // What this user cannot reach, other users can hardly read.
  if (!existsSync(path)) return;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & 0o077) === 0) return;
  checks.warning(`Other users of this machine may read ${path}.`, `chmod 600 ${path}`);
}

function checkFileSystem(checks: Checks, dataDir: string, hasDatabase: boolean): void {
  const { bavail, bsize, ffree, files, type } = statfsSync(dataDir);
  const free = bavail * bsize;
  const advice = "Free some space, or move the data directory. Receipts need room to be written.";
  if (free < leastFree) checks.problem(`Only ${sizeText(free)} are free on its disk.`, advice);
  else if (free < littleFree) checks.warning(`${sizeText(free)} are free on its disk.`, advice);
  else checks.ok(`${sizeText(free)} free on its disk`);
  if (files > 0 && ffree < 1_000)
    checks.problem(`Its disk can hold only ${ffree} more files.`, "Delete files on it.");
  const network = networkFileSystems[type];
  if (hasDatabase && network !== undefined)
    checks.problem(
      `The data directory is on a network file system (${network}), which SQLite does not support.`,
      "Move it to a local disk, or use PostgreSQL.",
    );
  const passing = lostOnRestart[type];
  if (passing !== undefined)
    checks.warning(
      `The data directory is in ${passing}: its content is lost with a restart.`,
      "Put it on a disk, or mount a volume there.",
    );
}

/** A reply is complete when its receipt is on disk. */
function checkSync(checks: Checks, dataDir: string): void {
  const path = join(dataDir, `.doctor-${process.pid}`);
  const bytes = Buffer.alloc(4_096);
  try {
    const fd = openSync(path, "wx", 0o600);
    try {
      const times = Array.from({ length: 5 }, () => {
        const startMs = performance.now();
        writeSync(fd, bytes, 0, bytes.length, 0);
        fdatasyncSync(fd);
        return performance.now() - startMs;
      }).toSorted((a, b) => a - b);
      const ms = times[2] ?? 0;
      const text = `${ms.toFixed(1)} ms`;
      if (ms > slowSyncMs)
        checks.warning(
          `Its disk needs ${text} to store a receipt safely, and each reply waits for that.`,
          "Use a faster disk, or one with a write cache that survives a power failure.",
        );
      else checks.ok(`Its disk stores a receipt safely in ${text}`);
    } finally {
      closeSync(fd);
      rmSync(path, { force: true });
    }
  } catch (error) {
    checks.failed(error, `Check the disk of ${dataDir}.`);
  }
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
