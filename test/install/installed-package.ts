import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..", "..");

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface ServingPackage {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly platformUrl: string;
  readonly operatorLink: string;
  readonly key: string;
  /** The exit code of the command that was started. */
  stop(): Promise<number>;
}

/** The package in an empty folder, as a user has it. */
export interface InstalledPackage {
  readonly folder: string;
  /** Where npm has put the package. */
  readonly place: string;
  /** A command of the package, such as `npx svc doctor`. */
  npx(...words: readonly string[]): Promise<Ended>;
  /** The same command without npm around it. */
  svc(...words: readonly string[]): Promise<Ended>;
  /** A command that keeps running, by npx or by its path. */
  serve(command: readonly string[], more?: Environment): Promise<ServingPackage>;
  /** All files of the package with their sizes and times. */
  files(): readonly string[];
}

type Environment = Readonly<Record<string, string>>;

/** Of npm, for its registry and cache, without settings of this shell. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(SVC|npm)_|^(NODE_ENV|CI)$/.test(name)),
);

export async function run(
  command: readonly string[],
  cwd: string,
  env: Environment = {},
): Promise<Ended> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...inherited, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}

async function runOrThrow(command: readonly string[], cwd: string): Promise<string> {
  const { code, out, err } = await run(command, cwd);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${out}${err}`);
  return out;
}

/** What `npm pack` makes. */
export async function packTo(folder: string): Promise<string> {
  await runOrThrow(["npm", "pack", "--silent", "--pack-destination", folder], root);
  const [name] = readdirSync(folder).filter((one) => one.endsWith(".tgz"));
  if (name === undefined) throw new Error("npm pack wrote no package");
  return join(folder, name);
}

/** Into an empty folder with `svc.yaml`, without install scripts and development tools. */
export async function installPackage(
  tarball: string,
  options: { readonly manifest: string; readonly environment: Environment },
): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), "svc-package-"));
  await runOrThrow(
    ["npm", "install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", tarball],
    folder,
  );
  writeFileSync(join(folder, "svc.yaml"), options.manifest);
  const place = join(folder, "node_modules", "svc-gateway");
  const environment = {
    SVC_PORT: "0",
    SVC_PLATFORM_PORT: "0",
    SVC_CACHE_DIR: join(folder, "cache"),
    ...options.environment,
  };
  return {
    folder,
    place,
    npx: (...words) => run(["npx", "--no", "--", ...words], folder, environment),
    svc: (...words) =>
      run([join(folder, "node_modules", ".bin", "svc"), ...words], folder, environment),
    serve: (command, more = {}) => serve(command, folder, { ...environment, ...more }),
    files: () =>
      readdirSync(place, { recursive: true, encoding: "utf8" })
        .toSorted()
        .map((path) => {
          const { size, mtimeMs } = statSync(join(place, path));
          return `${path} ${size} ${mtimeMs}`;
        }),
  };
}

export function emptyFolder(...path: string[]): string {
  const folder = join(...path);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Starts a command that keeps running in a folder. Resolves when its server answers. */
export async function serve(
  command: readonly string[],
  cwd: string,
  environment: Environment,
): Promise<ServingPackage> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...inherited, ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const errors = new Response(child.stderr).text();
  let text = "";
  const decoder = new TextDecoder();
  const reader = child.stdout.getReader();
  while (!text.includes("Ctrl-C stops the server")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the server did not start: ${text}${await errors}`);
    text += decoder.decode(value, { stream: true });
  }
  // The rest of its output must not fill the pipe.
  const rest = (async () => {
    while (!(await reader.read()).done);
  })();
  const found = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "";
  return {
    baseUrl: found(/gateway {3}(\S+)/),
    platformUrl: found(/console {3}(\S+)/),
    operatorLink: found(/operator {2}(\S+)/),
    key: found(/(sk-svc-\w+)/),
    async stop() {
      if (child.exitCode !== null) return child.exitCode;
      // npm and npx do not pass signals on. The server notes its own process beside the database.
      const owner = join(cwd, ".svc", "owner.json");
      if (/^np[mx]$/.test(command[0] ?? ""))
        process.kill(JSON.parse(readFileSync(owner, "utf8")).pid);
      else child.kill("SIGTERM");
      await rest;
      return child.exited;
    },
  };
}
