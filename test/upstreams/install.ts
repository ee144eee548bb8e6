import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Python with the server in it, in a folder of its own that is gone afterwards. */
export interface Installed {
  readonly python: string;
  readonly version: string;
  remove(): void;
}

const requirements = join(import.meta.dir, "requirements.txt");

export async function installServer(systemPython: string): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), "svc-upstreams-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const python = join(folder, "venv", "bin", "python");
  try {
    await run([systemPython, "-m", "venv", join(folder, "venv")]);
    // Built wheels only: compiling llama.cpp would take longer than all checks together.
    const words = ["install", "--only-binary=:all:", "--no-cache-dir", "-r", requirements];
    await run([python, "-m", "pip", "--disable-pip-version-check", ...words]);
    const ask = "import importlib.metadata as m; print(m.version('xllamacpp'))";
    return { python, version: (await run([python, "-c", ask])).trim(), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

async function run(words: readonly string[]): Promise<string> {
  const child = Bun.spawn([...words], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [code, out, errors] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if (code === 0) return out;
  const last = `${out}${errors}`.trim().split("\n").slice(-15).join("\n");
  throw new Error(
    `${words.slice(1, 4).join(" ")} ended with ${code}:\n${last}\npip config list shows where it fetches from.`,
  );
}
