import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { Problem } from "../base/problem.ts";
import type { Configuration } from "../config/load.ts";
import type { Settings } from "../config/settings.ts";
import { createSecrets, masterSecret } from "../secrets/secrets.ts";
import { openPostgres, type Postgres } from "../store/postgres/postgres.ts";
import { readMeta } from "../store/sql/meta.ts";
import { type DataLock, lockDataDir } from "../store/sqlite/lock.ts";
import type { Opened, StoreUser } from "./opened.ts";

/**
 * What a process has of its own on this machine: a directory that it locks, with the identity of a
 * node in it. A process that starts again in the same directory is the same node.
 */
export interface ProcessPlace {
  /** Unique among the nodes that run. */
  readonly name: string;
  readonly instance: string;
  readonly dir: string;
  readonly lock: DataLock;
}

/** Commands share the data directory with what runs there, so they lock nothing. */
const noLock: DataLock = { describe: () => {}, release: () => {} };

/** Connects, with the secret of this installation, as one of the processes that share the database. */
export async function openPostgresStore(
  configuration: Configuration,
  url: string,
  user: StoreUser,
): Promise<Opened> {
  const { settings } = configuration;
  const place = takePlace(settings, user);
  let postgres: Postgres | undefined;
  try {
    postgres = await openPostgres({ url, name: `svc ${place.name}` });
    const secrets = createSecrets(
      masterSecret({
        fromEnvironment: settings.secret,
        dataDir: settings.dataDir,
        hasDatabase: await hasSecret(postgres),
      }),
    );
    throw new Problem({
      code: "failed",
      message: `This version cannot serve from PostgreSQL yet (secret ${secrets.fingerprint}). Unset SVC_DATABASE_URL to use SQLite.`,
    });
  } catch (error) {
    await postgres?.close();
    place.lock.release();
    throw error;
  }
}

/** One process per place: `svc gateway` and `svc platform` can share a data directory. */
export function takePlace(settings: Settings, user: StoreUser): ProcessPlace {
  const { dataDir, node } = settings;
  switch (user.kind) {
    case "command":
      return { name: node, instance: "", dir: dataDir, lock: noLock };
    case "platform":
      return lockPlace(`${node}/platform`, join(dataDir, "platform"));
    case "server":
    case "supervisor":
      return lockPlace(node, dataDir);
    case "worker":
      return lockPlace(`${node}/${user.worker}`, join(dataDir, `worker-${user.worker}`));
    default:
      return user satisfies never;
  }
}

function lockPlace(name: string, dir: string): ProcessPlace {
  const lock = lockDataDir(dir);
  try {
    return { name, dir, lock, instance: instanceOf(dir) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Created once per directory. */
function instanceOf(dir: string): string {
  const path = join(dir, "instance");
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  const instance = randomBytes(16).toString("hex");
  writeFileSync(path, `${instance}\n`, { mode: 0o600, flag: "wx" });
  return instance;
}

/** Whether the database belongs to a secret already: a new one would not open it. */
async function hasSecret({ db }: Postgres): Promise<boolean> {
  const found = await sql<{
    known: string | null;
  }>`select to_regclass('meta')::text as known`.execute(db);
  if (found.rows[0]?.known === null) return false;
  return (await readMeta(db, "secret_fingerprint")) !== undefined;
}
