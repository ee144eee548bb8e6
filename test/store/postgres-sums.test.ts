import { beforeEach, describe } from "bun:test";
import { usePostgres } from "../setup/use-postgres.ts";
import { foldTests } from "./fold-contract.ts";
import { openSums, type PostgresSums } from "./postgres-sums.ts";
import { reportTests } from "./reports-contract.ts";
import { recountTests, rollupTests } from "./sums-contract.ts";

describe("sums and reports on PostgreSQL", () => {
  const postgres = usePostgres();
  let database: PostgresSums;
  beforeEach(async () => {
    database = await openSums(postgres());
  });
  rollupTests(() => database);
  recountTests(() => database);
  foldTests(() => database);
  reportTests(() => database);
});
