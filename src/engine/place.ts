import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isClone, projectDir } from "../base/place.ts";

/** Where the engine runs from. */
export interface EnginePlace {
  /** The folder that its libraries are installed into. */
  readonly libraries: string;
  /** The folder of its sources, in or below `libraries`. */
  readonly sources: string;
}

const shipped = join(projectDir, "engine");
let known: { readonly cacheDir: string; readonly place: EnginePlace } | undefined;

/**
 * A clone runs the engine where it is. An installed package is not ours to write to, and libraries
 * of the project around it must not get in: there the engine runs from a copy in the cache
 * directory. The copy is named after its content, so that versions do not meet, and an upgrade that
 * leaves the libraries as they are keeps them.
 */
export function enginePlace(cacheDir: string): EnginePlace {
  if (isClone) return { libraries: shipped, sources: shipped };
  if (known?.cacheDir !== cacheDir) known = { cacheDir, place: placeIn(cacheDir) };
  return known.place;
}

/** A look that costs nothing; npm's own look follows at the start. */
export const hasLibraries = (cacheDir: string) =>
  existsSync(join(enginePlace(cacheDir).libraries, "node_modules", ".package-lock.json"));

/** Of the sources in `folder`, for a copy in the cache directory. */
export function placeIn(cacheDir: string, folder: string = shipped): EnginePlace {
  const lock = digestOf([join(folder, "package-lock.json")]);
  const libraries = join(cacheDir, "engine", lock);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => path.endsWith(".ts") && statSync(path).isFile())
    .toSorted();
  return { libraries, sources: join(libraries, digestOf(files)) };
}

function digestOf(paths: readonly string[]): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const path of paths) hash.update(`${path.length}:`).update(readFileSync(path));
  return hash.digest("hex").slice(0, 16);
}
