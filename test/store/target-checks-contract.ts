import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { auditOf } from "./audit-sample.ts";
import type { CreateTables, OpenTables } from "./tables-contract.ts";

const check = { provider: "p", key: "default", digest: "d", isOk: true, atMs: 7 };

/** What is kept of the checks of targets, and of the attempts that failed before another served. */
export function targetChecksContract(name: string, create: CreateTables): void {
  describe(`checks of targets on ${name}`, () => {
    let tables: OpenTables;
    beforeEach(async () => {
      tables = await create();
    });
    afterEach(() => tables.remove());
    const checks = () => tables.store.targetChecks;
    const models = async () => (await checks().list()).map(({ model }) => model).toSorted();

    test("keeps exactly the newest 5,000 checks, also where many were made at once", async () => {
      const rows = Array.from({ length: 5_000 }, (_, at) => ({
        provider: "p",
        key_name: "default",
        model: `m${at}`,
        digest: "d",
        ok: 1,
        at_ms: 7,
      }));
      await tables.db.insertInto("target_checks").values(rows).execute();
      await checks().save({ ...check, model: "equal" });
      await checks().save({ ...check, model: "later", atMs: 8 });
      expect(await models()).toHaveLength(5_000);
      expect(await models()).toContain("equal");
      expect(await models()).toContain("later");
    });

    test("forgets the failures of one model and of its keys, or all of a provider", async () => {
      const failed = { ...check, isOk: false };
      for (const model of ["", "m", "n"]) await checks().save({ ...failed, model });
      await checks().save({ ...failed, provider: "other", model: "x" });
      await checks().save({ ...check, model: "works" });
      const forget = (model?: string) =>
        checks().forgetFailures({ provider: "p", model }, auditOf());
      expect(await forget("m")).toBe(2);
      expect(await models()).toEqual(["n", "works", "x"]);
      expect(await forget()).toBe(1);
      expect(await models()).toEqual(["works", "x"]);
    });

    test("adds up failed attempts by hour and provider, and deletes what is too old", async () => {
      const { providerFailures } = tables.store;
      const rowOf = (hourMs: number, provider: string, failures: number) => ({
        hourMs,
        provider,
        failures,
      });
      await providerFailures.add([rowOf(1, "p", 2), rowOf(2, "p", 3), rowOf(2, "q", 4)], 0);
      await providerFailures.add([rowOf(2, "q", 5), rowOf(3, "p", 6)], 2);
      const rows = await tables.db
        .selectFrom("provider_failures")
        .select(["hour_ms", "provider", "failures"])
        .orderBy("hour_ms")
        .orderBy("provider")
        .execute();
      expect(rows.map(({ hour_ms: hour, ...row }) => [hour, row.provider, row.failures])).toEqual([
        [2, "p", 3],
        [2, "q", 9],
        [3, "p", 6],
      ]);
    });
  });
}
