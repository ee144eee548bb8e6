/**
 * How many small faults in the code that decides about money, limits and calls do the tests of
 * `npm test` find? One copy of the checkout gets a switch for each mutant. A first run of all tests
 * records which test files reach which mutant. Then each mutant is active once, and the test files
 * that reach it run, the cheapest first, until one fails. A mutant that no file reaches survives.
 *
 *   npm run test:mutants -- --count 330 --seed 1 --workers 2
 */

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../scripts/tests/checkout.ts";
import { readReport } from "../../scripts/tests/report.ts";
import { filesOfTier, testWords } from "../../scripts/tests/tiers.ts";
import { findSites, type Site, withSwitches } from "./sites.ts";

const folders = ["gateway", "ledger", "limits", "router", "store", "wire"] as const;

const { values: options } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    count: { type: "string", default: "330" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "2" },
    json: { type: "string" },
  },
});
const workers = Number(options.workers);

interface Mutant {
  readonly id: number;
  readonly site: Site;
}

interface Verdict extends Mutant {
  /** The test file that failed; undefined if none did. */
  readonly killedBy: string | undefined;
  readonly reachedBy: number;
}

/** Mulberry32: the same seed gives the same mutants on every machine. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Equally many of each folder; none lies inside of another. */
function chooseMutants(): readonly Mutant[] {
  const random = randomOf(Number(options.seed));
  const perFolder = Math.ceil(Number(options.count) / folders.length);
  const chosen = folders.flatMap((folder) => {
    const sites = readdirSync(join(root, "src", folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
      .toSorted()
      .flatMap((path) => {
        const file = join("src", folder, path);
        return findSites(file, readFileSync(join(root, file), "utf8"));
      });
    const picked: Site[] = [];
    while (picked.length < perFolder) {
      const site = sites[Math.floor(random() * sites.length)];
      if (site !== undefined && !picked.some((other) => overlap(site, other))) picked.push(site);
    }
    return picked;
  });
  return chosen.map((site, id) => ({ id, site }));
}

const overlap = (one: Site, other: Site) =>
  one.file === other.file && one.start < other.end && other.start < one.end;

/** The checkout as git sees it, with the installed packages linked. */
function copyTree(mutants: readonly Mutant[]): string {
  const copy = mkdtempSync(join(tmpdir(), "svc-mutants-"));
  const listed = Bun.spawnSync(["git", "ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: root,
  });
  for (const path of listed.stdout.toString().split("\0").filter(Boolean)) {
    if (!existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  for (const path of [
    "node_modules",
    "engine/node_modules",
    "console/node_modules",
    "console/dist",
  ])
    if (existsSync(join(root, path))) symlinkSync(join(root, path), join(copy, path));
  const tools = join(copy, ".mutants");
  mkdirSync(tools);
  for (const name of ["switch.ts", "record.ts"])
    cpSync(join(import.meta.dir, name), join(tools, name));
  for (const [file, own] of Map.groupBy(mutants, ({ site }) => site.file)) {
    const path = join(copy, file);
    writeFileSync(path, withSwitches(readFileSync(path, "utf8"), own, join(tools, "switch.ts")));
  }
  return copy;
}

const activate = (copy: string, id: number) =>
  writeFileSync(join(copy, ".mutants", "active"), String(id));

interface Reach {
  readonly file: string;
  readonly durationMs: number;
  readonly reached: ReadonlySet<number>;
}

/** Runs all tests of `npm test` with no mutant active. */
function recordReach(copy: string): readonly Reach[] {
  activate(copy, -1);
  const report = join(copy, ".mutants", "junit.xml");
  const words = testWords({
    files: filesOfTier("test"),
    workers: workers + 1,
    more: [
      `--preload=${join(copy, ".mutants", "record.ts")}`,
      "--reporter=junit",
      `--reporter-outfile=${report}`,
    ],
  });
  Bun.spawnSync([process.execPath, ...words], { cwd: copy, stdio: ["ignore", "ignore", "ignore"] });
  // Some look at the sources, which have changed: these would fail for every mutant.
  const broken = new Set(readReport(report).failures.map(({ file }) => file));
  const lines = <T>(name: string): readonly T[] => {
    const path = join(copy, ".mutants", name);
    if (!existsSync(path)) return [];
    return readFileSync(path, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };
  const elsewhere = lines<{ id: number; atMs: number }>("elsewhere.jsonl");
  const recorded = lines<{ file: string; beganMs: number; endedMs: number; reached: number[] }>(
    "files.jsonl",
  ).filter(({ file }) => !broken.has(file));
  return recorded.map(({ file, beganMs, endedMs, reached }) => {
    const during = elsewhere.filter(({ atMs }) => atMs >= beganMs && atMs <= endedMs);
    return {
      file,
      durationMs: endedMs - beganMs,
      reached: new Set([...reached, ...during.map(({ id }) => id)]),
    };
  });
}

/** The name of the batch that failed; what takes ten times as long as it should has failed, too. */
async function runUntilKilled(copy: string, files: readonly Reach[]): Promise<string | undefined> {
  const sorted = files.toSorted((a, b) => a.durationMs - b.durationMs);
  for (let from = 0, size = 8; from < sorted.length; from += size, size *= 3) {
    const batch = sorted.slice(from, from + size);
    const expectedMs = batch.reduce((sum, { durationMs }) => sum + durationMs, 0);
    const child = Bun.spawn(
      [
        process.execPath,
        "test",
        "--bail=1",
        `--timeout=${30_000}`,
        "--dots",
        ...batch.map(({ file }) => `./${file}`),
      ],
      { cwd: copy, stdio: ["ignore", "ignore", "ignore"], env: { ...process.env, CI: "1" } },
    );
    const timer = setTimeout(() => child.kill("SIGKILL"), 30_000 + 10 * expectedMs);
    const code = await child.exited;
    clearTimeout(timer);
    if (code !== 0) return batch.length === 1 ? batch[0]?.file : `one of ${batch.length} files`;
  }
  return undefined;
}

const mutants = chooseMutants();
const copies = Array.from({ length: workers }, () => copyTree(mutants));
const verdicts: Verdict[] = [];
try {
  const reach = recordReach(copies[0] ?? "");
  process.stdout.write(`${mutants.length} mutants, ${reach.length} test files\n`);
  const queue = [...mutants];
  await Promise.all(
    copies.map(async (copy) => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const { id, site } = mutant;
        const files = reach.filter(({ reached }) => reached.has(id));
        activate(copy, id);
        const killedBy = await runUntilKilled(copy, files);
        verdicts.push({ id, site, killedBy, reachedBy: files.length });
        const what = killedBy === undefined ? "SURVIVED" : "killed  ";
        const change = site.isStatement ? "removed" : site.mutated;
        const text = `${site.original} → ${change}`.replaceAll(/\s+/g, " ").slice(0, 140);
        process.stdout.write(
          `${what} ${verdicts.length}/${mutants.length} ${site.file}:${site.line} (${files.length} files) ${text}\n`,
        );
        if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(verdicts));
      }
    }),
  );
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
}
for (const folder of folders) {
  const own = verdicts.filter(({ site }) => site.file.startsWith(`src/${folder}/`));
  const killed = own.filter(({ killedBy }) => killedBy !== undefined).length;
  process.stdout.write(`${folder.padEnd(8)} ${killed} of ${own.length} killed\n`);
}
const killed = verdicts.filter(({ killedBy }) => killedBy !== undefined).length;
process.stdout.write(`all      ${killed} of ${verdicts.length} killed\n`);
