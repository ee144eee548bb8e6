import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const main = resolve(import.meta.dir, "../../src/main.ts");

export type Environment = Readonly<Record<string, string>>;

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder of its own for one server and the commands beside it. */
export interface Home {
  readonly dataDir: string;
  /** Where SVC_CONFIG points; empty unless written. */
  readonly configPath: string;
  writeConfig(text: string): void;
  /** Runs one `svc` command to its end. */
  svc(words: readonly string[], options?: SvcOptions): Promise<Finished>;
  /** The result of a command that must succeed, from its --json. */
  json<T>(words: readonly string[], options?: SvcOptions): Promise<T>;
  /** Starts `svc serve` and waits until it listens. */
  serve(environment?: Environment): Promise<ChildServer>;
  /** Kills what still runs and removes the folder. */
  remove(): Promise<void>;
}

interface SvcOptions {
  readonly environment?: Environment;
  readonly stdin?: string;
}

export interface ChildServer {
  readonly pid: number;
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly origin: string;
  readonly platformUrl: string;
  /** The link for the first operator, while there is none. */
  readonly operatorLink: string | undefined;
  /** The key that a first start printed. */
  readonly key: string | undefined;
  readonly exited: Promise<number>;
  stdout(): string;
  stderr(): string;
  /** Resolves when this text has come on stdout. */
  waitForOutput(text: string | RegExp): Promise<void>;
  /** Resolves when this text has come on stderr. */
  waitForLog(text: string): Promise<void>;
  signal(name: "SIGTERM" | "SIGINT" | "SIGKILL"): void;
  /** SIGTERM, and the exit code. */
  stop(): Promise<number>;
}

export function createHome({ folder = "" }: { readonly folder?: string } = {}): Home {
  const root = mkdtempSync(join(tmpdir(), "svc-cli-"));
  const dataDir = join(root, folder, "data");
  const configPath = join(root, "svc.yaml");
  writeFileSync(configPath, "");
  const running = new Set<ChildServer>();
  const environmentWith = (more: Environment = {}): Record<string, string> => ({
    PATH: process.env["PATH"] ?? "",
    HOME: root,
    SVC_PORT: "0",
    SVC_PLATFORM_PORT: "0",
    SVC_DATA_DIR: dataDir,
    SVC_CONFIG: configPath,
    // Tests of the embedded models switch them on.
    SVC_ENGINE: "off",
    ...more,
  });
  const svc: Home["svc"] = async (words, { environment, stdin } = {}) => {
    const child = Bun.spawn([process.execPath, main, ...words], {
      env: environmentWith(environment),
      stdin: stdin === undefined ? "ignore" : Buffer.from(stdin),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [code, stdout, stderr] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code, stdout, stderr };
  };
  return {
    dataDir,
    configPath,
    writeConfig: (text) => writeFileSync(configPath, text),
    svc,
    async json(words, options) {
      const { code, stdout, stderr } = await svc([...words, "--json"], options);
      if (code !== 0) throw new Error(`svc ${words.join(" ")} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    async serve(environment) {
      const server = await startChild(environmentWith(environment));
      running.add(server);
      return server;
    },
    async remove() {
      for (const server of running) server.signal("SIGKILL");
      await Promise.all([...running].map(({ exited }) => exited));
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function startChild(environment: Record<string, string>): Promise<ChildServer> {
  const child = Bun.spawn([process.execPath, main, "serve"], {
    env: environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  await stdout.until("Ctrl-C stops the server");
  const found = (pattern: RegExp) => pattern.exec(stdout.text())?.[1];
  const baseUrl = found(/gateway {3}(\S+)/);
  if (baseUrl === undefined)
    throw new Error(`the server did not start: ${stdout.text()}${stderr.text()}`);
  const server: ChildServer = {
    pid: child.pid,
    baseUrl,
    origin: baseUrl.replace(/\/v1$/, ""),
    platformUrl: found(/console {3}(\S+)/) ?? "",
    operatorLink: found(/operator {2}(\S+)/),
    key: found(/(sk-svc-\w+)/),
    // What it printed last is read before its end is told.
    exited: Promise.all([child.exited, stdout.ended, stderr.ended]).then(([code]) => code),
    stdout: stdout.text,
    stderr: stderr.text,
    waitForOutput: (text) => stdout.until(text),
    waitForLog: (text) => stderr.until(text),
    signal: (name) => void child.kill(name),
    async stop() {
      child.kill("SIGTERM");
      return server.exited;
    },
  };
  return server;
}

/** All that a stream has said so far, and a way to wait for a part of it. */
function collect(stream: ReadableStream<Uint8Array>) {
  let text = "";
  const state = { isOver: false };
  const waiting = new Set<() => void>();
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      text += decoder.decode(bytes, { stream: true });
      for (const wake of waiting) wake();
    }
    state.isOver = true;
    for (const wake of waiting) wake();
  })();
  const has = (wanted: string | RegExp) =>
    typeof wanted === "string" ? text.includes(wanted) : wanted.test(text);
  return {
    text: () => text,
    ended,
    /** Also resolves when the stream is over, since nothing more will come. */
    async until(wanted: string | RegExp): Promise<void> {
      while (!state.isOver && !has(wanted)) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.add(resolve);
        await promise;
        waiting.delete(resolve);
      }
    },
  };
}
