import type { Log, LogRecord } from "../../base/log.ts";
import { Problem } from "../../base/problem.ts";
import { MergedMetrics, type ProcessMetrics } from "../../telemetry/merge.ts";
import { connectionsToEnd } from "./balancer.ts";
import type { EngineRefusal, FromWorker, ToWorker } from "./messages.ts";

export interface PoolOptions {
  readonly count: number;
  /** The program and its words that run a worker. */
  readonly command: (worker: number) => readonly string[];
  readonly nameOf: (worker: number) => string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How long workers may finish their calls when the pool stops. */
  readonly graceMs: number;
  readonly log: Log;
  /** Gets the lines that workers log. */
  readonly onLog: (records: readonly LogRecord[]) => void;
  /** Resolves when the engine can take a call for a model; else with the reason. */
  readonly askEngine: (model: string) => Promise<EngineRefusal | undefined>;
  /** The pauses before restarts; tests shorten them. */
  readonly pauses?: Pauses;
}

export interface Pauses {
  readonly firstMs: number;
  readonly longestMs: number;
  /** A worker that ran this long was healthy: it is restarted at once when it ends. */
  readonly healthyMs: number;
}

const usualPauses: Pauses = { firstMs: 250, longestMs: 30_000, healthyMs: 60_000 };
const balanceEveryMs = 5_000;
/** Metrics of a worker that does not answer in time are those of the last time. */
const metricsWithinMs = 2_000;
/** After the grace time, for what a worker still has to write. */
const endWithinMs = 15_000;

type Child = Bun.Subprocess<"ignore", "inherit", "inherit">;

interface Worker {
  readonly number: number;
  child: Child | undefined;
  startedMs: number;
  pauseMs: number;
  isListening: boolean;
  /** The average since the last look. */
  pending: number;
  metrics: string;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * The gateway processes of one machine. Starts them, restarts those that end (at once, then with
 * growing pauses), and ends them with this process: a worker whose channel breaks stops by itself,
 * so that not even a killed supervisor leaves one behind.
 */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #workers: readonly Worker[];
  readonly #merged = new MergedMetrics();
  readonly #asked = new Map<number, (text: string | undefined) => void>();
  readonly #balance: ReturnType<typeof setInterval>;
  readonly #started = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();
  #question = 0;
  #hasStarted = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#workers = Array.from({ length: options.count }, (_, at) => ({
      number: at + 1,
      child: undefined,
      startedMs: 0,
      pauseMs: 0,
      isListening: false,
      pending: 0,
      metrics: "",
      timer: undefined,
    }));
    this.#balance = setInterval(() => this.#spread(), balanceEveryMs);
    this.#balance.unref();
  }

  /** Resolves when all listen; rejects when one ends before that. */
  async start(): Promise<void> {
    for (const worker of this.#workers) this.#spawn(worker);
    await this.#started.promise;
  }

  /** Of all workers, with those of this process, as one text. */
  async metricsText(own: ProcessMetrics): Promise<string> {
    const parts = await Promise.all(this.#workers.map((worker) => this.#metricsOf(worker)));
    return this.#merged.text([own, ...parts]);
  }

  /** Calls in flight may finish within the grace time. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#balance);
    for (const { timer } of this.#workers) clearTimeout(timer);
    await Promise.all(this.#workers.map(({ child }) => child && this.#end(child)));
  }

  /** At once, calls in flight or not. */
  kill(): void {
    this.#stopping.abort();
    for (const { child } of this.#workers) child?.kill("SIGKILL");
  }

  async #end(child: Child): Promise<void> {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), this.#options.graceMs + endWithinMs);
    await child.exited;
    clearTimeout(timer);
  }

  #spawn(worker: Worker): void {
    if (this.#stopping.signal.aborted) return;
    const { command, environment } = this.#options;
    worker.startedMs = Date.now();
    worker.child = Bun.spawn([...command(worker.number)], {
      env: environment,
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      serialization: "json",
      ipc: (message: FromWorker, child) => this.#hear(worker, child, message),
      onExit: (child) => this.#onExit(worker, child.signalCode ?? child.exitCode ?? "unknown"),
    });
  }

  #hear(worker: Worker, child: Bun.Subprocess, message: FromWorker): void {
    if (message.type === "log") return this.#options.onLog(message.records);
    // The last words of one that has ended: it was counted at its exit.
    if (worker.child !== child) return;
    switch (message.type) {
      case "listening":
        worker.isListening = true;
        return this.#noteListening(worker);
      case "load":
        worker.pending = message.pending;
        return;
      case "metrics":
        worker.metrics = message.text;
        this.#asked.get(message.id)?.(message.text);
        return;
      case "ending":
        worker.metrics = message.text;
        return;
      case "engine":
        return void this.#askEngine(child, message);
      default:
        return message satisfies never;
    }
  }

  async #askEngine(
    child: Bun.Subprocess,
    { id, model }: Extract<FromWorker, { type: "engine" }>,
  ): Promise<void> {
    const refusal = await this.#options.askEngine(model);
    send(child, { type: "engine", id, ...(refusal === undefined ? {} : { refusal }) });
  }

  #noteListening({ number }: Worker): void {
    const { nameOf, log } = this.#options;
    if (this.#hasStarted) return log.info("worker is back", { worker: nameOf(number) });
    if (!this.#workers.every(({ isListening }) => isListening)) return;
    this.#hasStarted = true;
    this.#started.resolve();
  }

  #onExit(worker: Worker, code: string | number): void {
    const { nameOf, log, pauses = usualPauses } = this.#options;
    worker.child = undefined;
    worker.isListening = false;
    worker.pending = 0;
    this.#merged.keep(worker.metrics);
    worker.metrics = "";
    if (this.#stopping.signal.aborted) return;
    if (!this.#hasStarted)
      return this.#started.reject(
        new Problem({
          code: "failed",
          message: `Worker ${nameOf(worker.number)} ended with ${code} before it listened. The log lines above have the reason.`,
        }),
      );
    if (Date.now() - worker.startedMs > pauses.healthyMs) worker.pauseMs = 0;
    const pauseMs = worker.pauseMs;
    worker.pauseMs = Math.min(Math.max(pauses.firstMs, pauseMs * 2), pauses.longestMs);
    log.error("worker exited; restarting it", {
      worker: nameOf(worker.number),
      code,
      in_ms: pauseMs,
    });
    worker.timer = setTimeout(() => this.#spawn(worker), pauseMs);
  }

  async #metricsOf(worker: Worker): Promise<ProcessMetrics> {
    const { child, number } = worker;
    const process = this.#options.nameOf(number);
    if (child === undefined || !worker.isListening) return { process, text: worker.metrics };
    const id = ++this.#question;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#asked.set(id, resolve);
    const timer = setTimeout(() => resolve(undefined), metricsWithinMs);
    void child.exited.then(() => resolve(undefined));
    send(child, { type: "metrics", id });
    await promise;
    clearTimeout(timer);
    this.#asked.delete(id);
    return { process, text: worker.metrics };
  }

  #spread(): void {
    const listening = this.#workers.filter(({ isListening }) => isListening);
    const pending = new Map(listening.map((worker) => [worker.number, worker.pending]));
    for (const [number, count] of connectionsToEnd(pending)) {
      const child = this.#workers[number - 1]?.child;
      if (child !== undefined) send(child, { type: "end-connections", count });
    }
  }
}

function send(child: Bun.Subprocess, message: ToWorker): void {
  try {
    child.send(message);
  } catch {
    // Its channel is closed, so it is about to exit, and its exit is handled.
  }
}
