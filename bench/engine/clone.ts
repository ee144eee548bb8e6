/** A copy of this checkout as a fresh clone would be, and how much room things take. */
import { spawnSync } from "node:child_process";
import { copyFileSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** Never part of a clone; only asked where git cannot tell. */
const notCloned = new Set(["node_modules", ".svc", ".git", ".env", "svc.yaml", ".install.lock"]);

/** Copies what a commit made now would hold: files that git ignores stay behind. */
export function copyCheckout(from: string, to: string): void {
  for (const path of gitFiles(from) ?? walk(from)) {
    const stats = lstatSync(join(from, path), { throwIfNoEntry: false });
    // Deleted, but git was not told yet.
    if (stats === undefined || !stats.isFile()) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    copyFileSync(join(from, path), join(to, path));
  }
}

/**
 * What it takes on the disk as `du -m` tells it: whole blocks, folders too, a file with several
 * names once, in MB of 1,048,576 bytes, rounded up; nothing if it is not there.
 */
export function diskMegabytes(...paths: readonly string[]): number {
  const seen = new Set<string>();
  return Math.ceil(paths.reduce((sum, path) => sum + blockBytes(path, seen), 0) / 2 ** 20);
}

function blockBytes(path: string, seen: Set<string>): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const inode = `${stats?.dev} ${stats?.ino}`;
  if (stats === undefined || seen.has(inode)) return 0;
  seen.add(inode);
  const names = stats.isDirectory() ? readdirSync(path) : [];
  return names.reduce((sum, name) => sum + blockBytes(join(path, name), seen), stats.blocks * 512);
}

/** Undefined where there is no git, or no repository. */
function gitFiles(folder: string): readonly string[] | undefined {
  const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { status, stdout } = spawnSync("git", words, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return status === 0 ? stdout.split("\0").filter((path) => path !== "") : undefined;
}

function walk(folder: string, below = ""): readonly string[] {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .filter(({ name }) => !notCloned.has(name))
    .flatMap((entry) => {
      const path = join(below, entry.name);
      return entry.isDirectory() ? walk(folder, path) : [path];
    });
}
