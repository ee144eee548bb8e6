import { DatabaseError, type Pool, type PoolClient, type QueryResultRow } from "pg";

export interface Query {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** The server keeps its plan by this name. */
  readonly name?: string;
  /** After this time without an answer it fails, and its connection is given up. */
  readonly answerMs: number;
  /**
   * It changes money: none that was given up before may still be running, or it would be carried
   * out after this one.
   */
  readonly isOrdered?: boolean;
}

/** By pool: the servers' processes of connections that were given up without an answer. */
const abandoned = new WeakMap<Pool, Set<number>>();
const endWithinMs = 2_000;

/** One statement that must not wait for a server that has gone silent. */
export async function query<Row extends QueryResultRow>(
  pool: Pool,
  { text, values = [], name, answerMs, isOrdered = false }: Query,
): Promise<readonly Row[]> {
  if (isOrdered) await endAbandoned(pool);
  return send(pool, { text, values, answerMs, ...(name === undefined ? {} : { name }) });
}

/** The server has said what is wrong, so nothing was written; a connection that ends says nothing. */
export const isRefused = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && !/^(08|57P0|$)/.test(error.code ?? "");

async function send<Row extends QueryResultRow>(
  pool: Pool,
  { answerMs, ...statement }: Query,
): Promise<readonly Row[]> {
  const client = await pool.connect();
  let isOver = false;
  try {
    const { values = [], ...rest } = statement;
    const config = { ...rest, values: [...values], query_timeout: answerMs };
    const { rows } = await client.query<Row>(config as never);
    isOver = true;
    return rows;
  } catch (error) {
    isOver = isRefused(error);
    throw error;
  } finally {
    if (!isOver) abandon(pool, client);
    client.release(!isOver);
  }
}

function abandon(pool: Pool, client: PoolClient): void {
  const { processID } = client as PoolClient & { readonly processID?: number };
  if (processID === undefined) return;
  const known = abandoned.get(pool) ?? new Set();
  abandoned.set(pool, known.add(processID));
}

/** Whatever they did stands or does not, from here on. Rejects while that cannot be brought about. */
async function endAbandoned(pool: Pool): Promise<void> {
  const known = abandoned.get(pool);
  if (known === undefined || known.size === 0) return;
  const pids = [...known];
  const rows = await send<{ ended: boolean }>(pool, {
    text: `select pg_terminate_backend(pid, ${endWithinMs}) as ended from pg_stat_activity
      where pid = any ($1) and usename = current_user
        and application_name = current_setting('application_name')`,
    values: [pids],
    answerMs: 2 * endWithinMs,
  });
  if (rows.some(({ ended }) => !ended)) throw new Error("an earlier statement is still running");
  for (const pid of pids) known.delete(pid);
}
