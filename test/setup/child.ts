import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { runCommand } from "./command.ts";
import { copyEmptyDatabase } from "./empty-database.ts";

const main = resolve(import.meta.dir, "../../src/main.ts");

export type Environment = Readonly<Record<string, string>>;

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The words of a command; those of a text are between its spaces. */
export type Words = string | readonly string[];

/** A folder of its own for one server and the commands beside it. */
export interface Home {
  readonly dataDir: string;
  /** Where SVC_CONFIG points; empty unless written. */
  readonly configPath: string;
  writeConfig(text: string): void;
  /** That of its commands, for processes that a test starts by itself. */
  environment(more?: Environment): Record<string, string>;
  /** Runs one `svc` command to its end: in this process, unless the options need one of its own. */
  svc(words: Words, options?: SvcOptions): Promise<Finished>;
  /** What a command prints that must succeed without a warning. */
  ok(words: Words, options?: SvcOptions): Promise<string>;
  /** The result of a command that must succeed, from its --json. */
  json<T>(words: Words, options?: SvcOptions): Promise<T>;
  /** Starts `svc serve` and waits until it listens. */
  serve(environment?: Environment, options?: ServeOptions): Promise<ChildServer>;
  /** Kills what still runs and removes the folder. */
  remove(): Promise<void>;
  /** The same, at the end of a block that holds it with `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

interface ServeOptions {
  /** Gives it a process of its own, which can be killed. */
  readonly isProcess?: boolean;
  /** Flags of the command. */
  readonly flags?: readonly string[];
}

interface SvcOptions {
  readonly environment?: Environment;
  readonly stdin?: string;
  /** Gives it a process of its own, with a pipe at its standard input. */
  readonly isProcess?: boolean;
}

export interface ChildServer {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly origin: string;
  readonly platformUrl: string;
  /** The link for the first operator, while there is none. */
  readonly operatorLink: string | undefined;
  /** The key that a first start printed. */
  readonly key: string | undefined;
  readonly exited: Promise<number>;
  /** Of its own, or of the tests. */
  readonly pid: number;
  /** POSTs JSON to a path below /v1, with the key that the first start printed or with another. */
  post(path: string, body: object, key?: string): Promise<Response>;
  /** The status of a call that costs nothing, with this key. */
  statusFor(key: string | undefined): Promise<number>;
  stdout(): string;
  stderr(): string;
  /** Resolves when this text has come on stdout. */
  waitForOutput(text: string | RegExp): Promise<void>;
  /** Resolves when this text has come on stderr. */
  waitForLog(text: string): Promise<void>;
  /** SIGKILL needs a process. */
  signal(name: "SIGTERM" | "SIGINT" | "SIGKILL"): void;
  /** SIGTERM, and the exit code. */
  stop(): Promise<number>;
  /** Ends it if it still runs: at once where it can be killed. */
  end(): void;
}

export interface HomeOptions {
  /** A folder inside of the home's own. */
  readonly folder?: string;
  /**
   * Gives each server and command a process of its own, which takes a second to start. For what only
   * processes have: signals, exit codes, crashes, locks between them.
   */
  readonly isProcess?: boolean;
  /** Leaves it to the first command to create the database; otherwise it finds empty tables. */
  readonly isBare?: boolean;
}

