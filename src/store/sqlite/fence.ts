import type { Database, Statement } from "bun:sqlite";
import { FencedError } from "../../ledger/store.ts";

/**
 * Every process that opens the database to write raises the epoch in it, and every transaction
 * checks that the epoch is still its own. So even where a lock has failed (its file was removed,
 * a file system ignores locks), the money is spent by the newest process alone: what another one
 * still wants to write is refused inside the transaction that would write it.
 */
export class Fence {
  readonly #epoch: string;
  readonly #read: Statement<{ value: string }, []>;
  readonly #lost = Promise.withResolvers<void>();
  #isLost = false;

  private constructor(epoch: string, read: Statement<{ value: string }, []>) {
    this.#epoch = epoch;
    this.#read = read;
  }

  static raise(raw: Database): Fence {
    const read = raw.query<{ value: string }, []>("select value from meta where key = 'epoch'");
    const raise = raw.transaction(() => {
      const epoch = String(Number(read.get()?.value ?? 0) + 1);
      raw
        .query(
          "insert into meta (key, value) values ('epoch', ?) on conflict do update set value = excluded.value",
        )
        .run(epoch);
      return epoch;
    });
    return new Fence(raise.immediate(), read);
  }

  /** Resolves when another process has opened the database and this one has noticed. */
  get lost(): Promise<void> {
    return this.#lost.promise;
  }

  /** Within a transaction; about a microsecond. */
  check(): void {
    if (!this.#isLost && this.#read.get()?.value === this.#epoch) return;
    this.#isLost = true;
    this.#lost.resolve();
    throw new FencedError();
  }
}
