import { Kysely, PostgresDialect } from "kysely";
import { Client, type ClientConfig, Pool, type PoolClient, types } from "pg";
import { Problem } from "../../base/problem.ts";
import type { Db } from "../sql/schema.ts";
import { takeTls } from "./tls.ts";

export interface Postgres {
  readonly db: Db;
  readonly pool: Pool;
  /** Beside the pool, and not connected yet: for who listens all the time. */
  newClient(): Client;
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
  /** As the server's list of connections shows it. */
  readonly name?: string | undefined;
  /** An idle connection that breaks is replaced; this is told of it. */
  readonly onError?: ((detail: string) => void) | undefined;
}

/** PostgreSQL 15 is the oldest that its makers still keep. */
const oldestVersion = 15;
const defaultConnectMs = 5_000;
const defaultConnections = 10;
const defaultStatementMs = 30_000;

/** Connects and checks what can be wrong with a server; `toPostgresProblem` says it in words. */
export async function openPostgres(options: PostgresOptions): Promise<Postgres> {
  const config = await toConfig(options);
  const pool = new Pool({
    ...config,
    max: options.connections ?? defaultConnections,
    idleTimeoutMillis: 60_000,
  });
  // Without a listener, a connection that breaks while idle would end the process.
  pool.on("error", (error) => options.onError?.(error.message));
  pool.on("connect", (client) => client.on("error", () => {}));
  pool.on("connect", keepStorable);
  try {
    await checkServer(pool);
  } catch (error) {
    await pool.end().catch(() => {});
    throw error;
  }
  return {
    pool,
    newClient: () => new Client(config),
    db: new Kysely({ dialect: new PostgresDialect({ pool }) }),
    close: () => pool.end(),
  };
}

/**
 * The server stores no NUL, and fails the statement. It becomes the mark for what cannot be shown, as
 * half a character does in the driver: a search for it finds nothing, which is no fault of ours.
 */
function keepStorable(client: PoolClient): void {
  const query = client.query.bind(client) as (...given: readonly unknown[]) => unknown;
  const toStorable = (value: unknown) =>
    typeof value === "string" ? value.replaceAll("\0", "\ufffd") : value;
  Object.assign(client, {
    query: (text: unknown, values: unknown, ...rest: readonly unknown[]) =>
      query(text, Array.isArray(values) ? values.map(toStorable) : values, ...rest),
  });
}

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

async function toConfig(options: PostgresOptions): Promise<ClientConfig> {
  const { url, name = "svc" } = options;
  const { connectMs = defaultConnectMs, statementMs = defaultStatementMs } = options;
  const parsed = parseUrl(url);
  const { isOptional, options: ssl } = takeTls(parsed);
  const config: ClientConfig = {
    connectionString: parsed.toString(),
    application_name: name,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: statementMs,
    keepAlive: true,
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
