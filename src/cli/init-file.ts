import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { Problem } from "../base/problem.ts";

/** Undefined: there is none. */
export function readFileIfThere(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new Problem("failed", `${path} cannot be read: ${messageOf(cause)}`, cause);
  }
}

/** The old file or the new one, never a half, whenever this process may end. */
export function writeFileWhole(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    // A link stays a link: what it leads to is replaced.
    const target = existsSync(path) ? realpathSync(path) : path;
    const draft = `${target}.${process.pid}.new`;
    try {
      writeFileSync(draft, text);
      if (existsSync(target)) chmodSync(draft, statSync(target).mode & 0o777);
      renameSync(draft, target);
    } finally {
      rmSync(draft, { force: true });
    }
  } catch (cause) {
    throw new Problem("failed", `${path} cannot be written: ${messageOf(cause)}`, cause);
  }
}

const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause));
