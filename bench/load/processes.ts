/**
 * Child processes of the bench: started, waited for, weighed, and always ended, by id. The bench's
 * own children talk over Bun's IPC channel and leave when it closes, so that they do not outlive a
 * bench that was killed; the gateway knows nothing of the bench and is watched from outside.
 */
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Subprocess } from "bun";
import { processTree, resetPeak, type Weight, weigh } from "./weight.ts";

export type ChildOptions = {
  readonly name: string;
  /** A program that is not a script for this same Bun. */
  readonly command?: string | undefined;
  /** Script and arguments. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the project's folder. */
  readonly cwd?: string | undefined;
  /** Where its output goes, to be shown only when something is wrong. */
  readonly logPath: string;
  /** One of the bench's own, which announces itself. */
  readonly talks: boolean;
};

type Message =
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "result"; readonly result: unknown }
  | { readonly type: "failed"; readonly reason: string };

export const projectDir = fileURLToPath(new URL("../..", import.meta.url));

const readyTimeoutMs = 20_000;
const stopTimeoutMs = 5_000;

export class Child {
  readonly name: string;
  readonly #logPath: string;
  readonly #process: Subprocess;
  /** Messages that came before they were asked for: at most one, as every question has one answer. */
  #early: Message | undefined;
  #waiting: ((message: Message) => void) | undefined;

  constructor({ name, command, args, env, cwd, logPath, talks }: ChildOptions) {
    this.name = name;
    this.#logPath = logPath;
    writeFileSync(logPath, "");
    // Both to one descriptor that appends: two of their own would overwrite each other.
    const log = openSync(logPath, "a");
    const program = command === undefined ? [process.execPath, "--no-env-file"] : [command];
    this.#process = Bun.spawn([...program, ...args], {
      cwd: cwd ?? projectDir,
      env: { ...plainEnvironment(), ...env },
      stdin: "ignore",
      stdout: log,
      stderr: log,
      ...(talks ? { ipc: (message: Message) => this.#receive(message) } : {}),
    });
    closeSync(log);
    void this.#process.exited.then((code) => {
      this.#receive({ type: "failed", reason: `${name} ended with ${code}\n${this.lastWords()}` });
    });
  }

  weigh(): Weight {
    try {
      return weigh(this.#process.pid);
    } catch (cause) {
      throw new Error(`${this.name} cannot be weighed; has it ended?\n${this.lastWords()}`, {
        cause,
      });
    }
  }

  resetPeak(): void {
    resetPeak(this.#process.pid);
  }

  /** The end of what it wrote. */
  lastWords(): string {
    return existsSync(this.#logPath) ? readFileSync(this.#logPath, "utf8").slice(-2000).trim() : "";
  }

  get ended(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** The port that the child announced. */
  async ready(): Promise<number> {
    const message = await this.#next(readyTimeoutMs);
    if (message.type === "ready") return message.port;
    throw new Error(message.type === "failed" ? message.reason : `${this.name} is out of step`);
  }

  async ask(question: unknown, timeoutMs: number): Promise<unknown> {
    this.#process.send(question);
    const message = await this.#next(timeoutMs);
    if (message.type === "result") return message.result;
    throw new Error(message.type === "failed" ? message.reason : `${this.name} is out of step`);
  }

  async stop(): Promise<void> {
    if (this.ended) return;
    this.#process.kill("SIGTERM");
    await Promise.race([this.#process.exited, Bun.sleep(stopTimeoutMs)]);
    this.kill();
    await this.#process.exited;
  }

  /** With all processes that it started. */
  kill(): void {
    if (this.ended) return;
    for (const pid of processTree(this.#process.pid)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
  }

  #receive(message: Message): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#early = message;
    else waiting(message);
  }

  async #next(timeoutMs: number): Promise<Message> {
    const { promise, resolve } = Promise.withResolvers<Message>();
    const timer = setTimeout(() => {
      resolve({ type: "failed", reason: `${this.name} was silent for ${timeoutMs} ms` });
    }, timeoutMs);
    const early = this.#early;
    this.#early = undefined;
    if (early === undefined) this.#waiting = resolve;
    else resolve(early);
    try {
      return await promise;
    } finally {
      this.#waiting = undefined;
      clearTimeout(timer);
    }
  }
}

/** Every child of this bench, so that all of them can be ended wherever it stops. */
export class Children {
  readonly #dir: string;
  readonly #all: Child[] = [];

  /** The directory is for their logs. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  start(options: Omit<ChildOptions, "logPath">): Child {
    const logPath = join(this.#dir, `${options.name.replaceAll(" ", "-")}.log`);
    const child = new Child({ ...options, logPath });
    this.#all.push(child);
    return child;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((child) => child.stop()));
  }

  /** For signal handlers, which cannot wait. */
  kill(): void {
    for (const child of this.#all) child.kill();
  }
}

/** In a child: says that it listens, and ties its life to the parent's. */
export function announce(port: number | undefined): void {
  process.on("disconnect", () => process.exit(0));
  process.send?.({ type: "ready", port: port ?? 0 } satisfies Message);
}

/** In a child: answers questions, one at a time. */
export function serveJobs(work: (question: unknown) => Promise<unknown>): void {
  process.on("message", async (question: unknown) => {
    try {
      process.send?.({ type: "result", result: await work(question) } satisfies Message);
    } catch (error) {
      process.send?.({ type: "failed", reason: String(error) } satisfies Message);
    }
  });
  announce(undefined);
}

/** Not the caller's environment: proxies and SVC_ settings of the shell have no place in a bench. */
function plainEnvironment(): Record<string, string> {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG"];
  return Object.fromEntries(kept.flatMap((name) => [[name, process.env[name] ?? ""]]));
}

/** Bun's fetch runs only 256 requests at once by default; all proxies have the same limit. */
export const proxyEnv = { BUN_CONFIG_MAX_HTTP_REQUESTS: "4096" };

/** A folder and children that are gone when the bench ends, also after ctrl-C. */
export function openBench(): {
  readonly dir: string;
  readonly children: Children;
  /** Runs the bench and ends the process with its exit code. */
  readonly run: (bench: () => Promise<void>) => Promise<never>;
} {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const children = new Children(dir);
  process.on("exit", () => {
    children.kill();
    rmSync(dir, { recursive: true, force: true });
  });
  const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const [signal, code] of Object.entries(exitCodes))
    process.on(signal, () => process.exit(code));
  const run = async (bench: () => Promise<void>) => {
    try {
      await bench();
    } catch (error) {
      process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    } finally {
      await children.stop();
    }
    return process.exit();
  };
  return { dir, children, run };
}

/** The upstream, and the process that sends the load. */
export async function startTraffic(children: Children): Promise<{
  readonly upstreamPort: number;
  readonly upstream: Child;
  readonly generator: Child;
}> {
  const start = (name: string, script: string) =>
    children.start({ name, args: [`bench/load/${script}.ts`], talks: true });
  const upstream = start("upstream", "upstream");
  const generator = start("load generator", "load");
  await generator.ready();
  return { upstreamPort: await upstream.ready(), upstream, generator };
}

export function machineNow() {
  const all = cpus();
  return {
    processors: all.length,
    model: all[0]?.model ?? "unknown",
    platform: `${process.platform} ${process.arch}`,
    bun: Bun.version,
    loadAverage: loadavg()[0] ?? 0,
  };
}
