import { join } from "node:path";
import { EngineError } from "../contract.ts";
import type { FromHost, LoadMessage, ToHost } from "./protocol.ts";

export interface ModelProcessOptions {
  readonly name: string;
  readonly load: LoadMessage;
  /** Jobs that the model takes at once. */
  readonly parallel: number;
  /** Jobs that may wait; the next is refused. */
  readonly maxWaiting: number;
  readonly idleMs: number;
  readonly log: EngineLog;
}

/** For the operator; never a prompt or a reply. */
export interface EngineLog {
  readonly info: (line: string) => void;
  readonly error: (line: string) => void;
}

export interface ModelProcessView {
  readonly name: string;
  readonly state: "idle" | "loading" | "loaded";
  readonly pid: number | null;
  readonly active: number;
  readonly waiting: number;
}

interface Job {
  readonly id: number;
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly onPiece: (piece: unknown) => void;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

type Child = Bun.Subprocess<"ignore", "ignore", "ignore">;

/** A job that was given up must be let go by its model within this time; else the process ends. */
const letGoMs = 20_000;
/** A model that has given no sign for so long is stuck; the longest prompts are read in less. */
const stuckMs = 300_000;
const hostPath = join(import.meta.dir, "../host.ts");

/**
 * One model in a process of its own: started with the first job, ended when it has been idle, so
 * that its memory goes back whole. Jobs beyond `parallel` wait in line. A process that dies fails
 * the jobs it had; the next job starts another.
 */
export class ModelProcess {
  readonly #options: ModelProcessOptions;
  readonly #waiting: Job[] = [];
  readonly #active = new Map<number, Job>();
  #child: Child | undefined;
  #isLoaded = false;
  #nextId = 1;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #stuckTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ModelProcessOptions) {
    this.#options = options;
  }

  get view(): ModelProcessView {
    return {
      name: this.#options.name,
      state: this.#child === undefined ? "idle" : this.#isLoaded ? "loaded" : "loading",
      pid: this.#child?.pid ?? null,
      active: this.#active.size,
      waiting: this.#waiting.length,
    };
  }

  /** Resolves with the model's result; pieces come before. Rejects at once when the signal does. */
  run(input: unknown, signal: AbortSignal, onPiece: (piece: unknown) => void): Promise<unknown> {
    const { parallel, maxWaiting } = this.#options;
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#active.size >= parallel && this.#waiting.length >= maxWaiting)
      return Promise.reject(
        new EngineError({
          status: 503,
          code: "overloaded",
          message: `The model is busy and its queue is full (${maxWaiting} waiting requests). Try again later.`,
        }),
      );
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const job: Job = { id: this.#nextId++, input, signal, onPiece, resolve, reject };
    const leave = () => this.#leave(job);
    signal.addEventListener("abort", leave, { once: true });
    const forget = () => signal.removeEventListener("abort", leave);
    promise.then(forget, forget);
    this.#waiting.push(job);
    this.#startNext();
    return promise;
  }

  close(): void {
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#stuckTimer);
    this.#child?.kill("SIGKILL");
  }

  #startNext(): void {
    clearTimeout(this.#idleTimer);
    while (this.#active.size < this.#options.parallel) {
      const job = this.#waiting.shift();
      if (job === undefined) break;
      this.#active.set(job.id, job);
      this.#send({ type: "run", id: job.id, job: job.input });
    }
    this.#watch();
    if (this.#active.size === 0 && this.#child !== undefined) this.#waitIdle(this.#child);
  }

  #waitIdle(child: Child): void {
    this.#idleTimer = setTimeout(() => {
      this.#options.log.info(`${this.#options.name} was idle; its memory was freed`);
      // A job that comes before the process is gone gets another.
      if (this.#child === child) this.#child = undefined;
      child.kill("SIGKILL");
    }, this.#options.idleMs);
  }

  #leave(job: Job): void {
    job.reject(job.signal.reason);
    const at = this.#waiting.indexOf(job);
    if (at !== -1) this.#waiting.splice(at, 1);
    const child = this.#child;
    if (!this.#active.has(job.id) || child === undefined) return;
    this.#send({ type: "cancel", id: job.id });
    const overdue = setTimeout(() => {
      if (!this.#active.has(job.id) || this.#child !== child) return;
      this.#options.log.error(`${this.#options.name} did not cancel a job; stopping its process`);
      child.kill("SIGKILL");
    }, letGoMs);
    overdue.unref();
  }

  #send(message: ToHost): void {
    this.#child ??= this.#spawn();
    this.#child.send(message);
  }

  #spawn(): Child {
    this.#isLoaded = false;
    const child: Child = Bun.spawn([process.execPath, "--no-env-file", hostPath], {
      stdin: "ignore",
      // Native code prints what it was given, and that is the callers': what matters comes as a message.
      stdout: "ignore",
      stderr: "ignore",
      serialization: "advanced",
      ipc: (message: FromHost) => {
        // What a process says that was given up is about jobs that have failed already.
        if (this.#child === child) this.#onMessage(message);
      },
      onExit: (_, code, signal) =>
        this.#onExit(child, signal === null ? `code ${code}` : `signal ${signal}`),
    });
    child.send(this.#options.load);
    return child;
  }

  #onMessage(message: FromHost): void {
    this.#watch();
    switch (message.type) {
      case "loaded":
        this.#isLoaded = true;
        return;
      case "unloadable":
        this.#options.log.error(
          `${this.#options.name} cannot be loaded: ${message.problem}. If its files are damaged, remove them and download them again (svc engine remove, svc engine pull)`,
        );
        this.#giveUp("could not be loaded");
        return;
      case "piece":
        this.#pass(message.id, message.piece);
        return;
      case "done":
        this.#end(message.id, (job) => job.resolve(message.result));
        return;
      case "failed":
        if (message.error.status === 500 && !this.#active.get(message.id)?.signal.aborted)
          this.#options.log.error(`${this.#options.name} failed: ${message.error.message}`);
        this.#end(message.id, (job) => job.reject(new EngineError(message.error)));
        return;
      default:
        message satisfies never;
    }
  }

  /** Nobody takes what comes for a caller who has left. */
  #pass(id: number, piece: unknown): void {
    const job = this.#active.get(id);
    if (job !== undefined && !job.signal.aborted) job.onPiece(piece);
  }

  #end(id: number, settle: (job: Job) => void): void {
    const job = this.#active.get(id);
    if (job === undefined) return;
    this.#active.delete(id);
    settle(job);
    this.#startNext();
  }

  #onExit(child: Child, how: string): void {
    if (this.#child === child) this.#giveUp(`exited with ${how} during a job`);
  }

  /** The process is done with, dead or not: its jobs fail, those in line get another process. */
  #giveUp(why: string): void {
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#stuckTimer);
    const child = this.#child;
    this.#child = undefined;
    child?.kill("SIGKILL");
    const failed = [...this.#active.values()];
    this.#active.clear();
    if (failed.length > 0) this.#options.log.error(`${this.#options.name} ${why}`);
    for (const job of failed)
      job.reject(
        new EngineError({
          status: 502,
          code: "model_failed",
          message:
            "The model's process exited during the request. Try again; the next request restarts it.",
        }),
      );
    if (this.#waiting.length > 0) this.#startNext();
  }

  #watch(): void {
    clearTimeout(this.#stuckTimer);
    if (this.#active.size === 0) return;
    this.#stuckTimer = setTimeout(() => this.#giveUp("was stuck; stopping its process"), stuckMs);
  }
}
