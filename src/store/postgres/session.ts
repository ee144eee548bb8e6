import type { ClientBase, Pool, PoolClient } from "pg";
import { Problem } from "../../base/problem.ts";
import { BoundedClient, type BoundedClientConfig } from "./client.ts";

/** The server's process of a connection, also behind a pooler, which gives a number of its own. */
const processes = new WeakMap<object, number>();

export const processOf = (client: object): number | undefined => processes.get(client);

/**
 * For the pool: what a new connection begins with. Poolers refuse these settings as parameters of a
 * connection, so a statement sets them.
 */
export const beginSession =
  (statementMs: number) =>
  async (client: PoolClient, done: (error?: Error) => void): Promise<void> => {
    const config = {
      text: `select pg_backend_pid() as pid, set_config('statement_timeout', $1, false),
        set_config('idle_in_transaction_session_timeout', $1, false)`,
      values: [String(statementMs)],
    };
    let failure: Error | undefined;
    try {
      const { rows } = await client.query<{ pid: number }>(config);
      if (rows[0] !== undefined) processes.set(client, rows[0].pid);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    done(failure);
  };

const sharedSessions =
  "SVC_DATABASE_URL names a connection pooler that gives one connection of the server to several clients. Set pool_mode = session in the pooler (PgBouncer) for this database, or connect to PostgreSQL directly.";

const looks = 10;

/**
 * Locks and settings belong to a connection, so each of ours must be one of the server's. A pooler
 * in session mode does that. In transaction mode, a second client gets the process of the first.
 */
export async function refuseSharedSessions(pool: Pool, config: BoundedClientConfig): Promise<void> {
  const client = await pool.connect();
  const other = new BoundedClient(config);
  other.on("error", () => {});
  let broken: Error | undefined;
  try {
    const own = processOf(client);
    const { processID } = client as PoolClient & { readonly processID?: number };
    if (own === undefined || processID === own) return;
    await other.connect();
    await other.query("begin").catch((error: unknown) => {
      // In statement mode, there are no transactions.
      throw /statement pooling/.test(String(error)) ? new SharedSessions() : error;
    });
    const ofOther = await readProcess(other);
    for (let look = 0; look < looks; look++) {
      const now = await readProcess(client);
      if (now !== own || now === ofOther) throw new SharedSessions();
    }
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(broken ?? false);
    await other.end().catch(() => {});
  }
}

class SharedSessions extends Problem {
  constructor() {
    super({ code: "failed", message: sharedSessions });
  }
}

async function readProcess(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid ?? 0;
}
