import { Kysely, PostgresDialect } from "kysely";
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig, types } from "pg";
import { Problem } from "../../base/problem.ts";
import type { Db } from "../sql/schema.ts";
import { BoundedClient, type BoundedClientConfig, setDeadline } from "./client.ts";
import { deadlines, keepAliveAfterMs, serverStatementMs } from "./deadlines.ts";
import { abandon } from "./query.ts";
import { beginSession, refuseSharedSessions } from "./session.ts";
import { takeTls } from "./tls.ts";

export interface Postgres {
  readonly db: Db;
  readonly pool: Pool;
  /** Beside the pool, and not connected yet: for who listens all the time. */
  newClient(): Client;
  /** Does not wait for a server that does not answer. */
  close(): Promise<void>;
}

export interface PostgresOptions {
  readonly url: string;
  /** Of one process. */
  readonly connections?: number | undefined;
  /** How long the server may take to accept a connection. */
  readonly connectMs?: number | undefined;
  /** A statement that runs longer is cancelled by the server. */
  readonly statementMs?: number | undefined;
  /** For how long the server may send nothing while a statement is in flight. */
  readonly answerMs?: number | undefined;
  /** As the server's list of connections shows it. */
  readonly name?: string | undefined;
  /** An idle connection that breaks is replaced; this is told of it. */
  readonly onError?: ((detail: string) => void) | undefined;
}

/** PostgreSQL 15 is the oldest that its makers still keep. */
const oldestVersion = 15;
const defaultConnections = 10;

/** Connects and checks what can be wrong with a server; `toPostgresProblem` says it in words. */
export async function openPostgres(options: PostgresOptions): Promise<Postgres> {
  const config = await toConfig(options);
  const pool = new Pool({
    ...config,
    max: options.connections ?? defaultConnections,
    idleTimeoutMillis: 60_000,
    Client: BoundedClient as unknown as NonNullable<PoolConfig["Client"]>,
    verify: beginSession(options.statementMs ?? serverStatementMs),
  });
  const open = new Set<BoundedClient>();
  // Without a listener, a connection that breaks while idle would end the process.
  pool.on("error", (error) => options.onError?.(error.message));
  pool.on("connect", (client) => client.on("error", () => {}));
  pool.on("connect", (client) => {
    if (!isBounded(client)) return;
    open.add(client);
    client.onGivenUp = () => abandon(pool, client);
  });
  pool.on("remove", (client) => void (isBounded(client) && open.delete(client)));
  pool.on("release", (_, client) => isBounded(client) && client.resetDeadline());
  try {
    await checkServer(pool);
    await refuseSharedSessions(pool, config);
  } catch (error) {
    await pool.end().catch(() => {});
    throw error;
  }
  const db: Db = new Kysely({ dialect: new PostgresDialect({ pool }) });
  pools.set(db, pool);
  return {
    pool,
    newClient: () => new BoundedClient(config),
    db,
    async close() {
      const ended = pool.end();
      const isOver = await Promise.race([ended.then(() => true), after(deadlines.close)]);
      // Those that are still in use, or do not hear that they are ended.
      if (isOver === undefined) for (const client of open) client.destroy();
      else void after(deadlines.close).then(() => open.forEach((client) => client.destroy()));
    },
  };
}

const isBounded = (client: PoolClient): client is PoolClient & BoundedClient =>
  client instanceof BoundedClient;

const pools = new WeakMap<Db, Pool>();

/** The same database with other limits, as `setDeadline` has them. */
export function withDeadline(db: Db, answerMs: number, totalMs?: number): Db {
  const pool = pools.get(db);
  // Within a transaction, the connection has its deadline already.
  if (pool === undefined) return db;
  const connect = async () => {
    const client = await pool.connect();
    setDeadline(client, answerMs, totalMs);
    return client;
  };
  // It is ended with the pool.
  const dialect = new PostgresDialect({
    pool: { options: pool.options, connect, end: async () => {} },
  });
  return new Kysely({ dialect });
}

/** Does not keep the process from its end. */
const after = (ms: number) =>
  new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), ms).unref());

export const onlyReading =
  "The database server only allows reading: it is a replica, or set to read-only. Point SVC_DATABASE_URL at the primary server.";

interface ServerRow {
  readonly version: number;
  readonly replica: boolean;
  readonly readonly: string;
  readonly isolation: string;
}

async function checkServer(pool: Pool): Promise<void> {
  const { rows } = await pool.query<ServerRow>(
    `select current_setting('server_version_num')::int / 10000 as version,
      pg_is_in_recovery() as replica, current_setting('transaction_read_only') as readonly,
      current_setting('transaction_isolation') as isolation`,
  );
  const [server] = rows;
  if (server === undefined) throw new Error("the server does not say its version");
  if (server.version < oldestVersion)
    throw new Problem({
      code: "failed",
      message: `The database server is PostgreSQL ${server.version}. Upgrade it to version ${oldestVersion} or newer.`,
    });
  if (server.replica || server.readonly === "on")
    throw new Problem({ code: "failed", message: onlyReading });
  // What a transaction reads after it has waited for another must be what that one wrote.
  if (server.isolation !== "read committed")
    throw new Problem({
      code: "failed",
      message: `The database's default_transaction_isolation is ${server.isolation}. Set it to read committed for the user of SVC_DATABASE_URL: ALTER ROLE name SET default_transaction_isolation TO 'read committed'.`,
    });
}

/** All whole numbers as numbers; money is read as text, because a number would lose digits. */
function parserOf(oid: number, format?: "text" | "binary") {
  if (oid === types.builtins.INT8 || oid === types.builtins.NUMERIC) return Number;
  return format === "binary" ? types.getTypeParser(oid, "binary") : types.getTypeParser(oid);
}

async function toConfig(options: PostgresOptions): Promise<BoundedClientConfig> {
  const { url, name = "svc", answerMs, connectMs = deadlines.connect } = options;
  const parsed = parseUrl(url);
  const { isOptional, options: ssl } = takeTls(parsed);
  const config: BoundedClientConfig = {
    answerMs,
    connectionString: parsed.toString(),
    application_name: name,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    types: { getTypeParser: parserOf as typeof types.getTypeParser },
  };
  const withTls = { ...config, ssl };
  return isOptional && !(await offersTls(withTls)) ? { ...config, ssl: false } : withTls;
}

function parseUrl(url: string): URL {
  const parsed = toPostgresUrl(url);
  // With "@" in the path, a part of a password was read as the port and the path.
  if (parsed !== undefined && parsed.pathname.length > 1 && !parsed.pathname.includes("@"))
    return parsed;
  throw new Problem({
    code: "invalid",
    message:
      "SVC_DATABASE_URL is not a PostgreSQL address. It looks like this: postgres://user:password@host:5432/database, with special characters in the password percent-encoded.",
  });
}

/** Undefined for what is none, or has a percent sign that encodes nothing. */
export function toPostgresUrl(text: string): URL | undefined {
  const parsed = URL.parse(text);
  try {
    for (const part of [parsed?.username, parsed?.password, parsed?.pathname])
      decodeURIComponent(part ?? "");
  } catch {
    return undefined;
  }
  return parsed ?? undefined;
}

/** Encrypted where the server can, and plain where it cannot: what clients do unless told. */
async function offersTls(config: ClientConfig): Promise<boolean> {
  const client = new Client(config);
  client.on("error", () => {});
  try {
    await client.connect();
    return true;
  } catch (error) {
    // The driver has no code for it.
    if (error instanceof Error && /does not support SSL/.test(error.message)) return false;
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}
