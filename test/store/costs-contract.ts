import { describe, expect, test } from "bun:test";
import type { Price } from "../../src/call/price.ts";
import type { Model } from "../../src/catalog/model.ts";
import { auditOf } from "./audit-sample.ts";
import { model } from "./catalog-samples.ts";
import type { ContractDatabase } from "./contract-database.ts";

const routeCost = (name: string, cost: Price | undefined) => ({ provider: name, cost });

/** What a reader of the ledger finds of the costs that a catalog had. */
export function costsContract(name: string, create: () => Promise<ContractDatabase>): void {
  describe(`costs of routes on ${name}`, () => {
    test("every version is kept with the moment from which it was active", async () => {
      const database = await create();
      const store = await database.open();
      const [first, second] = model.routes;
      if (first === undefined || second === undefined) throw new Error("there are two");
      const saved: Model[] = [
        model,
        { ...model, routes: [{ ...first, weight: 9 }, second] },
        { ...model, routes: [second, first] },
        { ...model, routes: [second] },
        { ...model, routes: [{ ...second, cost: { input: 0n } }] },
      ];
      for (const [at, next] of saved.entries())
        await store.catalog.write({ atMs: 100 + at, saveModels: [next] }, auditOf());
      const reader = await database.openReader();
      expect((await reader.costs()).map(({ effectiveAtMs: ms, routes }) => [ms, routes])).toEqual([
        [100, [routeCost("acme", first.cost), routeCost("acme", undefined)]],
        [102, [routeCost("acme", undefined), routeCost("acme", first.cost)]],
        [103, [routeCost("acme", undefined)]],
        [104, [routeCost("acme", { input: 0n })]],
      ]);
      await reader.close();
      await store.close();
      await database.remove();
    });
  });
}
