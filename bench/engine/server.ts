/**
 * The gateway with its embedded engine, started as a person would and watched from outside: its
 * first screen, its socket, the processes below it. It leads a process group of its own, so that
 * npm, the gateway, the engine, the models and a running download can be ended together.
 */
import { closeSync, openSync, readFileSync } from "node:fs";
import type { Subprocess } from "bun";
import { socketPath } from "../../src/base/network/socket-path.ts";
import type { Gateway } from "./calls.ts";

export type ServerOptions = {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its own: the first screen is looked for in it. */
  readonly logPath: string;
};

/** One model as the engine's own server tells it. */
type ModelView = { readonly name: string; readonly pid: number | null };

const stopTimeoutMs = 15_000;
const statusTimeoutMs = 5_000;

export class EngineServer {
  /** All times of a start are counted from here. */
  readonly startedMs = performance.now();
  readonly #options: ServerOptions;
  readonly #process: Subprocess;

  constructor(options: ServerOptions) {
    this.#options = options;
    const log = openSync(options.logPath, "a");
    this.#process = Bun.spawn([...options.command], {
      cwd: options.cwd,
      env: { ...usualEnvironment(), ...options.env, SVC_DATA_DIR: options.dataDir },
      stdin: "ignore",
      stdout: log,
      stderr: log,
      detached: true,
    });
    closeSync(log);
  }

  get elapsedS(): number {
    return (performance.now() - this.startedMs) / 1000;
  }

  get ended(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Resolves with the first 200 of its health check. A start that is not the first prints no key. */
  async listening(timeoutMs: number, knownKey?: string): Promise<Gateway> {
    const deadlineMs = this.startedMs + timeoutMs;
    while (performance.now() < deadlineMs) {
      this.assertAlive();
      const screen = readFileSync(this.#options.logPath, "utf8");
      const url = /gateway {3}(\S+)\/v1\n/.exec(screen)?.[1];
      const key = knownKey ?? /(sk-svc-\w+)/.exec(screen)?.[1];
      if (url !== undefined && key !== undefined && (await isHealthy(url))) return { url, key };
      await Bun.sleep(20);
    }
    throw new Error(`it did not listen within ${timeoutMs / 1000} s\n${this.lastWords()}`);
  }

  assertAlive(): void {
    if (this.ended) throw new Error(`the gateway ended\n${this.lastWords()}`);
  }

  /** The end of what it wrote. */
  lastWords(): string {
    return readFileSync(this.#options.logPath, "utf8").slice(-2000).trim();
  }

  /** The process of each model that is loaded. */
  async modelPids(): Promise<ReadonlyMap<string, number>> {
    const reply = await fetch("http://localhost/status", {
      unix: socketPath(this.#options.dataDir, "engine.sock"),
      signal: AbortSignal.timeout(statusTimeoutMs),
    });
    const { models } = (await reply.json()) as { readonly models: readonly ModelView[] };
    return new Map(
      models.flatMap(({ name, pid }): [string, number][] => (pid === null ? [] : [[name, pid]])),
    );
  }

  async stop(): Promise<void> {
    if (!this.ended) {
      this.#process.kill("SIGTERM");
      await Promise.race([this.#process.exited, Bun.sleep(stopTimeoutMs)]);
    }
    this.kill();
    await this.#process.exited;
  }

  /** Whatever is left of the group; also for signal handlers, which cannot wait. */
  kill(): void {
    try {
      process.kill(-this.#process.pid, "SIGKILL");
    } catch {
      // Nobody is left.
    }
  }
}

/**
 * The caller's environment, because npm's registry, proxy and cache may be named in it. Settings of
 * the gateway have no place in a bench, and what `npm run` adds would tell the npm below it of
 * another project.
 */
function usualEnvironment(): Record<string, string> {
  const left =
    /^(SVC_|npm_(package|lifecycle|command|execpath|node_execpath|config_local_prefix)|INIT_CWD$|FORCE_COLOR$)/;
  const kept = Object.entries(process.env).filter(([name]) => !left.test(name));
  return {
    ...Object.fromEntries(kept.map(([name, value]) => [name, value ?? ""])),
    NO_COLOR: "1",
    SVC_PORT: "0",
    SVC_PLATFORM_PORT: "0",
  };
}

async function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`, { signal: AbortSignal.timeout(statusTimeoutMs) }).then(
    ({ status }) => status === 200,
    () => false,
  );
}
