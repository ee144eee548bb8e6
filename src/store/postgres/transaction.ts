import type { Pool, PoolClient } from "pg";

/** Commits when the work resolves. A connection whose state is unknown is given up. */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isClean = false;
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    isClean = true;
    return result;
  } catch (error) {
    isClean = await client.query("rollback").then(
      () => true,
      () => false,
    );
    throw error;
  } finally {
    client.release(!isClean);
  }
}
