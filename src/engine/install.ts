import { join } from "node:path";
import { Problem } from "../base/problem.ts";
import { childEnvironment, type Environment } from "../config/child-environment.ts";
import { projectDir } from "../config/setting-readers.ts";
import { linesOf } from "./lines.ts";

const script = join(projectDir, "scripts", "install-engine.mjs");

/** Installs the engine's runtime libraries where they are missing; npm's words go to `onLine`. */
export async function ensureEngineInstalled({
  environment,
  onLine = () => {},
  signal,
}: {
  readonly environment: Environment;
  readonly onLine?: (line: string) => void;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const child = Bun.spawn(["node", script], {
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
  if ((await child.exited) === 0) return;
  signal?.throwIfAborted();
  throw new Problem({
    code: "failed",
    message: `The runtime of the embedded models could not be installed: ${lines.slice(-6).join(" · ") || "npm printed no error"}. The gateway will try again. To install offline, see docs/engine.md.`,
  });
}
