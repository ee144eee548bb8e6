import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RejectionBounds } from "../../src/rejections/rejection.ts";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { createRejectionStore as createPostgresRejections } from "../../src/store/postgres/rejections/store.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import { createRejectionStore } from "../../src/store/sqlite/rejections/store.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import { openEmptyDatabase } from "../setup/empty-database.ts";
import { createMigratedDatabase } from "../setup/empty-postgres.ts";
import { dropDatabase } from "../setup/postgres.ts";
import { factorsContract } from "./factors-contract.ts";
import { peopleContract } from "./people-contract.ts";
import { rejectionsContract } from "./rejections-contract.ts";
import { responsesContract } from "./responses-contract.ts";
import { searchContract } from "./search-contract.ts";
import { targetChecksContract } from "./target-checks-contract.ts";

const root = mkdtempSync(join(tmpdir(), "svc-tables-"));
afterAll(() => rmSync(root, { recursive: true }));

async function createSqlite() {
  const sqlite = openEmptyDatabase(root);
  const { db, raw } = sqlite;
  const store = await createStore(sqlite, "x");
  return {
    db,
    store,
    openRejections: (bounds: RejectionBounds) =>
      createRejectionStore({
        db,
        raw,
        bounds,
        async exclusive(work, then) {
          then(raw.transaction(work)());
        },
      }),
    remove: () => store.close(),
  };
}

async function createPostgres() {
  const url = await createMigratedDatabase();
  const postgres = await openPostgres({ url });
  const { db } = postgres;
  const store = await createPostgresStore(postgres, "x");
  return {
    db,
    store,
    openRejections: (bounds: RejectionBounds) => createPostgresRejections(db, bounds),
    async remove() {
      await store.close();
      await dropDatabase(url);
    },
  };
}

for (const [name, create] of [
  ["SQLite", createSqlite],
  ["PostgreSQL", createPostgres],
] as const) {
  targetChecksContract(name, create);
  peopleContract(name, create);
  factorsContract(name, create);
  searchContract(name, create);
  rejectionsContract(name, create);
  responsesContract(name, create);
}
