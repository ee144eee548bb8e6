/** Two drivers for PostgreSQL behind one face: `pg` as the gateway uses it, and Bun's own client. */
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { query } from "../../src/store/postgres/query.ts";

export type DriverName = "pg" | "Bun.SQL";

export type Statement = {
  /** The server keeps its plan by this name; Bun's client finds a name by itself. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** The statement is given up after this time. */
  readonly answerMs?: number;
};

export type DriverClient = {
  run(statement: Statement): Promise<readonly Record<string, unknown>[]>;
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

/** It has no deadline for an answer, so this cancels the statement, which is what it offers. */
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
      async run({ text, values = [], answerMs }) {
        const sent = sql.unsafe<Record<string, unknown>[]>(text, [...values]);
        const timer =
          answerMs === undefined ? undefined : setTimeout(() => void sent.cancel(), answerMs);
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
