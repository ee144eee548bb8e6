/** Disks that stop taking writes under a running gateway, and come back. */

import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { waitUntil } from "../../setup/money-home.ts";
import { type Answered, load } from "../callers.ts";
import { Trial, type TrialOptions, type TrialResult, works } from "../trial.ts";

const slowDisk = "slow disk (3 ms a sync)";
const maxLoads = 60;
const failing = "ledger is not writable: rejecting calls until it is";
const working = "ledger is writable again";

interface Outage {
  readonly name: string;
  /** What the machine lacks for it, if anything. */
  readonly lacks: (library: string | undefined) => string | undefined;
  readonly options: (library: string) => TrialOptions;
  readonly begin: (trial: Trial) => void;
  readonly end: (trial: Trial) => void;
}

const outages: readonly Outage[] = [
  {
    name: "full disk (a small tmpfs)",
    lacks: () => (works(["unshare", "-Urm", "true"]) ? undefined : "unshare with user namespaces"),
    options: () => ({
      hasOwnMount: true,
      wrapper: (dataDir) => [
        "unshare",
        "-Urm",
        "sh",
        "-c",
        'mount -t tmpfs -o size=8m,mode=0700 none "$0" && exec "$@"',
        dataDir,
      ],
    }),
    begin: ({ dataDir }) => fill(join(dataDir, "filler")),
    end: ({ dataDir }) => rmSync(join(dataDir, "filler")),
  },
  {
    name: "file-size limit (RLIMIT_FSIZE)",
    lacks: () => (works(["prlimit", "--version"]) ? undefined : "prlimit"),
    // Without the trap the signal would end the process before the write can fail.
    options: () => ({ wrapper: () => ["sh", "-c", `trap '' XFSZ; exec "$@"`, "sh"] }),
    begin: ({ server }) => limitFiles(server.pid, "1"),
    end: ({ server }) => limitFiles(server.pid, "unlimited"),
  },
  {
    name: "read-only disk (EROFS on the log)",
    // Files that are open for writing keep a real one from being remounted so.
    lacks: lacksLibrary,
    options: (library) => ({
      environment: (folder) => ({ LD_PRELOAD: library, FAULT_FILE: join(folder, "fault") }),
    }),
    begin: ({ folder }) => writeFileSync(join(folder, "fault"), ""),
    end: ({ folder }) => rmSync(join(folder, "fault")),
  },
];

export interface OutageOptions {
  readonly seed: number;
  readonly tell: (line: string) => void;
}

export async function runOutages({ seed, tell }: OutageOptions): Promise<readonly TrialResult[]> {
  const results: TrialResult[] = [];
  const folder = mkdtempSync(join(tmpdir(), "svc-library-"));
  try {
    const library = works(["cc", "--version"]) ? compile(folder) : undefined;
    for (const outage of outages) {
      tell(outage.name);
      results.push(await runOutage({ outage, seed, library }));
    }
    tell(slowDisk);
    results.push(await runSlowDisk(seed, library));
  } finally {
    rmSync(folder, { recursive: true });
  }
  return results;
}

interface OutageRun {
  readonly outage: Outage;
  readonly seed: number;
  readonly library: string | undefined;
}

