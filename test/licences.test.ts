import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkSets, weightSets } from "../engine/weights/sets.ts";

const root = join(import.meta.dir, "..");

/** Permissive ones. */
const free = new Set([
  "MIT",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "BlueOak-1.0.0",
  "MPL-2.0",
  "CC0-1.0",
  // Words of a list of licence names, not code.
  "CC-BY-3.0",
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
      return { path, license: String(license) };
    });
}

const wordsOf = (license: string) => license.replace(/[()]/g, "").split(/ (?:OR|AND) /);

test("every dependency has a permissive licence; LGPL only where it can be replaced", () => {
  for (const folder of [root, join(root, "engine")]) {
    const all = installed(folder);
    expect(all.length).toBeGreaterThan(20);
    const wrong = all.filter(({ path, license }) =>
      wordsOf(license).some(
        (word) => !free.has(word) && !(replaceable.test(path) && word.startsWith("LGPL-")),
      ),
    );
    expect(wrong).toEqual([]);
  }
});

test("docs/engine.md names every package of weights, its version and its licence", () => {
  const text = readFileSync(join(root, "docs/engine.md"), "utf8");
  for (const { packages, from } of [...Object.values(weightSets), ...Object.values(checkSets)]) {
    expect(text).toContain(from.license);
    expect(text).toContain(from.origin);
    for (const { name, version } of packages) expect(text).toContain(`${name}@${version}`);
  }
});
