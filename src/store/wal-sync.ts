import { closeSync, fdatasync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes committed transactions survive a power cut: an fdatasync of the write-ahead log, on another
 * thread. One runs at a time; all that was committed before it begins is covered by it, so that
 * many commits share one.
 */
export class WalSync {
  readonly #path: string;
  #fd: number | undefined;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(databasePath: string) {
    this.#path = databasePath;
  }

  /** Resolves when everything that is committed by now is on the disk. */
  sync(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    const begin = () => {
      this.#next = undefined;
      this.#running = this.#run();
      return this.#running;
    };
    this.#next = this.#running.then(begin, begin);
    return this.#next;
  }

  /** After what is under way: the number of a closed file may soon be another's. */
  async close(): Promise<void> {
    await (this.#next ?? this.#running).catch(() => {});
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #run(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#fd ??= this.#open();
      fdatasync(this.#fd, (error) =>
        error === null || error === undefined ? resolve() : reject(error),
      );
    });
  }

  #open(): number {
    // The log is new: its name must be as durable as its content.
    const folder = openSync(dirname(this.#path), "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
    return openSync(`${this.#path}-wal`, "r+");
  }
}
