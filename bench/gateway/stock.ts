/**
 * What a gateway under test has in its store: accounts with credit, and keys, all with limits that
 * the bench never reaches, so that every request is counted, held, charged and told what is left.
 */
import { connectControl } from "../../src/platform/control-socket.ts";
import type { Operations } from "../../src/platform/operations.ts";

export type StockOptions = {
  /** Of a gateway that runs. */
  readonly dataDir: string;
  readonly accounts: number;
  readonly keys: number;
  readonly tell: (line: string) => void;
};

/** More would only wait in line: the gateway writes one after another. */
const atOnce = 16;
const stockTimeoutMs = 180_000;
const tellEveryMs = 5_000;

/** A million requests with one key alone would stay below them. */
const limits = { rpm: "1000000", tpm: "1000000000", concurrency: "10000" };

const nameOf = (index: number) => `bench-${index}`;
export const firstAccount = nameOf(0);

/** The secrets of the keys, spread over the accounts in turn. */
export async function makeStock(options: StockOptions): Promise<readonly string[]> {
  const { dataDir, accounts, keys, tell } = options;
  const control = await connectControl(dataDir);
  if (control === undefined) throw new Error("the gateway has no control socket");
  const { operations } = control;
  const total = Math.min(accounts, keys);
  const ids = await inBulk({
    what: "accounts",
    count: total,
    tell,
    make: (index) => makeAccount(operations, index),
  });
  return inBulk({
    what: "keys",
    count: keys,
    tell,
    make: async (index) => {
      const account = ids[index % ids.length] ?? "";
      return (await operations.createKey({ account, ...limits })).key;
    },
  });
}

async function makeAccount(operations: Operations, index: number): Promise<string> {
  const name = nameOf(index);
  const { id } = await operations.createAccount({ name, ...limits });
  await operations.addEntry({ account: id, kind: "credit", usd: "100000", reference: name });
  return id;
}

export type BulkOptions<T> = {
  readonly what: string;
  readonly count: number;
  readonly make: (index: number) => Promise<T>;
  readonly tell: (line: string) => void;
  readonly timeoutMs?: number;
};

/** Makes all, some at a time, in their order; the first failure ends it. */
export async function inBulk<T>(options: BulkOptions<T>): Promise<readonly T[]> {
  const { what, count, make, tell, timeoutMs = stockTimeoutMs } = options;
  const startedMs = performance.now();
  const made = Array.from<T>({ length: count });
  let next = 0;
  let done = 0;
  let toldMs = startedMs;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) {
      made[index] = await make(index);
      done++;
      const nowMs = performance.now();
      if (nowMs - startedMs > timeoutMs)
        throw new Error(`only ${done} of ${count} ${what} were made within ${timeoutMs} ms`);
      if (nowMs - toldMs < tellEveryMs) continue;
      toldMs = nowMs;
      tell(`${done} of ${count} ${what} made`);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
  } catch (error) {
    // The others end with what they have under way.
    next = count;
    throw error;
  }
  const tookS = ((performance.now() - startedMs) / 1000).toFixed(1);
  tell(`${count} ${what} made in ${tookS} s`);
  return made;
}
