import type { Pool } from "pg";
import { type Lock, releaseSql, tryHoldSql } from "./locks.ts";

/**
 * Runs it, unless another process does; whether it ran. The lock belongs to a connection: when that
 * breaks, another process may take over.
 */
export async function alone(options: {
  readonly pool: Pool;
  readonly lock: Lock;
  readonly work: () => Promise<void>;
}): Promise<boolean> {
  const { pool, lock, work } = options;
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    const { rows } = await client.query<{ has: boolean }>(tryHoldSql(lock));
    if (rows[0]?.has !== true) return false;
    try {
      await work();
      return true;
    } finally {
      await client.query(releaseSql(lock)).catch(onError);
    }
  } finally {
    client.removeListener("error", onError);
    client.release(broken ?? false);
  }
}
