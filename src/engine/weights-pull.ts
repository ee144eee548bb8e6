import { join } from "node:path";
import type { SetName, SetProgress } from "../../engine/weights/sets.ts";
import { baseDir } from "../base/place.ts";
import { childEnvironment, type Environment } from "../config/child-environment.ts";
import { linesOf } from "./lines.ts";
import { enginePlace } from "./place.ts";

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
  const pullPath = join(enginePlace(cacheDir).sources, "weights", "main.ts");
  const words = ["--cache", cacheDir, "--json", ...(from === undefined ? [] : ["--from", from])];
  const child = Bun.spawn([process.execPath, "--no-env-file", pullPath, ...words, ...sets], {
    // npm's settings of the project count: of the clone, or the one that the package is installed in.
    cwd: baseDir,
    env: childEnvironment(environment, "installer"),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    ...(signal === undefined ? {} : { signal, killSignal: "SIGTERM" }),
  });
  for await (const line of linesOf(child.stdout)) if (line !== "") onProgress(JSON.parse(line));
  await child.exited;
}
