import { afterEach, beforeEach, describe } from "bun:test";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import type { SharedStore } from "../../src/store/store.ts";
import { createMigratedDatabase } from "../setup/empty-postgres.ts";
import { dropDatabase } from "../setup/postgres.ts";
import { auditContract } from "./audit-contract.ts";
import { auditOf } from "./audit-sample.ts";
import { type SharedDatabase, storeContract } from "./contract.ts";
import { keyTests } from "./key-contract.ts";
import { namesContract } from "./names-contract.ts";
import { providersContract } from "./providers-contract.ts";

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
auditContract("PostgreSQL", create);
namesContract("PostgreSQL", create);
providersContract("PostgreSQL", create);

describe("keys on PostgreSQL", () => {
  let database: SharedDatabase;
  let store: SharedStore;
  beforeEach(async () => {
    database = await create();
    store = await database.open();
    await store.accounts.insert({ id: "acct_1", name: "default", createdAtMs: 1 }, auditOf());
  });
  afterEach(async () => {
    await store.close();
    await database.remove();
  });
  keyTests(() => ({ store }));
});
