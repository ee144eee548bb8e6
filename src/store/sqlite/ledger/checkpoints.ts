import { Worker } from "node:worker_threads";

/** What SQLite says of a checkpoint: how many frames the log had when it began. */
interface CheckpointRow {
  readonly log: number;
}

export interface CheckpointOptions {
  readonly path: string;
  /** Holds commits back for the length of `work`; who commits waits without holding up anybody. */
  readonly pause: (work: () => Promise<void>) => Promise<void>;
  readonly onError: (detail: string) => void;
  readonly everyMs?: number;
}

/** 16 MB. Above it the log is made to begin anew. */
const maxFrames = 4_000;
const answerWithinMs = 10_000;
/** Writes other than receipts are few and not noted: for them it looks so seldom. */
const restfulRuns = 60;

/**
 * Keeps the write-ahead log short, from a thread of its own. Without load a passive checkpoint
 * catches up with the writer, who then begins the log anew by himself. Under load it never quite
 * does: then commits are held back for the few milliseconds that the rest takes.
 */
export class Checkpoints {
  readonly #options: CheckpointOptions;
  #worker: Worker | undefined;
  #timer: ReturnType<typeof setInterval>;
  #isDirty = false;
  #skipped = 0;
  #running: Promise<void> | undefined;

  constructor(options: CheckpointOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.run(), options.everyMs ?? 500);
    this.#timer.unref();
  }

  /** Something was committed. */
  note(): void {
    this.#isDirty = true;
  }

  run(): Promise<void> {
    if (this.#running !== undefined) return this.#running;
    if (!this.#isDirty && ++this.#skipped < restfulRuns) return Promise.resolve();
    this.#isDirty = false;
    this.#skipped = 0;
    this.#running = this.#checkpoint()
      .catch((error: unknown) => {
        this.#isDirty = true;
        this.#options.onError(String(error));
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
    if (this.#worker === undefined) return;
    await this.#ask("close").catch(() => {});
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  async #checkpoint(): Promise<void> {
    const { log } = await this.#once();
    // That all of it was copied says nothing: it is told of the log as it was at the beginning.
    if (log < maxFrames) return;
    await this.#options.pause(async () => {
      await this.#once();
    });
  }

  async #once(): Promise<CheckpointRow> {
    const answer = await this.#ask({ path: this.#options.path });
    if (isRow(answer)) return answer;
    throw new Error(JSON.stringify(answer));
  }

  #ask(message: unknown): Promise<unknown> {
    const worker = this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(
      () => reject(new Error(`the checkpoint took longer than ${answerWithinMs} ms`)),
      answerWithinMs,
    );
    const onExit = () => reject(new Error("the checkpoint thread has exited"));
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", onExit);
    worker.postMessage(message, []);
    return promise
      .catch((error: unknown) => {
        // The next one gets a thread that has no old answer to give.
        this.#worker = undefined;
        void worker.terminate();
        throw error;
      })
      .finally(() => {
        clearTimeout(timer);
        worker.off("message", resolve);
        worker.off("error", reject);
        worker.off("exit", onExit);
      });
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    this.#worker = new Worker(new URL("./checkpoint-worker.ts", import.meta.url));
    this.#worker.unref();
    return this.#worker;
  }
}

function isRow(answer: unknown): answer is CheckpointRow {
  return typeof answer === "object" && answer !== null && "log" in answer;
}
