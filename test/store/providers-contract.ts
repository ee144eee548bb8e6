import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ProviderEntry } from "../../src/catalog/model.ts";
import type { TargetCheck } from "../../src/catalog/target-checks.ts";
import type { SharedStore } from "../../src/store/store.ts";
import { auditOf } from "./audit-sample.ts";
import { provider } from "./catalog-samples.ts";
import type { SharedDatabase } from "./contract-database.ts";

const keyed: ProviderEntry = {
  ...provider,
  apiKey: { sealed: "sealed-1", hint: "abcd" },
  keys: [
    { name: "second", secret: { variable: "SECOND_KEY" }, weight: 3 },
    { name: "third", secret: { sealed: "sealed-3" }, weight: 0, isPaused: true },
  ],
  isPaused: true,
};
const check: TargetCheck = {
  provider: provider.name,
  key: "default",
  model: "m",
  digest: "d1",
  isOk: true,
  atMs: 5,
};

const failed: TargetCheck = { ...check, digest: "d2", isOk: false, atMs: 6 };
const byTarget = (one: TargetCheck, other: TargetCheck) =>
  `${one.key}/${one.model}` < `${other.key}/${other.model}` ? -1 : 1;

/** What the store keeps of providers, their keys and what is known of their targets. */
export function providersContract(name: string, create: () => Promise<SharedDatabase>): void {
  describe(`providers on ${name}`, () => {
    let database: SharedDatabase;
    let store: SharedStore;
    beforeEach(async () => {
      database = await create();
      store = await database.open();
    });
    afterEach(async () => {
      await store.close();
      await database.remove();
    });
    const save = (...saveProviders: readonly ProviderEntry[]) =>
      store.catalog.write({ atMs: 3, saveProviders }, auditOf());
    const providers = async () => (await store.catalog.load()).providers;

    test("keeps several keys in order, with weights, pauses and where each is", async () => {
      await save(keyed);
      expect(await providers()).toEqual([keyed]);
    });

    test("forgets keys and pauses that a later write leaves out", async () => {
      await save(keyed);
      await save(provider);
      expect(await providers()).toEqual([provider]);
    });

    test("keeps the keys and pauses of one provider apart from those of another", async () => {
      const other = { ...keyed, name: "other" };
      await save(keyed, other);
      await save(provider);
      expect((await providers()).find((one) => one.name === "other")).toEqual(other);
    });

    test("announces a pause, so that every process skips the provider", async () => {
      await save(provider);
      const before = await store.feed.latest();
      await save({ ...provider, isPaused: true });
      expect((await store.feed.since(before))?.map(({ topic }) => topic)).toEqual(["catalog"]);
    });

    test("keeps the newest check of each target, across processes and restarts", async () => {
      await save(keyed);
      const ofKey = { ...check, model: "" };
      const ofOther = { ...check, model: "n", isOk: false };
      const bySecond = { ...check, key: "second" };
      for (const one of [check, ofKey, ofOther, bySecond]) await store.targetChecks.save(one);
      await store.targetChecks.save(failed);
      expect((await store.targetChecks.list()).toSorted(byTarget)).toEqual([
        ofKey,
        failed,
        ofOther,
        bySecond,
      ]);
      const again = await database.open();
      expect(await again.targetChecks.list()).toHaveLength(4);
      await again.close();
    });

    test("forgets the checks of a removed provider and no others", async () => {
      const other = { ...check, provider: "other" };
      await save(keyed, { ...provider, name: "other" });
      await store.targetChecks.save(check);
      await store.targetChecks.save(other);
      await store.catalog.write({ atMs: 4, removeProviders: [provider.name] }, auditOf());
      expect(await store.targetChecks.list()).toEqual([other]);
    });

    test("keeps checks while a provider is changed: their digest says whether they hold", async () => {
      await save(keyed);
      await store.targetChecks.save(check);
      await save({ ...keyed, baseUrl: "https://b.example/v1" });
      expect(await store.targetChecks.list()).toEqual([check]);
    });
  });
}
