import { describe, expect, test } from "bun:test";
import type { Model } from "../../src/catalog/model.ts";
import { auditOf } from "./audit-sample.ts";
import { model, price, provider } from "./catalog-samples.ts";
import type { SharedDatabase } from "./contract-database.ts";

/** What the store does with the names of models. */
export function namesContract(name: string, create: () => Promise<SharedDatabase>): void {
  describe(`names of models on ${name}`, () => {
    const save = (saved: Model) => saveIn(create, saved);

    test("keeps aliases, and forgets them with the model", async () => {
      const { store, models, close } = await save({ ...model, aliases: ["a", "b"] });
      expect((await models())[0]?.aliases).toEqual(["a", "b"]);
      await store.catalog.write({ atMs: 4, removeModels: [model.id] }, auditOf());
      expect(await models()).toEqual([]);
      await store.catalog.write({ atMs: 5, saveModels: [model] }, auditOf());
      const [again] = await models();
      expect(again?.aliases).toBeUndefined();
      expect(again?.prices).toEqual([]);
      await close();
    });

    test("forgets aliases that a later write leaves out, and moves the others to a new id", async () => {
      const { store, models, close } = await save({ ...model, aliases: ["a", "b"] });
      await store.catalog.write({ atMs: 4, saveModels: [{ ...model, aliases: ["b"] }] }, auditOf());
      expect((await models())[0]?.aliases).toEqual(["b"]);
      const saveModels = [{ ...model, id: "new", aliases: ["b", model.id] }];
      const renameModel = { from: model.id, to: "new" };
      await store.catalog.write({ atMs: 5, saveModels, renameModel }, auditOf());
      expect((await models()).map(({ id, aliases }) => [id, aliases])).toEqual([
        ["new", ["b", model.id]],
      ]);
      await close();
    });

    pricesContract(save);
  });
}

async function saveIn(create: () => Promise<SharedDatabase>, saved: Model) {
  const database = await create();
  const store = await database.open();
  const addPrices = [{ modelId: saved.id, price, effectiveAtMs: 0, createdAtMs: 3 }];
  const saveProviders = [provider];
  await store.catalog.write({ atMs: 3, saveProviders, saveModels: [saved], addPrices }, auditOf());
  const close = async () => {
    await store.close();
    await database.remove();
  };
  return { store, close, models: async () => (await store.catalog.load()).models };
}

function pricesContract(save: (saved: Model) => ReturnType<typeof saveIn>): void {
  test("gives prices of a removed model's id new versions", async () => {
    const { store, models, close } = await save(model);
    await store.catalog.write({ atMs: 4, removeModels: [model.id] }, auditOf());
    const addPrices = [{ modelId: model.id, price, effectiveAtMs: 0, createdAtMs: 5 }];
    await store.catalog.write({ atMs: 5, saveModels: [model], addPrices }, auditOf());
    expect((await models())[0]?.prices.map(({ version }) => version)).toEqual([2]);
    await close();
  });

  test("starts prices of a removed model's id no earlier than now, and drops scheduled ones", async () => {
    const { store, models, close } = await save(model);
    const ahead = { modelId: model.id, price, effectiveAtMs: 90, createdAtMs: 3 };
    await store.catalog.write({ atMs: 3, addPrices: [ahead] }, auditOf());
    await store.catalog.write({ atMs: 4, removeModels: [model.id] }, auditOf());
    const addPrices = [{ modelId: model.id, price, effectiveAtMs: 0, createdAtMs: 5 }];
    await store.catalog.write({ atMs: 5, saveModels: [model], addPrices }, auditOf());
    expect((await models())[0]?.prices).toMatchObject([{ version: 2, effectiveAtMs: 5 }]);
    await store.catalog.write({ atMs: 6, removeModels: [model.id] }, auditOf());
    const other = { ...model, id: "other" };
    const first = { ...ahead, modelId: "other", effectiveAtMs: 0 };
    const write = {
      atMs: 7,
      saveModels: [other],
      addPrices: [first, { ...ahead, modelId: "other" }],
    };
    await store.catalog.write(write, auditOf());
    const renameModel = { from: "other", to: model.id };
    await store.catalog.write({ atMs: 8, saveModels: [model], renameModel }, auditOf());
    expect((await models())[0]?.prices).toMatchObject([
      { version: 3, effectiveAtMs: 8 },
      { version: 4, effectiveAtMs: 90 },
    ]);
    await close();
  });

  test("moves prices to the new id", async () => {
    const { store, models, close } = await save(model);
    const saveModels = [{ ...model, id: "new" }];
    const renameModel = { from: model.id, to: "new" };
    await store.catalog.write({ atMs: 4, saveModels, renameModel }, auditOf());
    const all = await models();
    expect(all.map(({ id }) => id)).toEqual(["new"]);
    expect(all[0]?.prices).toEqual([{ version: 1, effectiveAtMs: 0, createdAtMs: 3, price }]);
    await close();
  });
}
