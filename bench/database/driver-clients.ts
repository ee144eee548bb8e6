/** Two drivers for PostgreSQL behind one face: `pg` as the gateway uses it, and Bun's own client. */
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { query } from "../../src/store/postgres/query.ts";

export type DriverName = "pg" | "Bun.SQL";

export type Statement = {
  /** The server keeps its plan by this name; Bun's client finds a name by itself. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** After this time without an answer, the connection is given up. */
  readonly answerMs?: number;
};

type Rows = readonly Record<string, unknown>[];

export type DriverClient = {
  run(statement: Statement): Promise<Rows>;
  /** With the driver's own means to cancel a statement; undefined where it has none. */
  readonly cancel?: (statement: Statement, afterMs: number) => Promise<Rows>;
  close(): Promise<void>;
};

export type DriverOptions = {
  readonly url: string;
  /** A statement that runs longer is cancelled by the server. */
  readonly statementMs?: number;
};

export type Driver = {
  readonly name: DriverName;
  /** One connection. */
  open(options: DriverOptions): Promise<DriverClient>;
};

const defaultAnswerMs = 5_000;
const connectTimeoutS = 5;

const pg: Driver = {
  name: "pg",
  async open({ url, statementMs }) {
    const { pool, close } = await openPostgres({ url, connections: 1, statementMs });
    return {
      run: ({ answerMs = defaultAnswerMs, ...statement }) =>
        query<Record<string, unknown>>(pool, { ...statement, answerMs }),
      close,
    };
  },
};

/** It has no deadline for an answer; closing the one connection that the statement has is one. */
const bun: Driver = {
  name: "Bun.SQL",
  async open({ url, statementMs }) {
    const sql = new Bun.SQL({
      url,
      max: 1,
      connectionTimeout: connectTimeoutS,
      ...(statementMs === undefined ? {} : { connection: { statement_timeout: statementMs } }),
    });
    await sql.connect();
    return {
      async run({ text, values = [], answerMs = defaultAnswerMs }) {
        const connection = await sql.reserve();
        const timer = setTimeout(() => void connection.close({ timeout: 0 }), answerMs);
        try {
          return await connection.unsafe<Record<string, unknown>[]>(text, [...values]);
        } finally {
          clearTimeout(timer);
          connection.release();
        }
      },
      async cancel({ text }, afterMs) {
        const sent = sql.unsafe<Record<string, unknown>[]>(text);
        const timer = setTimeout(() => void sent.cancel(), afterMs);
        try {
          return await sent;
        } finally {
          clearTimeout(timer);
        }
      },
      close: () => sql.close({ timeout: 0 }),
    };
  },
};

export const drivers: readonly Driver[] = [pg, bun];
