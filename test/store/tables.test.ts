import type { RejectionBounds } from "../../src/rejections/rejection.ts";
import { createRejectionStore } from "../../src/store/sqlite/rejections/store.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import { openEmptyDatabase } from "../setup/empty-database.ts";
import { useFolder } from "../setup/folder.ts";
import { factorsContract } from "./factors-contract.ts";
import { peopleContract } from "./people-contract.ts";
import { rejectionsContract } from "./rejections-contract.ts";
import { responsesContract } from "./responses-contract.ts";
import { searchContract } from "./search-contract.ts";
import { targetChecksContract } from "./target-checks-contract.ts";

const root = useFolder();

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

for (const contract of [
  targetChecksContract,
  peopleContract,
  factorsContract,
  searchContract,
  rejectionsContract,
  responsesContract,
])
  contract("SQLite", createSqlite);
