import { statfsSync } from "node:fs";
import { Problem } from "../../../base/problem.ts";

/** Beside what is written: a disk without any room left would stop the gateway. */
const spareBytes = 16 * 1024 * 1024;

/** Refuses what cannot fit before anything is written. */
export function checkSpace(folder: string, neededBytes: number, what: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  if (freeBytes >= neededBytes + spareBytes) return;
  throw new Problem({
    code: "failed",
    message: `The disk of ${folder} has ${toMb(freeBytes)} MB free, and ${what} needs ${toMb(neededBytes + spareBytes)} MB. Free some space and try again.`,
  });
}

const toMb = (bytes: number) => Math.ceil(bytes / 1_000_000).toLocaleString("en-US");
