import type { Pool, QueryResultRow } from "pg";

export interface Query {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** The server keeps its plan by this name. */
  readonly name?: string;
  /** After this time without an answer it fails, and its connection is given up. */
  readonly answerMs: number;
}

/** One statement that must not wait for a server that has gone silent. */
export async function query<Row extends QueryResultRow>(
  pool: Pool,
  { text, values = [], name, answerMs }: Query,
): Promise<readonly Row[]> {
  const client = await pool.connect();
  let isOver = false;
  // Without a listener, a connection that breaks would end the process.
  const onError = () => {};
  client.on("error", onError);
  try {
    const { rows } = await client.query<Row>({
      text,
      values: [...values],
      ...(name === undefined ? {} : { name }),
      query_timeout: answerMs,
    } as never);
    isOver = true;
    return rows;
  } catch (error) {
    // The server has said what is wrong: the connection is well.
    isOver = error instanceof Error && "severity" in error;
    throw error;
  } finally {
    client.removeListener("error", onError);
    client.release(!isOver);
  }
}
