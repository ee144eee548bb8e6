import { join } from "node:path";
import type { SetName, SetProgress } from "../../engine/weights/sets.ts";
import { childEnvironment, type Environment } from "../config/child-environment.ts";
import { projectDir } from "../config/setting-readers.ts";
import { linesOf } from "./lines.ts";

const pullPath = join(projectDir, "engine", "weights", "main.ts");

export interface PullOptions {
  readonly environment: Environment;
  readonly cacheDir: string;
  readonly sets: readonly SetName[];
  readonly from?: string | undefined;
  readonly onProgress: (progress: SetProgress) => void;
  readonly signal?: AbortSignal;
}

/** Fetches weights in a process of its own; what is fetched when it is stopped is kept. */
export async function pullWeights(options: PullOptions): Promise<void> {
  const { environment, cacheDir, sets, from, onProgress, signal } = options;
  const words = ["--cache", cacheDir, "--json", ...(from === undefined ? [] : ["--from", from])];
  const child = Bun.spawn([process.execPath, "--no-env-file", pullPath, ...words, ...sets], {
    env: childEnvironment(environment, "installer"),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    ...(signal === undefined ? {} : { signal, killSignal: "SIGTERM" }),
  });
  for await (const line of linesOf(child.stdout)) if (line !== "") onProgress(JSON.parse(line));
  await child.exited;
}
