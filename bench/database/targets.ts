/**
 * What is compared: each with a store of its own that has the same accounts and keys in it, and on
 * PostgreSQL with a server of its own, so that its CPU time is that of one target alone.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { withStore } from "../../src/app/store.ts";
import { loadConfiguration } from "../../src/config/load.ts";
import type { Operations } from "../../src/platform/operations.ts";
import { type PostgresServer, startPostgres } from "../../test/setup/postgres.ts";
import { countReceipts, manifest, startGateway } from "../gateway/gateway.ts";
import { inBulk } from "../gateway/stock.ts";
import { freePort } from "../load/ports.ts";
import { type Child, type Children, proxyEnv } from "../load/processes.ts";
import { weigh } from "../load/weight.ts";

export const targetNames = ["sqlite", "gateway", "workers1", "workers2", "workers4"] as const;
export type TargetName = (typeof targetNames)[number];

export const titles: Readonly<Record<TargetName, string>> = {
  sqlite: "SQLite",
  gateway: "PostgreSQL, svc gateway",
  workers1: "1 worker",
  workers2: "2 workers",
  workers4: "4 workers",
};

const wordsOf: Readonly<Record<TargetName, readonly string[]>> = {
  sqlite: ["serve"],
  gateway: ["gateway"],
  workers1: ["serve", "--workers", "1"],
  workers2: ["serve", "--workers", "2"],
  workers4: ["serve", "--workers", "4"],
};

/** One per account and kind. */
export type Keys = { readonly plain: readonly string[]; readonly limited: readonly string[] };

/** A store with accounts and keys, and the settings of the processes that use it. */
export type Home = {
  readonly name: TargetName;
  readonly dir: string;
  readonly keys: Keys;
  readonly environment: Readonly<Record<string, string>>;
  /** Undefined for SQLite. */
  readonly database: PostgresServer | undefined;
};

export type Target = {
  readonly home: Home;
  readonly port: number;
  readonly proxy: Child;
};

/** As an installation has it: what is confirmed is on the disk, as it is with SQLite. */
const durable = { fsync: "on", synchronous_commit: "on", full_page_writes: "on" };

/** Computed for every call and never reached. */
const limits = { rpm: "1000000", concurrency: "10000" };

export async function openHome(options: {
  readonly name: TargetName;
  readonly dir: string;
  readonly upstreamPort: number;
  readonly accounts: number;
  readonly tell: (line: string) => void;
}): Promise<Home> {
  const { name, dir, upstreamPort, accounts, tell } = options;
  const database = name === "sqlite" ? undefined : await startPostgres({ settings: durable });
  const configPath = join(dir, "svc.yaml");
  const text = manifest(upstreamPort);
  writeFileSync(configPath, text);
  const environment = {
    ...proxyEnv,
    SVC_ENGINE: "off",
    SVC_LOG_LEVEL: "warn",
    SVC_CONFIG: configPath,
    SVC_DATA_DIR: join(dir, name),
    SVC_SECRET: "a secret that all processes of the bench share",
    ...(database === undefined ? {} : { SVC_DATABASE_URL: database.url }),
  };
  const setUp = async (operations: Operations) => {
    await operations.manifest.apply({ text, file: "svc.yaml", dryRun: false, isOwnFile: true });
    return fill(operations, accounts, (line) => tell(`${titles[name]}: ${line}`));
  };
  const keys = await withStore(loadConfiguration(environment), setUp, { createsStore: true });
  return { name, dir, keys, environment, database };
}

async function fill(
  { accounts, entries, keys }: Operations,
  count: number,
  tell: (line: string) => void,
): Promise<Keys> {
  const made = await inBulk({
    what: "accounts with two keys",
    count,
    tell,
    make: async (index) => {
      const name = `bench-${index}`;
      const { id } = await accounts.create({ name });
      await entries.add({ account: id, kind: "credit", usd: "100000", reference: name });
      const plain = await keys.create({ account: id });
      const limited = await keys.create({ account: id, ...limits });
      return { plain: plain.key, limited: limited.key };
    },
  });
  return {
    plain: made.map(({ plain }) => plain),
    limited: made.map(({ limited }) => limited),
  };
}

export async function startTarget(options: {
  readonly home: Home;
  readonly children: Children;
  /** In place of the server's own, without TLS. */
  readonly databasePort?: number;
}): Promise<Target> {
  const { home, children, databasePort } = options;
  const { name, dir, environment, database } = home;
  const url = database === undefined ? undefined : new URL(database.url);
  if (url !== undefined && databasePort !== undefined) {
    url.port = String(databasePort);
    url.searchParams.set("sslmode", "disable");
  }
  const { child, port } = await startGateway({
    children,
    name: databasePort === undefined ? name : `${name} counted`,
    dataDir: join(dir, name),
    configPath: join(dir, "svc.yaml"),
    words: wordsOf[name],
    env: {
      ...environment,
      ...(url === undefined ? {} : { SVC_DATABASE_URL: url.toString(), SVC_NODE: name }),
      SVC_METRICS_PORT: String(freePort()),
    },
  });
  return { home, port, proxy: child };
}

/** CPU time of the database server with all of its processes; 0 for SQLite, which is in the gateway. */
export function databaseCpuMs({ database }: Home): number {
  if (database === undefined) return 0;
  const [pid = ""] = readFileSync(join(database.folder, "data", "postmaster.pid"), "utf8").split(
    "\n",
  );
  return weigh(Number(pid)).cpuMs;
}

/** Of a target that has stopped. */
export async function receiptsOf(home: Home): Promise<{ readonly ok: number; other: number }> {
  if (home.database === undefined) return countReceipts(join(home.dir, home.name));
  const client = new Client({ connectionString: home.database.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ ok: string; other: string }>(
      `select count(*) filter (where outcome = 'ok' and charged > 0) as ok,
        count(*) filter (where outcome <> 'ok' or charged = 0) as other from receipts`,
    );
    return { ok: Number(rows[0]?.ok), other: Number(rows[0]?.other) };
  } finally {
    await client.end();
  }
}
