import { join } from "node:path";
import { isClone, projectDir } from "../base/place.ts";
import { Problem } from "../base/problem.ts";
import { childEnvironment, type Environment } from "../config/child-environment.ts";
import { linesOf } from "./lines.ts";
import { type EnginePlace, enginePlace } from "./place.ts";

const script = join(projectDir, "scripts", "install-engine.mjs");

/**
 * Installs the engine's runtime libraries where they are missing; npm's words go to `onLine`.
 * Returns where the engine runs from.
 */
export async function ensureEngineInstalled({
  environment,
  cacheDir,
  onLine = () => {},
  signal,
}: {
  readonly environment: Environment;
  readonly cacheDir: string;
  readonly onLine?: (line: string) => void;
  readonly signal?: AbortSignal;
}): Promise<EnginePlace> {
  const place = enginePlace(cacheDir);
  const folders = isClone ? [] : [place.libraries, place.sources];
  const child = Bun.spawn(["node", script, ...folders], {
    env: childEnvironment(environment, "installer"),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    ...(signal === undefined ? {} : { signal }),
  });
  const lines: string[] = [];
  for await (const line of linesOf(child.stderr)) {
    if (line.trim() === "") continue;
    lines.push(line);
    onLine(line);
  }
  if ((await child.exited) === 0) return place;
  signal?.throwIfAborted();
  throw new Problem({
    code: "failed",
    message: `The runtime of the embedded models could not be installed: ${lines.slice(-6).join(" · ") || "npm printed no error"}. The gateway will try again. To install offline, see docs/engine.md.`,
  });
}
