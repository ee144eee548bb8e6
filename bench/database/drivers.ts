/**
 * What each driver costs on the one hot write of the gateway: the statement of the ledger's writer,
 * with batches that were put together before, so that only the driver is measured.
 */
import { newId } from "../../src/base/ids.ts";
import { PostgresFleet } from "../../src/store/postgres/fleet.ts";
import { commitSql, commitValues } from "../../src/store/postgres/ledger/writer.ts";
import { migrate } from "../../src/store/postgres/migrations/migrations.ts";
import { ensurePartitions } from "../../src/store/postgres/partitions.ts";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { startPostgres } from "../../test/setup/postgres.ts";
import { receiptOf } from "../../test/store/ledger-samples.ts";
import type { Progress } from "../load/progress.ts";
import { Samples } from "../load/samples.ts";
import { type Driver, type DriverClient, type DriverName, drivers } from "./driver-clients.ts";
import type { Options } from "./options.ts";

export type DriverSample = {
  readonly driver: DriverName;
  readonly size: number;
  /** Of this process, per receipt. */
  readonly cpuUs: number;
  /** Of a batch. */
  readonly p50Us: number;
  readonly p99Us: number;
};

const sizes = [1, 32, 128];
const receiptsPerRound = 12_800;
const mostBatches = 2_000;
const accounts = 8;

/**
 * Bun's client writes a string for a parameter of type json as a JSON string, in quotes. So it gets
 * the same texts as texts, and the server turns them into JSON.
 */
const bunCommitSql = commitSql.replace(/\$([23457])/g, "$$$1::text::json");

/** Latency is that of driver and server: nothing waits for the disk. */
export async function measureDrivers(
  { driverRounds, isQuick }: Options,
  progress: Progress,
): Promise<readonly DriverSample[]> {
  const server = await startPostgres();
  const epoch = await prepare(server.url);
  const clients = await Promise.all(
    drivers.map(async (driver) => ({ driver, client: await driver.open({ url: server.url }) })),
  );
  const samples: DriverSample[] = [];
  progress.expect((driverRounds + 1) * sizes.length * drivers.length);
  for (let round = 0; round <= driverRounds; round++) {
    progress.tell(round === 0 ? "drivers: warming up" : `drivers: round ${round}`);
    for (const size of sizes)
      for (const { driver, client } of round % 2 === 0 ? clients : clients.toReversed()) {
        progress.step(`${driver.name}, batches of ${size}`);
        const count = Math.min(mostBatches, Math.ceil(receiptsPerRound / size));
        const batches = batchesOf({ epoch, size, count: isQuick ? Math.ceil(count / 10) : count });
        const sample = await measure({ driver, client, batches, size });
        // The first warms up.
        if (round > 0) samples.push(sample);
      }
  }
  await Promise.all(clients.map(({ client }) => client.close()));
  await server.stop();
  return samples;
}

/** Accounts with money that this epoch has borrowed. */
async function prepare(url: string): Promise<number> {
  const { db, pool, close } = await openPostgres({ url });
  await migrate(db);
  await ensurePartitions(db, Date.now());
  const fleet = new PostgresFleet({ pool, db, goneAfterMs: 3_600_000 });
  const node = { name: "bench", instance: "bench", version: "0", address: "", pid: process.pid };
  const { epoch } = await fleet.join(node);
  const ids = Array.from({ length: accounts }, (_, at) => accountOf(at));
  await pool.query(
    "insert into accounts (id, name, created_at_ms) select id, id, 1 from unnest($1::text[]) as id",
    [ids],
  );
  await pool.query(
    "insert into leases (account_id, epoch, granted, spent) select id, $2, 1000000000000, 0 from unnest($1::text[]) as id",
    [ids, epoch],
  );
  await close();
  return epoch;
}

const accountOf = (index: number) => `acct_${index % accounts}`;

function batchesOf(options: {
  readonly epoch: number;
  readonly size: number;
  readonly count: number;
}): readonly (readonly unknown[])[] {
  const { epoch, size, count } = options;
  const nowMs = Date.now();
  return Array.from({ length: count }, () => {
    const receipts = Array.from({ length: size }, (_, at) => ({
      type: "receipt" as const,
      receipt: receiptOf({ id: newId("req", nowMs), accountId: accountOf(at) }),
      hold: { budgets: [] },
    }));
    return commitValues({ epoch, writes: receipts, receipts, known: [], nowMs, openMs: undefined });
  });
}

async function measure(options: {
  readonly driver: Driver;
  readonly client: DriverClient;
  readonly batches: readonly (readonly unknown[])[];
  readonly size: number;
}): Promise<DriverSample> {
  const { driver, client, batches, size } = options;
  const statement =
    driver.name === "pg" ? { name: "svc_commit", text: commitSql } : { text: bunCommitSql };
  Bun.gc(true);
  const times = new Samples();
  const before = process.cpuUsage();
  for (const values of batches) {
    const startedNs = Bun.nanoseconds();
    const [row] = await client.run({ ...statement, values });
    times.add((Bun.nanoseconds() - startedNs) / 1000);
    if (addedBy(row) !== size) throw new Error(`${driver.name} did not write a batch of ${size}`);
  }
  const { user, system } = process.cpuUsage(before);
  const { p50, p99 } = times.sumUp();
  const cpuUs = (user + system) / (batches.length * size);
  return { driver: driver.name, size, cpuUs, p50Us: p50, p99Us: p99 };
}

function addedBy(row: Record<string, unknown> | undefined): number {
  const reply = row?.["reply"] as { readonly added?: readonly string[] } | undefined;
  return reply?.added?.length ?? 0;
}