export function createHome({
  folder = "",
  isProcess: areProcesses = false,
  isBare = false,
}: HomeOptions = {}): Home {
  const root = mkdtempSync(join(tmpdir(), "svc-cli-"));
  const dataDir = join(root, folder, "data");
  const configPath = join(root, "svc.yaml");
  writeFileSync(configPath, "");
  if (!isBare) copyEmptyDatabase(join(dataDir, "svc.db"));
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
  const svc: Home["svc"] = async (words, options = {}) => {
    const { environment = {}, stdin, isProcess = areProcesses } = options;
    const start =
      isProcess || Object.keys(environment).some(isReadByRuntime) ? startProcess : startHere;
    const command = start(listOf(words), environmentWith(environment), stdin);
    const code = await command.exited;
    return { code, stdout: command.stdout.text, stderr: command.stderr.text };
  };
  const must = async (words: readonly string[], options?: SvcOptions): Promise<Finished> => {
    const finished = await svc(words, options);
    const { code, stderr } = finished;
    if (code !== 0) throw new Error(`svc ${words.join(" ")} ended with ${code}: ${stderr}`);
    return finished;
  };
  const remove = async () => {
    for (const server of running) server.end();
    await Promise.all([...running].map(({ exited }) => exited));
    rmSync(root, { recursive: true, force: true });
  };
  return {
    dataDir,
    configPath,
    writeConfig: (text) => writeFileSync(configPath, text),
    environment: environmentWith,
    svc,
    async ok(words, options) {
      const { stdout, stderr } = await must(listOf(words), options);
      if (stderr !== "") throw new Error(`svc ${words} warns: ${stderr}`);
      return stdout;
    },
    json: async (words, options) =>
      JSON.parse((await must([...listOf(words), "--json"], options)).stdout),
    async serve(environment, { isProcess = areProcesses, flags = [] } = {}) {
      const start = isProcess ? startProcess : startHere;
      const server = await listening(start(["serve", ...flags], environmentWith(environment)));
      running.add(server);
      return server;
    },
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

export const listOf = (words: Words): readonly string[] =>
  typeof words === "string" ? words.split(" ") : words;

/** Proxies and authorities are the runtime's own: it reads them when a process starts. */
const isReadByRuntime = (name: string) => /_proxy$|^NODE_EXTRA_CA_CERTS$/i.test(name);

interface RunningCommand {
  readonly pid: number;
  readonly stdout: Collected;
  readonly stderr: Collected;
  /** After all that it has printed was read. */
  readonly exited: Promise<number>;
  readonly kill: (signal: "SIGTERM" | "SIGINT" | "SIGKILL") => void;
}

function startProcess(
  words: readonly string[],
  environment: Environment,
  stdin?: string,
): RunningCommand {
  const child = Bun.spawn([process.execPath, main, ...words], {
    env: environment,
    stdin: stdin === undefined ? "ignore" : Buffer.from(stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
  const stdout = new Collected();
  const stderr = new Collected();
  const read = Promise.all([stdout.read(child.stdout), stderr.read(child.stderr)]);
  return {
    pid: child.pid,
    stdout,
    stderr,
    exited: Promise.all([child.exited, read]).then(([code]) => code),
    kill: (signal) => void child.kill(signal),
  };
}

function startHere(
  words: readonly string[],
  environment: Environment,
  stdin?: string,
): RunningCommand {
  const stdout = new Collected();
  const stderr = new Collected();
  const signals = new EventEmitter();
  let isAsked = false;
  const output = { stdout: stdout.add, stderr: stderr.add };
  const exited = runCommand({ words, environment, stdin, output, signals }).finally(() => {
    stdout.end();
    stderr.end();
    signals.removeAllListeners();
  });
  return {
    pid: process.pid,
    stdout,
    stderr,
    exited,
    kill(signal) {
      if (signal === "SIGKILL") throw new Error("a server in this process cannot be killed");
      // A second one, half a second later, would end this process and all of its tests.
      if (isAsked) return;
      isAsked = true;
      signals.emit(signal);
    },
  };
}

async function listening({
  pid,
  stdout,
  stderr,
  exited,
  kill,
}: RunningCommand): Promise<ChildServer> {
  await stdout.until("Ctrl-C stops the server");
  const found = (pattern: RegExp) => pattern.exec(stdout.text)?.[1];
  const baseUrl = found(/gateway {3}(\S+)/);
  if (baseUrl === undefined)
    throw new Error(`the server did not start: ${stdout.text}${stderr.text}`);
  const key = found(/(sk-svc-\w+)/);
  const withKey = (own: string | undefined) => ({ authorization: `Bearer ${own}` });
  return {
    pid,
    baseUrl,
    post: (path, body, own = key) =>
      fetch(`${baseUrl}${path}`, {
        method: "POST",
        headers: { ...withKey(own), "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    statusFor: async (own) => (await fetch(`${baseUrl}/models`, { headers: withKey(own) })).status,
    origin: baseUrl.replace(/\/v1$/, ""),
    platformUrl: found(/console {3}(\S+)/) ?? "",
    operatorLink: found(/operator {2}(\S+)/),
    key,
    exited,
    stdout: () => stdout.text,
    stderr: () => stderr.text,
    waitForOutput: (text) => stdout.until(text),
    waitForLog: (text) => stderr.until(text),
    signal: kill,
    end: () => kill(pid === process.pid ? "SIGTERM" : "SIGKILL"),
    async stop() {
      kill("SIGTERM");
      return exited;
    },
  };
}

/** All that a stream has brought so far, and a way to wait for a part of it. */
class Collected {
  text = "";
  #isOver = false;
  readonly #decoder = new TextDecoder();
  readonly #waiting = new Set<() => void>();

  readonly add = (data: string | Uint8Array): void => {
    this.text += typeof data === "string" ? data : this.#decoder.decode(data, { stream: true });
    this.#wake();
  };

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const bytes of stream) this.add(bytes);
    this.end();
  }

  /** Also resolves when the stream is over, since nothing more will come. */
  async until(wanted: string | RegExp): Promise<void> {
    const has = () =>
      typeof wanted === "string" ? this.text.includes(wanted) : wanted.test(this.text);
    while (!this.#isOver && !has()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
      this.#waiting.delete(resolve);
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
