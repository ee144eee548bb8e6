import { Worker } from "node:worker_threads";
import type { ProberOptions, Rounds } from "./prober.ts";

export type { Rounds } from "./prober.ts";

/** The measuring thread, from outside. */
export class Probe {
  readonly #worker: Worker;

  constructor(options: ProberOptions) {
    this.#worker = new Worker(new URL("./prober.ts", import.meta.url), { workerData: options });
  }

  /** What was measured since the last call, by address. Never resolves while nothing answers. */
  take(): Promise<readonly Rounds[]> {
    return new Promise((resolve, reject) => {
      this.#worker.once("error", reject);
      this.#worker.once("message", (rounds: readonly Rounds[]) => {
        this.#worker.off("error", reject);
        resolve(rounds);
      });
      this.#worker.postMessage("take", []);
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
