import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const installWithinMs = 600_000;

/** Installs packages into a folder of their own, by exact versions; once, until these change. */
export async function ensurePython(options: {
  readonly home: string;
  readonly requirements: string;
  readonly tell: (line: string) => void;
}): Promise<string> {
  const { home, requirements, tell } = options;
  const wanted = readFileSync(requirements, "utf8");
  const stamp = join(home, "installed.txt");
  const program = join(home, "bin", "python");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return program;
  tell(`installing packages into ${home} (python3 of at least 3.10 with venv, and PyPI)`);
  rmSync(home, { recursive: true, force: true });
  await command(["python3", "-c", "import sys, venv; sys.exit(sys.version_info < (3, 10))"]);
  await command(["python3", "-m", "venv", home]);
  await command([join(home, "bin", "pip"), "install", "--quiet", "--requirement", requirements]);
  writeFileSync(stamp, wanted);
  return program;
}

async function command(words: readonly string[]): Promise<void> {
  const [program = ""] = words;
  const isThere = Bun.which(program) !== null;
  const child = isThere
    ? Bun.spawn([...words], { stdin: "ignore", stdout: 2, stderr: 2, timeout: installWithinMs })
    : undefined;
  if ((await child?.exited) !== 0)
    throw new Error(
      `"${words.join(" ")}" failed. This part needs python3 of at least 3.10 with venv, and PyPI as pip is set up on this machine; --only ours runs without it.`,
    );
}
