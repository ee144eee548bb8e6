/** Which test files belong to which tier, and how a tier runs. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./checkout.ts";

interface Tier {
  /** Files, or folders with a slash at the end. */
  readonly paths: readonly string[];
  readonly without?: readonly string[];
  /** Processes that run files side by side. */
  readonly workers: number;
}

/**
 * A file belongs to the first tier that names its path or a folder above it; `test` has the rest.
 * Most have more workers than there are cores, because many tests wait for a while, for a process, a
 * database or a browser.
 */
export const tiers = {
  // Two models at once on few cores are slower than one after the other.
  engine: { paths: ["engine/test/", "test/engine/"], workers: 1 },
  browser: { paths: ["test/browser/", "test/console/"], workers: 2 },
  install: { paths: ["test/install/"], workers: 1 },
  clients: {
    paths: ["test/clients/"],
    without: ["test/clients/openai.test.ts", "test/clients/anthropic.test.ts"],
    workers: 2,
  },
  postgres: { paths: ["src/store/postgres/", "src/limits/shared/", "test/postgres/"], workers: 3 },
  processes: { paths: ["test/processes/", "test/cluster/"], workers: 3 },
  chaos: { paths: ["test/chaos/", "test/recompute/"], workers: 1 },
  deploy: { paths: ["test/deploy/"], workers: 1 },
  test: { paths: [""], workers: 3 },
} as const satisfies Readonly<Record<string, Tier>>;

export type TierName = keyof typeof tiers;
export const isTier = (name: string): name is TierName => Object.hasOwn(tiers, name);

const skipped = ["node_modules", "dist"];

/** By their path from the root of the checkout. */
export function listFiles(pattern: RegExp, folder = ""): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.name.startsWith(".") || skipped.includes(entry.name)) return [];
    if (entry.isDirectory()) return listFiles(pattern, path);
    return pattern.test(entry.name) ? [path] : [];
  });
}

export const listTestFiles = () => listFiles(/\.test\.tsx?$/);

function tierOf(file: string): TierName {
  const names = Object.keys(tiers) as TierName[];
  const found = names.find((name) => {
    const { paths, without = [] }: Tier = tiers[name];
    return paths.some((path) => file.startsWith(path)) && !without.includes(file);
  });
  return found ?? "test";
}

export const filesOfTier = (name: TierName) =>
  listTestFiles().filter((file) => tierOf(file) === name);

/** `test/e2e/money` of `test/e2e/money/race.test.ts`, `src/ledger` of `src/ledger/journal.test.ts`. */
export function areaOf(file: string): string {
  const folders = file.split("/").slice(0, -1);
  return folders.slice(0, folders[1] === "e2e" ? 3 : 2).join("/") || file;
}

/** The words after `bun` that run these files. Workers keep what they have loaded and compiled. */
export function testWords(options: {
  readonly files: readonly string[];
  readonly workers: number;
  readonly more?: readonly string[];
}): readonly string[] {
  const { files, workers, more = [] } = options;
  return [
    "test",
    "--timeout=300000",
    "--dots",
    `--parallel=${workers}`,
    "--no-isolate",
    ...more,
    ...files.map((file) => `./${file}`),
  ];
}
