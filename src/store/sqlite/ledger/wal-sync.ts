import { closeSync, fdatasync, openSync } from "node:fs";
import { syncFolder } from "../database-file.ts";

/** Notes down what a sync has covered, once it is done. */
interface SyncMark {
  begin(): void;
  confirmed(): void;
}

/**
 * Makes committed transactions survive a power cut: an fdatasync of the write-ahead log, on another
 * thread. One runs at a time; all that was committed before it begins is covered by it, so that
 * many commits share one.
 */
export class WalSync {
  readonly #path: string;
  readonly #mark: SyncMark | undefined;
  #fd: number | undefined;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(databasePath: string, mark?: SyncMark) {
    this.#path = databasePath;
    this.#mark = mark;
  }

  /** Of the log, once it was synced. */
  get fd(): number | undefined {
    return this.#fd;
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
      this.#mark?.begin();
      fdatasync(this.#fd, (error) => {
        if (error !== null && error !== undefined) return reject(error);
        this.#mark?.confirmed();
        resolve();
      });
    });
  }

  #open(): number {
    // The log is new: its name must be as durable as its content.
    syncFolder(this.#path);
    return openSync(`${this.#path}-wal`, "r+");
  }
}
