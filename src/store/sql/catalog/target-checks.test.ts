import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmptyDatabase } from "../../../../test/setup/empty-database.ts";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import type { TargetCheckStore } from "../../../catalog/target-checks.ts";
import type { Sqlite } from "../../sqlite/sqlite.ts";
import { createTargetCheckStore } from "./target-checks.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-checks-"));
afterAll(() => rmSync(folder, { recursive: true }));

let sqlite: Sqlite;
let store: TargetCheckStore;
beforeEach(() => {
  sqlite = openEmptyDatabase(folder);
  store = createTargetCheckStore(sqlite.db);
});

const check = { provider: "p", key: "default", digest: "d", isOk: true, atMs: 7 };
const models = async () => (await store.list()).map(({ model }) => model).toSorted();

test("keeps exactly the newest 5,000 checks, also where many were made at once", async () => {
  sqlite.raw.run(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
    insert into target_checks select 'p', 'default', 'm' || i, 'd', 1, 7 from n`);
  await store.save({ ...check, model: "equal" });
  await store.save({ ...check, model: "later", atMs: 8 });
  expect(await models()).toHaveLength(5_000);
  expect(await models()).toContain("equal");
  expect(await models()).toContain("later");
});

test("forgets the failures of one model and of its keys, or all of a provider", async () => {
  const failed = { ...check, isOk: false };
  for (const model of ["", "m", "n"]) await store.save({ ...failed, model });
  await store.save({ ...failed, provider: "other", model: "x" });
  await store.save({ ...check, model: "works" });
  const forget = (model?: string) => store.forgetFailures({ provider: "p", model }, auditOf());
  expect(await forget("m")).toBe(2);
  expect(await models()).toEqual(["n", "works", "x"]);
  expect(await forget()).toBe(1);
  expect(await models()).toEqual(["works", "x"]);
});
