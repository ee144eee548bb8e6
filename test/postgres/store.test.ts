import { PostgresFleet } from "../../src/store/postgres/fleet.ts";
import { openLedgerReader } from "../../src/store/postgres/ledger/reader.ts";
import { createNodeStore } from "../../src/store/postgres/ledger-store.ts";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import { createMigratedDatabase } from "../setup/empty-postgres.ts";
import { dropDatabase } from "../setup/postgres.ts";
import { auditContract, ledgerWrites } from "../store/audit-contract.ts";
import { storeContract } from "../store/contract.ts";
import type { ContractDatabase, SharedDatabase } from "../store/contract-database.ts";
import { costsContract } from "../store/costs-contract.ts";
import { ledgerContract } from "../store/ledger-contract.ts";
import { namesContract } from "../store/names-contract.ts";
import { providersContract } from "../store/providers-contract.ts";

async function create(): Promise<SharedDatabase> {
  const url = await createMigratedDatabase();
  return {
    open: async (fingerprint = "fingerprint") => {
      const postgres = await openPostgres({ url });
      return createPostgresStore(postgres, fingerprint);
    },
    remove: () => dropDatabase(url),
  };
}

storeContract("PostgreSQL", create);
namesContract("PostgreSQL", create);
providersContract("PostgreSQL", create);

/** Each opening is the next start of the same node. */
async function createNodes(): Promise<ContractDatabase> {
  const url = await createMigratedDatabase();
  return {
    traits: { chargedBy: "commits", commitsInTurn: false },
    open: async (fingerprint = "fingerprint") => {
      const postgres = await openPostgres({ url });
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
      const postgres = await openPostgres({ url });
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

ledgerContract("PostgreSQL", createNodes);
auditContract("PostgreSQL", createNodes, ledgerWrites);
costsContract("PostgreSQL", createNodes);
