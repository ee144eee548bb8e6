import { type ClientBase, DatabaseError, type Pool, type QueryResultRow } from "pg";
import { processOf } from "./session.ts";

export interface Query {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** The server keeps its plan by this name. */
  readonly name?: string;
  /** When its answer has not ended after this time, it fails, and its connection is given up. */
  readonly answerMs: number;
  /**
   * It changes money: none that was given up before may still be running, or it would be carried
   * out after this one.
   */
  readonly isOrdered?: boolean;
}

interface Abandoned {
  /** The server's processes of connections that were given up without an answer. */
  readonly all: Set<number>;
  /** Of those, the ones that may still change money. */
  readonly ordered: Set<number>;
  ending: Promise<void> | undefined;
}

const abandonedBy = new WeakMap<Pool, Abandoned>();
const endWithinMs = 2_000;

/** One statement that must not wait for a server that has gone silent. */
export async function query<Row extends QueryResultRow>(
  pool: Pool,
  { text, values = [], name, answerMs, isOrdered = false }: Query,
): Promise<readonly Row[]> {
  if (isOrdered) await endOrdered(pool);
  const statement = { text, values, answerMs, isOrdered };
  return send(pool, name === undefined ? statement : { ...statement, name });
}

/** The server has said what is wrong, so nothing was written; a connection that ends says nothing. */
export const isRefused = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && !/^(08|57P0|$)/.test(error.code ?? "");

async function send<Row extends QueryResultRow>(
  pool: Pool,
  { isOrdered = false, ...statement }: Query,
): Promise<readonly Row[]> {
  const client = await pool.connect();
  let isOver = false;
  try {
    const { values = [], ...rest } = statement;
    const totalMs = rest.answerMs;
    const { rows } = await client.query<Row>({ ...rest, totalMs, values: [...values] });
    isOver = true;
    return rows;
  } catch (error) {
    isOver = isRefused(error);
    throw error;
  } finally {
    if (!isOver) abandon(pool, client, isOrdered);
    client.release(!isOver);
  }
}

/** The server may still be at work for the connection, so it ends the process when it answers again. */
export function abandon(pool: Pool, client: ClientBase, isOrdered = false): void {
  const processID = processOf(client);
  if (processID === undefined) return;
  const known = abandonedBy.get(pool) ?? { all: new Set(), ordered: new Set(), ending: undefined };
  abandonedBy.set(pool, known);
  known.all.add(processID);
  if (isOrdered) known.ordered.add(processID);
  void end(pool, known).catch(() => {});
}

/** Whatever they did stands or does not, from here on. Rejects while that cannot be brought about. */
async function endOrdered(pool: Pool): Promise<void> {
  const known = abandonedBy.get(pool);
  if (known === undefined || known.ordered.size === 0) return;
  await end(pool, known);
  // They came while others were ended.
  if (known.ordered.size > 0) await end(pool, known);
  if (known.ordered.size > 0) throw new Error("an earlier statement is still running");
}

/** One at a time. */
function end(pool: Pool, known: Abandoned): Promise<void> {
  known.ending ??= endAll(pool, known).finally(() => (known.ending = undefined));
  return known.ending;
}

async function endAll(pool: Pool, { all, ordered }: Abandoned): Promise<void> {
  const pids = [...all];
  const rows = await send<{ pid: number; ended: boolean }>(pool, {
    text: `select pid, pg_terminate_backend(pid, ${endWithinMs}) as ended from pg_stat_activity
      where pid = any ($1) and usename = current_user
        and application_name = current_setting('application_name')`,
    values: [pids],
    answerMs: 2 * endWithinMs,
  });
  const running = new Set(rows.flatMap(({ pid, ended }) => (ended ? [] : [pid])));
  for (const pid of pids) if (!running.has(pid)) for (const one of [all, ordered]) one.delete(pid);
}
