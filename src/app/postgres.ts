import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import type { Pool } from "pg";
import packageJson from "../../package.json" with { type: "json" };
import { monotonicMs } from "../base/clock.ts";
import { within } from "../base/within.ts";
import type { TargetHealth } from "../catalog/health.ts";
import { NoDatabase } from "../cli/store-wiring.ts";
import { ownGatewayUrl } from "../config/addresses.ts";
import type { Configuration } from "../config/load.ts";
import { databasePlace } from "../config/setting-readers.ts";
import type { Settings } from "../config/settings.ts";
import { FleetClock } from "../fleet/clock.ts";
import type { LedgerReader } from "../ledger/store.ts";
import { masterSecret } from "../secrets/master-secret.ts";
import { deadlines } from "../store/postgres/deadlines.ts";
import { PostgresFleet } from "../store/postgres/fleet.ts";
import { Losses } from "../store/postgres/ledger/losses.ts";
import { openLedgerReader } from "../store/postgres/ledger/reader.ts";
import { createNodeStore, createPlainStore } from "../store/postgres/ledger-store.ts";
import { PostgresPermits } from "../store/postgres/limits/permits.ts";
import { lockSql } from "../store/postgres/locks.ts";
import {
  describePending,
  newestSchema,
  refuseNewer,
} from "../store/postgres/migrations/migrations.ts";
import { openPostgres, type Postgres } from "../store/postgres/postgres.ts";
import { query } from "../store/postgres/query.ts";
import { createEndedOwnerStore } from "../store/postgres/shared/ended-owners.ts";
import { LiveCalls } from "../store/postgres/shared/live.ts";
import { SignInTries } from "../store/postgres/shared/sign-in-tries.ts";
import { PostgresTargets } from "../store/postgres/shared/targets.ts";
import { createPostgresStore, otherSecret, prepareSchema } from "../store/postgres/store.ts";
import { transact } from "../store/postgres/transaction.ts";
import { refuseUnfinishedCopy } from "../store/postgres/unfinished-copy.ts";
import { readMeta } from "../store/sql/meta.ts";
import { type DataLock, lockDataDir } from "../store/sqlite/lock.ts";
import type { SharedStore, Store } from "../store/store.ts";
import { announceToGateways } from "./gateway-news.ts";
import type { NodeParts, Opened, StoreUser } from "./opened.ts";
import { openSecrets, secretSource } from "./secret.ts";
import { dumpOf, noteThisVersion, noticeOf, printUpgrade } from "./upgrade.ts";

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
    postgres = await openPostgres({
      url,
      name: `svc ${place.name}`,
      connections: settings.databaseConnections,
    });
    if (user.mustExist) await refuseEmpty(postgres, url);
    const hasDatabase = await hasSecret(postgres);
    const text = masterSecret({ ...secretSource(settings), hasDatabase });
    if (hasDatabase) await announceUpgrade(postgres.db, url, user.onUpgrade);
    await prepareSchema(postgres.db);
    const keys = await openSecrets({ db: postgres.db, settings, text, advice: otherSecret });
    const { secrets } = keys;
    const base = await createPostgresStore(postgres, secrets.fingerprint);
    await noteThisVersion(postgres.db, newestSchema);
    const { pool, db } = postgres;
    const clock = await openClock(pool);
    const nowMs = () => clock.nowMs();
    const losses = new Losses({ postgres, nowMs, markPath: await markPathOf(db, place, user) });
    const fleet = new PostgresFleet({
      pool,
      db,
      goneAfterMs: goneAfterMs(settings),
      onSequence: (sequence) => losses.changed(sequence),
    });
    const isNode = user.kind === "server" || user.kind === "worker";
    const options = { postgres, shared: base, nowMs };
    const node = isNode
      ? await joinFleet({ fleet, place, settings, losses, ...options })
      : undefined;
    const store = node?.store ?? createPlainStore(options);
    const shared = shareProcesses(postgres);
    let hasStarted = false;
    return {
      store,
      secrets,
      keys,
      lock: place.lock,
      shared: {
        fleet,
        clock,
        readClock: () => setClock(pool, clock),
        node: node?.parts,
        ...shared,
      },
      started() {
        hasStarted = true;
      },
      async close(withinMs = closeWithinMs) {
        losses.close();
        // Where this fails, others close it when it has been silent for long enough.
        const leave = async () => {
          await shared.live.close();
          if (isNode) await fleet.leave(hasStarted ? "listed" : "forgotten");
        };
        await within(leave(), withinMs * leaveShare, "the database does not answer").catch(
          () => {},
        );
        await store.close();
        place.lock.release();
      },
    };
  } catch (error) {
    await postgres?.close();
    place.lock.release();
    throw error;
  }
}

/** Of each database apart: a node may be pointed at another one. */
async function markPathOf(
  db: Postgres["db"],
  { dir }: ProcessPlace,
  { kind }: StoreUser,
): Promise<string | undefined> {
  const id = await readMeta(db, "store_id");
  return id === undefined || (kind !== "server" && kind !== "worker")
    ? undefined
    : join(dir, `postgres-${id}`);
}

