import type { Configuration } from "../../config/load.ts";
import { databasePlace } from "../../config/setting-readers.ts";
import { wrappingsOf } from "../../secrets/data-keys.ts";
import { openPostgres, type Postgres } from "../../store/postgres/postgres.ts";
import { toPostgresProblem } from "../../store/postgres/store-problem.ts";
import { createDataKeyStore } from "../../store/sql/data-keys.ts";
import { readLostTails } from "../../store/sql/lost-tail.ts";
import { readMeta } from "../../store/sql/meta.ts";
import { type Checks, type DatabaseFindings, lostAdvice, lostReceipts } from "./checks.ts";

const slowReplyMs = 10;

interface Server {
  readonly version: string;
  readonly fsync: string;
  readonly synchronous_commit: string;
  readonly max_connections: number;
  readonly used: number;
  readonly is_encrypted: boolean;
  readonly has_meta: boolean;
  readonly standbys: number;
  readonly synchronous_standby_names: string;
}

export async function checkPostgres(
  checks: Checks,
  { settings }: Configuration,
  url: string,
): Promise<Partial<DatabaseFindings>> {
  let postgres: Postgres;
  try {
    postgres = await openPostgres({ url, name: "svc doctor", connections: 1 });
  } catch (error) {
    throw toPostgresProblem(error, url);
  }
  try {
    const server = await readServer(postgres);
    if (server === undefined) return {};
    checks.ok(`PostgreSQL ${server.version} at ${databasePlace(url)}`);
    checkDurability(checks, server);
    checkReplication(checks, server);
    checkConnections(checks, server, settings);
    checkEncryption(checks, server, url);
    const aheadMs = await measure(checks, postgres);
    if (!server.has_meta) {
      checks.skipped("The database is empty; the first start creates its tables");
      return { aheadMs };
    }
    const { db } = postgres;
    if ((await readLostTails(db)).length > 0) checks.problem(lostReceipts, lostAdvice);
    const wrappings = await createDataKeyStore(db)
      .read()
      .then(wrappingsOf)
      // A schema from before data keys.
      .catch(() => undefined);
    return { aheadMs, fingerprint: await readMeta(db, "secret_fingerprint"), wrappings };
  } finally {
    await postgres.close();
  }
}

async function readServer({ pool }: Postgres): Promise<Server | undefined> {
  const { rows } = await pool.query<Server>(
    `select current_setting('server_version') as version, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('max_connections')::int as max_connections,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
      coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as is_encrypted,
      to_regclass('meta') is not null as has_meta,
      (select count(*)::int from pg_stat_replication) as standbys,
      current_setting('synchronous_standby_names') as synchronous_standby_names`,
  );
  return rows[0];
}

function checkDurability(checks: Checks, server: Server): void {
  for (const name of ["fsync", "synchronous_commit"] as const)
    if (server[name] === "off")
      checks.problem(
        `The database server runs with ${name} = off, so a crash can lose receipts.`,
        `Set ${name} = on in its configuration.`,
      );
}

/** A standby that is behind lacks receipts that were confirmed. */
function checkReplication(checks: Checks, server: Server): void {
  if (server.standbys === 0) return;
  if (server.synchronous_standby_names === "")
    checks.warning(
      "The database server has standbys, and none is synchronous: a failover can lose receipts.",
      "Set synchronous_standby_names in its configuration; docs/deploy/postgresql.md says what each mode keeps.",
    );
  else if (server.synchronous_commit === "local")
    checks.warning(
      "The database server does not wait for its standbys (synchronous_commit = local): a failover can lose receipts.",
      "Set synchronous_commit = on in its configuration.",
    );
}

function checkConnections(
  checks: Checks,
  { max_connections: most, used }: Server,
  { workers, databaseConnections }: Configuration["settings"],
): void {
  const needed = (workers > 1 ? workers + 1 : 1) * databaseConnections;
  const text = `${used} of its ${most} connections are in use; this machine opens at most ${needed}`;
  if (needed > most)
    checks.problem(
      `${text}.`,
      "Raise max_connections of the server, or lower SVC_DATABASE_CONNECTIONS.",
    );
  else checks.ok(text);
}

function checkEncryption(checks: Checks, { is_encrypted: isEncrypted }: Server, url: string): void {
  const host = URL.parse(url)?.hostname ?? "";
  const isLocal = host === "" || host.startsWith("/") || /^(localhost|127\.|\[::1\])/.test(host);
  if (isEncrypted) checks.ok("The connection to it is encrypted");
  else if (!isLocal)
    checks.warning(
      "The connection to the database is not encrypted.",
      "Add sslmode=verify-full to SVC_DATABASE_URL, and turn on ssl in the server.",
    );
}

/** How long a statement takes, and how far its clock is ahead of this machine's. */
async function measure(checks: Checks, { pool }: Postgres): Promise<number> {
  const samples: { readonly tookMs: number; readonly aheadMs: number }[] = [];
  for (let left = 5; left > 0; left--) {
    const startMs = performance.now();
    const { rows } = await pool.query<{ ms: number }>(
      "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms",
    );
    const tookMs = performance.now() - startMs;
    samples.push({ tookMs, aheadMs: (rows[0]?.ms ?? 0) - (Date.now() - tookMs / 2) });
  }
  const best = samples.toSorted((a, b) => a.tookMs - b.tookMs)[0] ?? { tookMs: 0, aheadMs: 0 };
  const text = `It answers in ${best.tookMs.toFixed(1)} ms`;
  if (best.tookMs > slowReplyMs)
    checks.warning(
      `${text}, and each reply waits for it.`,
      "Run the gateway in the same data center as its database.",
    );
  else checks.ok(text);
  return best.aheadMs;
}
