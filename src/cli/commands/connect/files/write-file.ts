import { randomUUID } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, open, readFile, readlink, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Problem } from "../../../../base/problem.ts";

/** Settings of people are small; this is something else. */
const maxBytes = 1 << 20;

export interface PresentFile {
  /** Behind links: they stay, and what they lead to is changed. */
  readonly path: string;
  /** Undefined where there is none yet. */
  readonly text: string | undefined;
  readonly mode: number;
}

export async function readPresent(asked: string): Promise<PresentFile> {
  const path = existsSync(asked) ? realpathSync(asked) : await behindLinks(asked);
  const found = await stat(path).catch((cause: unknown) => {
    if (isMissing(cause)) return undefined;
    throw unreadable(asked, cause);
  });
  if (found === undefined) return { path, text: undefined, mode: 0o600 };
  if (!found.isFile()) throw refused(`${asked} is not a file.`);
  if (found.size > maxBytes) throw refused(`${asked} is larger than 1 MiB.`);
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw unreadable(asked, cause);
  });
  return { path, text: decode(bytes, asked), mode: found.mode & 0o777 };
}

/** As many as systems follow. */
const maxLinks = 40;

/** Where a file would be that does not exist yet: links can lead to one, too. */
async function behindLinks(asked: string): Promise<string> {
  let path = asked;
  for (let links = 0; links < maxLinks; links++) {
    const target = await readlink(path).catch(() => undefined);
    if (target === undefined) return path;
    path = resolve(dirname(path), target);
  }
  throw refused(`${asked} is a link that leads nowhere.`);
}

/**
 * Replaces a file as a whole: what was there is first kept beside it, and a reader sees the old
 * text or the new one. Returns the path of what was kept.
 */
export async function replaceFile(options: {
  readonly present: PresentFile;
  readonly text: string;
  /** The file holds a key: nobody else may read it. */
  readonly isSecret: boolean;
  readonly nowMs: number;
}): Promise<string | undefined> {
  const { present, text, isSecret, nowMs } = options;
  const { path, text: before } = present;
  const mode = isSecret ? 0o600 : present.mode;
  const partPath = `${path}.${randomUUID()}.part`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const backup = before === undefined ? undefined : await keep(path, before, nowMs);
    try {
      await writeNew(partPath, text, mode);
      const now = await readPresent(path);
      if (now.text !== before)
        throw refused(`${path} has just been changed. Run the command again.`);
      await rename(partPath, path);
    } catch (error) {
      await rm(partPath, { force: true });
      if (backup !== undefined) await rm(backup, { force: true });
      throw error;
    }
    return backup;
  } catch (error) {
    if (error instanceof Problem) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new Problem({
      code: "failed",
      message: `${path} cannot be written: ${message}`,
      cause: error,
    });
  }
}

/** It may have held keys before. */
async function keep(path: string, text: string, nowMs: number): Promise<string> {
  const at = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  for (let number = 1; ; number++) {
    const backup = `${path}.backup-${at}${number === 1 ? "" : `-${number}`}`;
    if (existsSync(backup)) continue;
    await writeNew(backup, text, 0o600);
    return backup;
  }
}

async function writeNew(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    // The mask of the process may have taken something from it.
    await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused(`${path} is not UTF-8 text.`);
  }
}

const isMissing = (cause: unknown) =>
  cause instanceof Error && "code" in cause && cause.code === "ENOENT";
const refused = (message: string) => new Problem({ code: "failed", message });
const unreadable = (path: string, cause: unknown) =>
  new Problem({
    code: "failed",
    message: `${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    cause,
  });