async function runOutage({ outage, seed, library }: OutageRun): Promise<TrialResult> {
  const { name } = outage;
  const lacks = outage.lacks(library);
  if (lacks !== undefined) return { name, notRun: `needs ${lacks}`, problems: [], figures: {} };
  const trial = await Trial.start(outage.options(library ?? ""));
  const problems: string[] = [];
  let figures: Record<string, number> = {};
  try {
    const answers: Answered[] = [];
    let round = 0;
    const isRefused = ({ status }: Answered) => status === 503;
    const call = async () => {
      round++;
      const more = await load({ target: trial.target, round, seed, callers: 8, callsEach: 2 });
      answers.push(...more);
      return more;
    };
    await call();
    await trial.loopLag();
    outage.begin(trial);
    let refused = 0;
    // What is allocated already takes some more.
    for (let at = 0; at < maxLoads && refused < 8; at++)
      refused += (await call()).filter(isRefused).length;
    const lag = await trial.loopLag();
    outage.end(trial);
    // It looks at the disk once a second, and refuses calls much faster than that.
    const isBack = () => trial.server.log().includes(working);
    await waitUntil("a disk that works", isBack).catch(() => {});
    let served = 0;
    for (let at = 0; at < maxLoads && served < 8; at++) {
      const more = await call();
      served = more.filter(({ status, end }) => status === 200 && end === "whole").length;
    }
    if (refused === 0) problems.push("the fault was never noticed");
    if (served < 8) problems.push("it did not come back by itself");
    problems.push(...(await trial.judge(answers)));
    const log = trial.server.log();
    if (!log.includes(failing) || !log.includes(working)) problems.push("the log does not say it");
    figures = {
      calls: answers.length,
      refused: answers.filter(isRefused).length,
      told: log.split(failing).length - 1,
      ...lagFigures(lag),
    };
  } finally {
    problems.push(...(await trial.stop()));
  }
  return { name, problems, figures };
}

/** Not a fault, but what a plain disk does: measured beside the same load without it. */
async function runSlowDisk(seed: number, library: string | undefined): Promise<TrialResult> {
  const name = slowDisk;
  if (library === undefined) return { name, notRun: "needs cc", problems: [], figures: {} };
  const problems: string[] = [];
  const figures: Record<string, number> = {};
  for (const syncMs of ["0", "3"]) {
    const trial = await Trial.start({
      environment: () => ({ LD_PRELOAD: library, FAULT_SYNC_MS: syncMs }),
    });
    try {
      await load({ target: trial.target, round: 1, seed, callers: 16, callsEach: 4 });
      await trial.loopLag();
      const startedMs = performance.now();
      const answers = await load({
        target: trial.target,
        round: 2,
        seed,
        callers: 16,
        callsEach: 20,
      });
      const took = performance.now() - startedMs;
      const lag = await trial.loopLag();
      problems.push(...(await trial.judge(answers)));
      if (answers.some(({ status }) => status !== 200)) problems.push("a call was refused");
      for (const [what, value] of Object.entries({ ...lagFigures(lag), load_ms: Math.round(took) }))
        figures[`${what} at ${syncMs} ms`] = value;
    } finally {
      problems.push(...(await trial.stop()));
    }
  }
  return { name, problems, figures };
}

const rounded = (value: number) => Math.round(value * 100) / 100;

const lagFigures = ({ p50Ms, maxMs }: { readonly p50Ms: number; readonly maxMs: number }) => ({
  lag_p50_ms: rounded(p50Ms),
  lag_max_ms: rounded(maxMs),
});

function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (const size of [65_536, 4_096, 1])
      try {
        const bytes = Buffer.alloc(size);
        for (;;) writeSync(file, bytes);
      } catch {
        // Full, for pieces of this size.
      }
  } finally {
    closeSync(file);
  }
}

/** The soft limit only: so it can be raised again. */
function limitFiles(pid: number, most: string): void {
  const { exitCode } = Bun.spawnSync(["prlimit", "--pid", String(pid), `--fsize=${most}:`]);
  if (exitCode !== 0) throw new Error("prlimit failed");
}

function lacksLibrary(library: string | undefined): string | undefined {
  return library === undefined ? "cc" : undefined;
}

function compile(folder: string): string {
  const path = join(folder, "faulty-disk.so");
  const source = resolve(import.meta.dir, "faulty-disk.c");
  const words = ["cc", "-shared", "-fPIC", "-O1", "-o", path, source, "-ldl"];
  if (Bun.spawnSync(words).exitCode !== 0) throw new Error("cc cannot compile faulty-disk.c");
  return path;
}
