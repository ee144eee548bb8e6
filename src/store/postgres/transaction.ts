import type { Pool, PoolClient } from "pg";
import { setDeadline } from "./client.ts";
import { isRefused } from "./query.ts";

export interface TransactionOptions {
  /** How it begins; default: what it reads may change from one statement to the next. */
  readonly begin?: string;
  /** How long the server may be silent during a statement; default: as the pool has it. */
  readonly answerMs?: number;
  /** Gives the work up, and the connection with it. */
  readonly signal?: AbortSignal;
}

/** Others wait for what it locks: a process that stops in the middle loses it soon. */
export const brief: TransactionOptions = {
  begin: "begin; set local idle_in_transaction_session_timeout = 2000",
};

/** The connection broke before the server answered the COMMIT: nobody knows whether it stands. */
export class UnknownCommitError extends Error {
  override readonly name = "UnknownCommitError";
}

/** Runs work as one transaction, on a connection of the pool. */
export async function transact<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  { begin = "begin", answerMs, signal }: TransactionOptions = {},
): Promise<T> {
  const client = await pool.connect();
  if (answerMs !== undefined) setDeadline(client, answerMs);
  const lease = new ClientLease(client);
  const giveUp = () => lease.end(new Error("given up"));
  signal?.addEventListener("abort", giveUp);
  try {
    if (signal?.aborted === true) throw new Error("given up");
    await client.query(begin);
    const result = await work(client);
    await commit(client);
    lease.end();
    return result;
  } catch (error) {
    await client.query("rollback").catch((cause: Error) => lease.end(cause));
    lease.end();
    throw error;
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}

async function commit(client: PoolClient): Promise<void> {
  try {
    await client.query("commit");
  } catch (cause) {
    if (isRefused(cause)) throw cause;
    throw new UnknownCommitError("the connection broke during the commit", { cause });
  }
}

/** Goes back to the pool once; a connection that broke is not used again. */
class ClientLease {
  readonly #client: PoolClient;
  #isOver = false;
  #broken: Error | undefined;
  // Without a listener, a connection that breaks between two statements would end the process.
  readonly #onError = (error: Error) => {
    this.#broken = error;
  };

  constructor(client: PoolClient) {
    this.#client = client;
    client.on("error", this.#onError);
  }

  end(broken: Error | undefined = this.#broken): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#client.release(broken ?? false);
    this.#client.removeListener("error", this.#onError);
  }
}
