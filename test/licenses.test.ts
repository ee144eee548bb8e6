import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { weightSets } from "../engine/weights/sets.ts";

const root = join(import.meta.dir, "..");

/** Permissive ones. */
const free = new Set([
  "MIT",
  "MIT-0",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "BlueOak-1.0.0",
  "MPL-2.0",
  "CC0-1.0",
  // Words of a list of license names, not code.
  "CC-BY-3.0",
]);
/**
 * As permissive, and in nothing that we ship: Python's, in a tool of the tests alone; the public
 * domain, in a part of the router for servers, which is not in what browsers get, and in a client
 * of the tests.
 */
const toolsOnly = new Map([
  ["node_modules/argparse", "PSF-2.0"],
  ["node_modules/isbot", "Unlicense"],
  ["node_modules/fast-sha256", "Unlicense"],
]);
/** Libraries that are loaded as modules of their own and can be replaced. */
const replaceable = /^node_modules\/(@img\/sharp-libvips-|@node-webcodecs\/static-)/;

function installed(folder: string): readonly { readonly path: string; readonly license: string }[] {
  const lock = join(folder, "node_modules", ".package-lock.json");
  const paths = Object.keys(JSON.parse(readFileSync(lock, "utf8")).packages);
  return paths
    .filter((path) => existsSync(join(folder, path, "package.json")))
    .map((path) => {
      const { license } = JSON.parse(readFileSync(join(folder, path, "package.json"), "utf8"));
      return {
        path,
        license: typeof license === "string" ? license : fromFile(join(folder, path)),
      };
    });
}

/** A package may leave the field out and carry the text alone. */
function fromFile(folder: string): string {
  const text = join(folder, "LICENSE");
  const isMit = existsSync(text) && /^\s*(The )?MIT License/i.test(readFileSync(text, "utf8"));
  return isMit ? "MIT" : "none that is told";
}

/** Of two that are offered one must do, of two that both hold each. */
function isFree(license: string, isAllowed: (word: string) => boolean): boolean {
  const plain = license.replace(/[()]/g, "");
  return plain.includes(" OR ")
    ? plain.split(" OR ").some(isAllowed)
    : plain.split(" AND ").every(isAllowed);
}

test("every dependency has a permissive license; LGPL only where it can be replaced", () => {
  for (const folder of [root, join(root, "engine"), join(root, "console")]) {
    const all = installed(folder);
    expect(all.length).toBeGreaterThan(20);
    const wrong = all.filter(
      ({ path, license }) =>
        !isFree(
          license,
          (word) =>
            free.has(word) ||
            toolsOnly.get(path) === word ||
            (replaceable.test(path) && word.startsWith("LGPL-")),
        ),
    );
    expect(wrong).toEqual([]);
  }
});

test("docs/engine.md names every package of weights, its version and its license", () => {
  const text = readFileSync(join(root, "docs/engine.md"), "utf8");
  for (const { packages, from } of Object.values(weightSets)) {
    expect(text).toContain(from.license);
    expect(text).toContain(from.origin);
    for (const { name, version } of packages) expect(text).toContain(`${name}@${version}`);
  }
});
