import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { goFolder, type Machine } from "./machine.ts";

/** Where everything is installed: a folder of its own, so that nothing of the machine changes. */
const clientsFolder =
  process.env["SVC_CLIENTS_DIR"] || join(import.meta.dir, "..", "..", "..", ".clients");
export const pythonFolder = join(import.meta.dir, "..", "python");
/** What `package.json` pins: the agents, whose programs are packages per platform. */
const agentPins = join(import.meta.dir, "..", "agents", "package.json");

/** The environments, each with the file that pins what is in it. */
export const pythonSets = {
  python: "requirements.txt",
  llamaindex: "llamaindex-requirements.txt",
} as const;
export type PythonSet = keyof typeof pythonSets;

export interface InstalledPython {
  readonly command: string;
  /** Holds the token table under the name that tiktoken looks for. */
  readonly tokenTableFolder: string;
  readonly cacheFolder: string;
}

/** Installs the pinned versions, unless just these are there already. */
export async function installPython(set: PythonSet, machine: Machine): Promise<InstalledPython> {
  const folder = join(clientsFolder, set);
  const installed: InstalledPython = {
    command: join(folder, "venv", "bin", "python"),
    tokenTableFolder: join(folder, "token-table"),
    cacheFolder: join(folder, "cache"),
  };
  const pins = [pythonSets[set], "token-table.txt", "token_table.py"];
  const stamp = stampOf({ paths: pins.map((name) => join(pythonFolder, name)), machine });
  if (isInstalled({ folder, stamp }) && existsSync(installed.command)) return installed;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const wheels = join(folder, "wheels");
  const run = (words: readonly string[]) => runInstaller({ words, folder });
  const pip = [installed.command, "-m", "pip", "--disable-pip-version-check"];
  say(`installing Python clients into ${folder} …`);
  await run([machine.python ?? "python3", "-m", "venv", join(folder, "venv")]);
  await run([...pip, "install", "-r", join(pythonFolder, pythonSets[set])]);
  const table = ["--no-deps", "--only-binary=:all:", "-r", join(pythonFolder, "token-table.txt")];
  await run([...pip, "download", "--dest", wheels, ...table]);
  const tableScript = join(pythonFolder, "token_table.py");
  await run([installed.command, tableScript, wheels, installed.tokenTableFolder]);
  rmSync(wheels, { recursive: true });
  writeFileSync(join(folder, "installed"), stamp);
  return installed;
}

/** The program of the Go client, built. */
export async function installGo(machine: Machine): Promise<string> {
  const folder = join(clientsFolder, "go");
  const program = join(folder, "client");
  const sources = readdirSync(goFolder).map((name) => join(goFolder, name));
  const stamp = stampOf({ paths: sources.toSorted(), machine });
  if (isInstalled({ folder, stamp }) && existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  // What Go has fetched and compiled stays: its own checksums say what is still good.
  rmSync(join(folder, "installed"), { force: true });
  say(`installing the Go client into ${folder} …`);
  const environment = {
    GOPATH: join(folder, "path"),
    GOMODCACHE: join(folder, "path", "pkg", "mod"),
    GOCACHE: join(folder, "cache"),
    // Without the first, the folder could not be deleted by an ordinary rm.
    GOFLAGS: `${process.env["GOFLAGS"] ?? ""} -modcacherw -mod=readonly -buildvcs=false`.trim(),
  };
  const words = [machine.go ?? "go", "build", "-v", "-o", program, "."];
  await runInstaller({ words, folder: goFolder, environment });
  writeFileSync(join(folder, "installed"), stamp);
  return program;
}

/** The folder whose `node_modules/.bin` has the agents. */
export async function installAgents(machine: Machine): Promise<string> {
  const folder = join(clientsFolder, "agents");
  const stamp = stampOf({ paths: [agentPins], machine });
  if (isInstalled({ folder, stamp })) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync(agentPins, join(folder, "package.json"));
  say(`installing agents into ${folder} …`);
  // With their install scripts: Claude Code's puts the program of the platform in its place.
  const words = ["npm", "install", "--no-audit", "--no-fund"];
  await runInstaller({ words, folder });
  writeFileSync(join(folder, "installed"), stamp);
  return folder;
}

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** As pinned. */
export const agentVersion = (name: string) =>
  String(JSON.parse(readFileSync(agentPins, "utf8")).dependencies[name]);

/** Changes with every pinned version, every source that is built, and the machine's own tools. */
function stampOf(options: { readonly paths: readonly string[]; readonly machine: Machine }) {
  const { pythonVersion, goVersion } = options.machine;
  const hash = createHash("sha256");
  hash.update(options.paths[0]?.startsWith(goFolder) === true ? goVersion : pythonVersion);
  hash.update(`${process.platform} ${process.arch}`);
  for (const path of options.paths) hash.update("\0").update(readFileSync(path));
  return hash.digest("hex");
}

function isInstalled(options: { readonly folder: string; readonly stamp: string }): boolean {
  const path = join(options.folder, "installed");
  return existsSync(path) && readFileSync(path, "utf8") === options.stamp;
}

/** The machine's own settings of pip, Go and npm apply: where they fetch from is not ours to say. */
async function runInstaller(options: {
  readonly words: readonly string[];
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<void> {
  const child = Bun.spawn([...options.words], {
    cwd: options.folder,
    env: { ...process.env, ...options.environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, ...texts] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if (code === 0) return;
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => line.trim() !== "");
  throw new Error(
    `${options.words.join(" ")} ended with ${code}:\n${lines.slice(-15).join("\n")}\n` +
      "It uses the machine's own settings: see `pip config list`, `go env GOPROXY` and `npm config get registry` for where it fetches from.",
  );
}
