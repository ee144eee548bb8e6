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

/** What it takes on the disk, in whole blocks; nothing if it is not there. */
export function diskBytes(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.blocks * 512;
  return readdirSync(path).reduce((sum, name) => sum + diskBytes(join(path, name)), 0);
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
