/** The graph of imports between our files. */

import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { root } from "./checkout.ts";
import { listFiles } from "./tiers.ts";

const importPattern = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;
/** How programs and threads are started, and data files are read. */
const namePatterns = [
  /new URL\(\s*"(\.[^"]+)"/g,
  /(?:join|resolve)\(\s*import\.meta\.dir(?:name)?,\s*"([^"]+)"\s*[,)]/g,
];
const typeImport =
  /\b(?:import|export) (?:type \{[^}]*\}|\{(?:\s*type [^,}]+,?)+\s*\}) from "[^"]+";/g;

/** The files that a source file imports, also for types alone. */
export const importsOf = (file: string) => pathsIn(file, read(file), [importPattern]);

const read = (file: string) => readFileSync(join(root, file), "utf8");

const pathsIn = (file: string, code: string, patterns: readonly RegExp[]): readonly string[] =>
  patterns.flatMap((pattern) =>
    [...code.matchAll(pattern)].map(([, path = ""]) => normalize(join(dirname(file), path))),
  );

/** For each path, the files that need it at run time. */
export function readUsers(): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const file of listFiles(/\.(ts|tsx|mjs)$/)) {
    const code = read(file).replaceAll(typeImport, "");
    for (const path of pathsIn(file, code, [importPattern, ...namePatterns])) {
      const known = users.get(path) ?? [];
      users.set(path, known);
      known.push(file);
    }
  }
  return users;
}
