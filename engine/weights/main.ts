import { parseArgs } from "node:util";
import { type PullOptions, pullSets } from "./pull.ts";
import { type SetName, type SetProgress, setNames, setOf } from "./sets.ts";

/**
 * A process of its own, so that hashing, unpacking and preparing never hold up a server:
 *
 *     bun engine/weights/main.ts --cache DIR [--from DIR] [--json] [text chat …]
 *
 * With --json each line of stdout is one SetProgress. It ends with 1 if a set failed. SIGTERM and
 * SIGINT stop it, as does a reader who has gone; what was fetched is kept for the next run.
 */
export async function runPull<Name extends string>({
  isJson,
  ...options
}: Omit<PullOptions<Name>, "onProgress" | "signal"> & {
  readonly isJson: boolean;
}): Promise<number> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.stdout.on("error", stop);
  const toLine = isJson ? (progress: SetProgress<Name>) => JSON.stringify(progress) : createLines();
  const results = await pullSets({
    ...options,
    signal: stopping.signal,
    onProgress(progress) {
      const line = toLine(progress);
      if (line !== undefined) process.stdout.write(`${line}\n`);
    },
  });
  return results.every(({ phase }) => phase === "ready") ? 0 : 1;
}

/** One line at each change of phase. */
function createLines(): (progress: SetProgress<string>) => string | undefined {
  const phases = new Map<string, string>();
  return ({ set, phase, problem }) => {
    if (phases.get(set) === phase) return undefined;
    phases.set(set, phase);
    return `${set}: ${phase}${problem === undefined ? "" : `: ${problem}`}`;
  };
}

function isKnown(name: string): name is SetName {
  return (setNames as readonly string[]).includes(name);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      cache: { type: "string" },
      from: { type: "string" },
      json: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const unknown = positionals.find((name) => !isKnown(name));
  if (values.cache === undefined || unknown !== undefined) {
    process.stderr.write(
      unknown === undefined ? "--cache is required\n" : `unknown set ${unknown}\n`,
    );
    return 2;
  }
  const names = positionals.length === 0 ? setNames : positionals.filter(isKnown);
  return runPull({
    cacheDir: values.cache,
    from: values.from,
    isJson: values.json,
    sets: names.map(setOf),
  });
}

if (import.meta.main) process.exit(await main());
