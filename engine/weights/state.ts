import { readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileBytes, modelsDir, packedBytes, partialPath, setDir } from "./layout.ts";
import { tryLockSet } from "./lock.ts";
import { WeightsProblem } from "./problem.ts";
import { type SetName, setOf, type WeightSet, weightSets } from "./sets.ts";

/** The folder of a set that is whole; a few `stat` calls, so it may be asked often. */
export function readyDir(cacheDir: string, set: SetName): string | undefined {
  return readyDirOf(cacheDir, setOf(set));
}

/** Hashes were checked before the folder got its name; sizes show what was deleted since. */
export function readyDirOf(cacheDir: string, set: WeightSet): string | undefined {
  const dir = setDir(cacheDir, set);
  const kept = set.files.filter(({ isSource }) => isSource === undefined);
  const isWhole =
    kept.every((file) => sizeOf(join(dir, file.path)) === fileBytes(file)) &&
    (set.prepare?.makes ?? []).every(({ path, bytes }) => sizeOf(join(dir, path)) === bytes);
  return isWhole ? dir : undefined;
}

export interface SetState<Name extends string = SetName> {
  readonly set: Name;
  /** Absent: not ready. */
  readonly dir: string | undefined;
  /** Of other revisions too. */
  readonly diskBytes: number;
  /** Of a download that was begun and is not in use yet. */
  readonly partialBytes: number;
  /** The packed size: what a pull from nothing fetches. */
  readonly totalBytes: number;
}

export interface StateOptions<Name extends string> {
  readonly cacheDir: string;
  readonly sets?: readonly WeightSet<Name>[];
}

export function stateOf<Name extends string = SetName>({
  cacheDir,
  sets = Object.values(weightSets) as readonly WeightSet[] as readonly WeightSet<Name>[],
}: StateOptions<Name>): SetState<Name>[] {
  return sets.map((set) => ({
    set: set.name,
    dir: readyDirOf(cacheDir, set),
    diskBytes: foldersOf(cacheDir, set).reduce((sum, dir) => sum + bytesIn(dir), 0),
    partialBytes: partialsOf(cacheDir, set).reduce((sum, path) => sum + sizeOf(path), 0),
    totalBytes: packedBytes(set),
  }));
}

export interface RemovedSet<Name extends string = SetName> {
  readonly set: Name;
  readonly freedBytes: number;
}

/** Removes sets with all their revisions and half downloads. Files that a process has open stay with it. */
export function removeSets<Name extends string>({
  cacheDir,
  sets,
}: Required<StateOptions<Name>>): RemovedSet<Name>[] {
  return sets.map((set) => {
    const found = [...foldersOf(cacheDir, set), ...partialsOf(cacheDir, set)];
    // Nothing to remove: no lock file either, in a cache that may not even exist.
    if (found.length === 0) return { set: set.name, freedBytes: 0 };
    const lock = tryLockSet(cacheDir, set.name);
    if (lock === undefined)
      throw new WeightsProblem(
        `${set.name} is being downloaded. Stop the download, then run the command again.`,
      );
    try {
      const freedBytes = found.reduce((sum, path) => sum + bytesIn(path), 0);
      for (const path of found) removeWhole(path, set.name, cacheDir);
      return { set: set.name, freedBytes };
    } finally {
      lock.release();
    }
  });
}

/** Renamed first: a removal that is cut short leaves nothing that looks ready. */
function removeWhole(path: string, set: string, cacheDir: string): void {
  const aside = join(modelsDir(cacheDir), `.removing-${set}`);
  if (!statSync(path).isDirectory() || path === aside)
    return rmSync(path, { recursive: true, force: true });
  rmSync(aside, { recursive: true, force: true });
  renameSync(path, aside);
  rmSync(aside, { recursive: true, force: true });
}

/** Those of other revisions and what a killed process left are among them. */
function foldersOf(cacheDir: string, { name }: WeightSet): string[] {
  const revision = new RegExp(`^\\.removing-${name}$|^(\\.making-)?${name}-[0-9a-f]{10}$`);
  return namesIn(modelsDir(cacheDir))
    .filter((folder) => revision.test(folder))
    .map((folder) => join(modelsDir(cacheDir), folder));
}

function partialsOf(cacheDir: string, { packages }: WeightSet): string[] {
  return packages.map((packed) => partialPath(cacheDir, packed)).filter((path) => sizeOf(path) > 0);
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function bytesIn(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  return stats.isDirectory()
    ? namesIn(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0)
    : stats.size;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
