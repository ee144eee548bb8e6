/**
 * Bundles the console into dist/<stamp>, and then writes its name into dist/current: whoever starts
 * at the same time meets a whole build or none. `--if-needed` does nothing when the sources are the ones
 * of the current build, `--watch` goes on building, `--json` prints what a first visit costs.
 */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { bundle, type Manifest } from "./bundle.ts";

const root = import.meta.dir;
const dist = join(root, "dist");
const current = join(dist, "current");
const words = new Set(process.argv.slice(2));

/** Neither builds nor packages, which the lock file stands for. */
const isSource = (path: string) => !/^(dist|node_modules|\.install)/.test(path);

/** Changes with any file that a build is made of. */
function stampOf(): string {
  const hash = new Bun.CryptoHasher("sha256");
  const files = readdirSync(root)
    .filter(isSource)
    .flatMap((name) =>
      statSync(join(root, name)).isDirectory()
        ? readdirSync(join(root, name), { recursive: true, encoding: "utf8" }).map((path) =>
            join(name, path),
          )
        : [name],
    )
    .map((path) => join(root, path))
    .filter((path) => statSync(path).isFile())
    .toSorted();
  for (const file of files) hash.update(`${relative(root, file)}\n`).update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

function currentStamp(): string | undefined {
  // A link, which an earlier version left, is no current build.
  if (!statSync(current, { throwIfNoEntry: false })?.isFile()) return undefined;
  const stamp = readFileSync(current, "utf8");
  return existsSync(join(dist, stamp, "manifest.json")) ? stamp : undefined;
}

/**
 * By Node, as any other install. The bundler remembers folders that were missing, so the build after a
 * first install needs a process of its own.
 */
function ensureInstalled(): void {
  const script = join(root, "..", "scripts", "install-console.mjs");
  const { exitCode } = Bun.spawnSync(["node", script], { stdio: ["ignore", 2, 2] });
  if (exitCode !== 0) throw new Error("its libraries are missing");
}

async function build(stamp: string): Promise<Manifest> {
  ensureInstalled();
  const staging = join(dist, `.staging-${process.pid}`);
  mkdirSync(staging, { recursive: true });
  try {
    const manifest = await bundle({ root, folder: staging });
    putInPlace(staging, join(dist, stamp));
    const note = join(dist, `.current-${process.pid}`);
    // A file, because packages of npm cannot contain links.
    writeFileSync(note, stamp);
    const before = currentStamp();
    renameSync(note, current);
    if (before !== stamp) forget([stamp, before]);
    return manifest;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function putInPlace(staging: string, place: string): void {
  try {
    renameSync(staging, place);
  } catch (error) {
    // Another one has built the same meanwhile.
    if (!existsSync(join(place, "manifest.json"))) throw error;
  }
}

const youngMs = 60_000;

/**
 * One build back stays: pages that were opened with it may still ask for its files. And so does
 * one that has just been made: another process may be about to point at it.
 */
function forget(kept: readonly (string | undefined)[]): void {
  for (const name of readdirSync(dist)) {
    if (!/^[0-9a-f]{16}$/.test(name) || kept.includes(name)) continue;
    const made = statSync(join(dist, name), { throwIfNoEntry: false });
    if (made !== undefined && Date.now() - made.mtimeMs > youngMs)
      rmSync(join(dist, name), { recursive: true, force: true });
  }
}

async function buildOnce(): Promise<void> {
  const stamp = stampOf();
  if (words.has("--if-needed") && currentStamp() === stamp) return;
  if (words.has("--if-needed")) process.stderr.write("Building the console (once) …\n");
  if (!existsSync(join(root, "node_modules"))) {
    ensureInstalled();
    const again = [...words].filter((word) => word !== "--watch");
    const command = [process.execPath, import.meta.path, ...again];
    const { exitCode } = Bun.spawnSync(command, { stdio: ["ignore", 1, 2] });
    if (exitCode !== 0) throw new Error("see the output above");
    return;
  }
  const manifest = await build(stamp);
  if (words.has("--json")) process.stdout.write(`${JSON.stringify(manifest.firstLoad, null, 2)}\n`);
}

/** Until the process that started it is gone. */
function buildAgainAndAgain(): void {
  const parent = process.ppid;
  let timer: ReturnType<typeof setTimeout> | undefined;
  watch(root, { recursive: true }, (_, path) => {
    if (path === null || !isSource(path)) return;
    clearTimeout(timer);
    timer = setTimeout(() => void buildOnce().catch(complain), 100);
  });
  setInterval(() => process.ppid !== parent && process.exit(0), 1_000);
}

function complain(error: unknown): void {
  const problems = error instanceof AggregateError ? error.errors : [error];
  process.stderr.write(`error: The console was not built: ${problems.map(String).join("\n")}\n`);
}

try {
  await buildOnce();
} catch (error) {
  complain(error);
  if (!words.has("--watch")) process.exit(1);
}
if (words.has("--watch")) buildAgainAndAgain();