/** Before a start migrates a database that others may be using. */
async function announceUpgrade(
  db: Postgres["db"],
  url: string,
  onUpgrade = printUpgrade,
): Promise<void> {
  const steps = await describePending(db);
  if (steps.length > 0) await onUpgrade(await noticeOf(db, steps, dumpOf(url)));
}

/** One moment of the ledger, on a connection of its own. */
export async function openReader(url: string): Promise<LedgerReader> {
  const postgres = await openPostgres({ url, name: "svc reader", connections: 1 });
  const reader = await refuseNewer(postgres.db)
    .then(() => refuseEmpty(postgres, url))
    .then(() => refuseUnfinishedCopy(postgres.db))
    .then(() => openLedgerReader(postgres))
    .catch(async (error: unknown) => {
      await postgres.close();
      throw error;
    });
  return {
    ...reader,
    async close() {
      await reader.close();
      await postgres.close();
    },
  };
}

/** A node that is silent for so long has no call under way: each ends within its own time. */
const goneAfterMs = ({ offlineMs, maxCallMs, graceMs }: Settings) =>
  offlineMs + maxCallMs + graceMs;

const closeWithinMs = 6_000;
/** Adding up the sums of the last hour may take longer: then another gateway does it. */
const leaveShare = 0.7;

async function openClock(pool: Pool): Promise<FleetClock> {
  const clock = new FleetClock();
  await setClock(pool, clock).catch(() => {});
  return clock;
}

async function setClock(pool: Pool, clock: FleetClock): Promise<void> {
  const sentMs = monotonicMs();
  const text = "select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms";
  const [row] = await query<{ ms: number }>(pool, { text, answerMs: deadlines.tick });
  if (row !== undefined) clock.set(row.ms, sentMs);
}

async function joinFleet(options: {
  readonly fleet: PostgresFleet;
  readonly place: ProcessPlace;
  readonly settings: Settings;
  readonly losses: Losses;
  readonly postgres: Postgres;
  readonly shared: SharedStore;
  readonly nowMs: () => number;
}): Promise<{ readonly store: Store; readonly parts: NodeParts }> {
  const { fleet, place, settings, losses, postgres, shared, nowMs } = options;
  const { name, instance } = place;
  const address = ownGatewayUrl(settings, settings.port);
  const { version } = packageJson;
  const { epoch } = await fleet.join({ name, instance, version, address, pid: process.pid });
  const lostTail = await losses.findAtStart();
  const store = createNodeStore({ postgres, shared, epoch, losses, lostTail, nowMs });
  const { leases, minutes } = store;
  const targets = new PostgresTargets(postgres.pool);
  const parts = {
    losses,
    leases,
    minutes,
    permits: new PostgresPermits(postgres.pool, epoch),
    writeTargets: (health: readonly TargetHealth[]) => targets.write(epoch, health),
  };
  return { store, parts };
}

/** One process per place: `svc gateway` and `svc platform` can share a data directory. */
export function takePlace(settings: Settings, user: StoreUser): ProcessPlace {
  const { dataDir, node } = settings;
  switch (user.kind) {
    case "command":
    case "copy":
      return { name: node, instance: "", dir: dataDir, lock: noLock };
    case "platform":
      return lockPlace(`${node}/platform`, join(dataDir, "platform"));
    case "server":
    case "supervisor":
      return lockPlace(node, dataDir);
    case "worker":
      return lockPlace(
        `${node}/${user.worker}`,
        join(dataDir, `worker-${user.worker}`),
        // By it, the workers of one machine are told from those of another with its name.
        () => `${instanceOf(dataDir)}/${user.worker}`,
      );
    default:
      return user satisfies never;
  }
}

function lockPlace(name: string, dir: string, instance = () => instanceOf(dir)): ProcessPlace {
  const lock = lockDataDir(dir, "server");
  try {
    return { name, dir, lock, instance: instance() };
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
  return (await hasTables(db)) && (await readMeta(db, "secret_fingerprint")) !== undefined;
}

async function hasTables(db: Postgres["db"]): Promise<boolean> {
  const found = await sql<{
    known: string | null;
  }>`select to_regclass('meta')::text as known`.execute(db);
  return found.rows[0]?.known !== null;
}

/** For who must not create the tables. */
async function refuseEmpty(postgres: Postgres, url: string): Promise<void> {
  const { db } = postgres;
  if (await hasSecret(postgres)) return;
  if (await hasTables(db)) await refuseUnfinishedCopy(db);
  throw new NoDatabase({
    database: databasePlace(url),
    isEmpty: true,
    setting: "SVC_DATABASE_URL",
  });
}

/** What processes tell each other beside the ledger. */
function shareProcesses({ db, pool, newClient }: Postgres) {
  const targets = new PostgresTargets(pool);
  const health = () => targets.health();
  return {
    targets: { health, ...announceToGateways(db, { health }) },
    endedOwners: createEndedOwnerStore(db),
    signInTries: new SignInTries(pool),
    firstStart: <T>(work: () => Promise<T>) =>
      transact(
        pool,
        async (client) => {
          await client.query(lockSql("first start"));
          return work();
        },
        { answerMs: deadlines.long },
      ),
    // What is not heard is read: pages show it a moment later.
    live: new LiveCalls({ pool, newClient, onError: () => {} }),
  };
}
