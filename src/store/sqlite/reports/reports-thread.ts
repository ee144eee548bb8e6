import { Worker } from "node:worker_threads";
import { Problem } from "../../../base/problem.ts";
import type { ReportAnswer, ReportQuestion } from "../../sql/reports/questions.ts";
import type { StoredMinute } from "./minute-reading.ts";
import type { PackedUsage } from "./usage-packing.ts";

export type ThreadQuestion =
  | ReportQuestion
  | { readonly type: "minutes"; readonly fromMs: number; readonly toMs: number };

export type ThreadAnswer =
  | Exclude<ReportAnswer, { usage: unknown }>
  | { readonly packed: PackedUsage }
  | { readonly minutes: readonly StoredMinute[] }
  | { readonly error: string };

const maxOpen = 64;

export interface ReportsThreadOptions {
  readonly path: string;
  /** From the question to the answer, the time in line included. */
  readonly limitMs?: number | undefined;
  readonly workerUrl?: URL | undefined;
}

interface Asked {
  readonly question: ThreadQuestion;
  readonly deadline: NodeJS.Timeout;
  readonly resolve: (answer: ThreadAnswer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The thread that reads for people. It starts with the first question, gets one at a time, and
 * never keeps the process alive. Where it dies, or one question takes too long, that question fails
 * and the others go to a new thread.
 */
export class ReportsThread {
  readonly #options: ReportsThreadOptions;
  /** Not yet answered, the oldest first. */
  readonly #open = new Set<Asked>();
  #worker: Worker | undefined;
  #atWork: Asked | undefined;
  #isClosed = false;

  constructor(options: ReportsThreadOptions) {
    this.#options = options;
  }

  ask(question: ThreadQuestion): Promise<ThreadAnswer> {
    if (this.#isClosed)
      return Promise.reject(
        new Problem({ code: "busy", message: "The gateway is shutting down." }),
      );
    if (this.#open.size >= maxOpen)
      return Promise.reject(
        new Problem({
          code: "busy",
          message: "Too many reports at once. Try again when one has finished.",
        }),
      );
    const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer>();
    const tooLong = () =>
      this.#fail(
        asked,
        new Problem({
          code: "busy",
          message: "The report took too long. Choose a shorter period.",
        }),
      );
    const deadline = setTimeout(tooLong, this.#options.limitMs ?? 10_000).unref();
    const asked: Asked = { question, deadline, resolve, reject };
    this.#open.add(asked);
    this.#next();
    return promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    const wasIdle = this.#atWork === undefined;
    for (const asked of this.#open)
      this.#fail(asked, new Problem({ code: "busy", message: "The gateway is shutting down." }));
    if (worker === undefined) return;
    if (wasIdle) await closeDatabase(worker);
    this.#worker = undefined;
    await worker.terminate();
  }

  #next(): void {
    const [asked] = this.#open;
    if (this.#atWork !== undefined || asked === undefined || this.#isClosed) return;
    this.#atWork = asked;
    try {
      this.#worker ??= this.#start();
      this.#worker.postMessage(asked.question, []);
    } catch (cause) {
      // The machine has no thread left to give.
      this.#fail(
        asked,
        new Problem({
          code: "failed",
          message: "The reports thread could not be started. Try again.",
          cause,
        }),
      );
    }
  }

  #start(): Worker {
    const url = this.#options.workerUrl ?? new URL("./reports-worker.ts", import.meta.url);
    const worker = new Worker(url, { workerData: { path: this.#options.path } });
    worker.on("message", (answer: ThreadAnswer) => {
      if (worker === this.#worker) this.#answer(answer);
    });
    const lost = () => {
      if (worker !== this.#worker) return;
      const problem = new Problem({
        code: "failed",
        message: "The reports thread exited. Try again.",
      });
      if (this.#atWork === undefined) this.#worker = undefined;
      else this.#fail(this.#atWork, problem);
    };
    worker.on("error", lost);
    worker.on("exit", lost);
    // Last, because a listener makes the worker keep the process alive again.
    worker.unref();
    return worker;
  }

  #answer(answer: ThreadAnswer): void {
    const asked = this.#atWork;
    this.#atWork = undefined;
    if (asked !== undefined && this.#open.delete(asked)) {
      clearTimeout(asked.deadline);
      asked.resolve(answer);
    }
    this.#next();
  }

  /** What the thread works at cannot be stopped: it ends with its thread. */
  #fail(asked: Asked, problem: Problem): void {
    this.#open.delete(asked);
    clearTimeout(asked.deadline);
    asked.reject(problem);
    if (asked !== this.#atWork) return;
    const worker = this.#worker;
    this.#atWork = undefined;
    this.#worker = undefined;
    void worker?.terminate();
    this.#next();
  }
}

/** It lets go of the file, so that the last connection can take the log away. */
function closeDatabase(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 1_000);
    for (const event of ["message", "error", "exit"])
      worker.once(event, () => {
        clearTimeout(timer);
        resolve();
      });
    worker.postMessage("close", []);
  });
}
