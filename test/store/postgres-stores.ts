import type { RejectionBounds } from "../../src/rejections/rejection.ts";
import { PostgresFleet } from "../../src/store/postgres/fleet.ts";
import { openLedgerReader } from "../../src/store/postgres/ledger/reader.ts";
import { createNodeStore } from "../../src/store/postgres/ledger-store.ts";
import { createRejectionStore } from "../../src/store/postgres/rejections/store.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import { createMigratedDatabase, openWarm } from "../setup/empty-postgres.ts";
import { dropDatabase } from "../setup/postgres.ts";
import type { ContractDatabase, SharedDatabase } from "./contract-database.ts";

/** What every process shares. */
export async function createShared(): Promise<SharedDatabase> {
  const url = await createMigratedDatabase();
  return {
    open: async (fingerprint = "fingerprint") =>
      createPostgresStore(await openWarm(url), fingerprint),
    remove: () => dropDatabase(url),
  };
}

/** Each opening is the next start of the same node. */
export async function createNodes(): Promise<ContractDatabase> {
  const url = await createMigratedDatabase();
  return {
    traits: { chargedBy: "commits", commitsInTurn: false },
    open: async (fingerprint = "fingerprint") => {
      const postgres = await openWarm(url);
      const shared = await createPostgresStore(postgres, fingerprint);
      const { pool, db } = postgres;
      const fleet = new PostgresFleet({ pool, db, goneAfterMs: 60_000 });
      const node = { name: "a", instance: "a", version: "0", address: "", pid: 1 };
      const { epoch } = await fleet.join(node);
      // As with its first tick.
      await fleet.recover();
      return createNodeStore({ postgres, shared, epoch, nowMs: Date.now, foldedAtOnce: 30 });
    },
    openReader: async () => {
      const postgres = await openWarm(url);
      const reader = await openLedgerReader(postgres);
      return {
        ...reader,
        async close() {
          await reader.close();
          await postgres.close();
        },
      };
    },
    remove: () => dropDatabase(url),
  };
}

/** With its tables to look into. */
export async function createTables() {
  const url = await createMigratedDatabase();
  const postgres = await openWarm(url);
  const { db } = postgres;
  const store = await createPostgresStore(postgres, "x");
  return {
    db,
    store,
    openRejections: (bounds: RejectionBounds) => createRejectionStore(db, bounds),
    async remove() {
      await store.close();
      await dropDatabase(url);
    },
  };
}
