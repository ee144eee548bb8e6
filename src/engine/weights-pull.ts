import { join } from "node:path";
import type { SetName, SetProgress } from "../../engine/weights/sets.ts";
import { projectDir } from "../config/settings.ts";

const pullPath = join(projectDir, "engine", "weights", "main.ts");

export interface PullOptions {
  readonly cacheDir: string;
  readonly sets: readonly SetName[];
  readonly from?: string | undefined;
  readonly onProgress: (progress: SetProgress) => void;
  readonly signal?: AbortSignal;
}

/** Fetches weights in a process of its own; what is fetched when it is stopped is kept. */
export async function pullWeights(options: PullOptions): Promise<void> {
  const { cacheDir, sets, from, onProgress, signal } = options;
  const words = ["--cache", cacheDir, "--json", ...(from === undefined ? [] : ["--from", from])];
  const child = Bun.spawn([process.execPath, "--no-env-file", pullPath, ...words, ...sets], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    ...(signal === undefined ? {} : { signal, killSignal: "SIGTERM" }),
  });
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of child.stdout) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") onProgress(JSON.parse(line));
  }
  await child.exited;
}
