import { describe, expect, test } from "bun:test";
import { modelSample } from "../../test/setup/model-sample.ts";
import { Problem } from "../base/problem.ts";
import { Catalog, deprecate, retire } from "./catalog.ts";
import { type Lifecycle, lifecycleState } from "./lifecycle.ts";
import type { Model } from "./model.ts";

const price = { input: 0n, output: 0n };
const prices = [{ version: 1, effectiveAtMs: 0, createdAtMs: 0, price }];
const modelOf = (id: string, rest: Partial<Model> = {}) => modelSample({ id, prices, ...rest });

async function catalogOf(...models: readonly Model[]): Promise<Catalog> {
  const catalog = new Catalog({
    load: async () => ({ providers: [], models }),
    write: async () => {},
    manifestState: async () => ({ hash: undefined, adopts: false }),
    hasCalls: async () => false,
  });
  await catalog.reload();
  return catalog;
}

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
  return "nothing was refused";
}

test("a model is active, then deprecated, then retired at the very moment its date comes", () => {
  const lifecycle: Lifecycle = { deprecatedAtMs: 100, retiresAtMs: 200, replacement: "new" };
  expect(lifecycleState({}, 1e15)).toBe("active");
  expect(lifecycleState(lifecycle, 199)).toBe("deprecated");
  expect(lifecycleState(lifecycle, 200)).toBe("retired");
  expect(lifecycleState(lifecycle, 201)).toBe("retired");
  expect(lifecycleState({ deprecatedAtMs: 100 }, 1e15)).toBe("deprecated");
});

test("a deprecation that lies ahead takes effect on its day", () => {
  const lifecycle: Lifecycle = { deprecatedAtMs: 100, retiresAtMs: 200, replacement: "new" };
  expect(lifecycleState(lifecycle, 99)).toBe("active");
  expect(lifecycleState(lifecycle, 100)).toBe("deprecated");
});

test("the successor of a model is one that works: retired ones pass on to theirs", async () => {
  const ends = (retiresAtMs: number, replacement: string) => ({
    lifecycle: { deprecatedAtMs: 0, retiresAtMs, replacement },
  });
  const oldest = modelOf("oldest", ends(100, "older"));
  const catalog = await catalogOf(oldest, modelOf("older", ends(200, "new")), modelOf("new"));
  const successor = (model: Model, nowMs: number) =>
    catalog.deprecationOf(model, nowMs)?.replacement;
  expect(successor(oldest, 100)).toBe("older");
  expect(successor(oldest, 200)).toBe("new");
  expect(catalog.deprecationOf(modelOf("new"), 200)).toBeUndefined();
  const round = await catalogOf(modelOf("a", ends(1, "b")), modelOf("b", ends(1, "a")));
  expect(round.deprecationOf(modelOf("a", ends(1, "b")), 5)).toMatchObject({ retiresAtMs: 1 });
  expect(round.deprecationOf(modelOf("a", ends(1, "b")), 5)?.replacement).toBeUndefined();
});

test("a successor is served, and is not itself about to go", async () => {
  const planned = { deprecatedAtMs: 300, retiresAtMs: 500, replacement: "old" };
  const catalog = await catalogOf(
    modelOf("old"),
    modelOf("unserved", { routes: [] }),
    modelOf("leaving", { lifecycle: planned }),
  );
  for (const replacement of ["unserved", "leaving"])
    expect(
      codeOf(() => deprecate({ catalog, id: "old", retiresAtMs: 500, replacement, nowMs: 100 })),
    ).toBe("invalid");
});

test("a model whose deprecation lies ahead cannot retire, and is told how it could", async () => {
  const lifecycle = { deprecatedAtMs: 300, retiresAtMs: 500, replacement: "new" };
  const catalog = await catalogOf(modelOf("old", { lifecycle }), modelOf("new"));
  expect(() => retire({ catalog, id: "old", nowMs: 100 })).toThrow("deprecate it now first");
  expect(retire({ catalog, id: "old", nowMs: 300 }).lifecycle.retiresAtMs).toBe(300);
});

describe("deprecating", () => {
  const plan = { retiresAtMs: 500, replacement: "new", nowMs: 100 };

  test("notes the day it was said, the day of the end and the successor", async () => {
    const catalog = await catalogOf(modelOf("old"), modelOf("new"));
    const { lifecycle } = deprecate({ ...plan, catalog, id: "old" });
    expect(lifecycle).toEqual({ deprecatedAtMs: 100, retiresAtMs: 500, replacement: "new" });
  });

  test("from a day ahead notes that day; it can be moved until it comes", async () => {
    const first = await catalogOf(modelOf("old"), modelOf("new"));
    const planned = deprecate({ ...plan, catalog: first, id: "old", fromMs: 300 });
    expect(planned.lifecycle.deprecatedAtMs).toBe(300);
    const catalog = await catalogOf(planned, modelOf("new"));
    const later = deprecate({ ...plan, catalog, id: "old", fromMs: 400 });
    expect(later.lifecycle.deprecatedAtMs).toBe(400);
    expect(deprecate({ ...plan, catalog, id: "old" }).lifecycle.deprecatedAtMs).toBe(100);
    expect(codeOf(() => deprecate({ ...plan, catalog, id: "old", fromMs: 500 }))).toBe("invalid");
    const come = { ...plan, catalog, id: "old", nowMs: 300, fromMs: 350 };
    expect(codeOf(() => deprecate(come))).toBe("conflict");
  });

  test("again moves the day of the end, and keeps the day it was first said", async () => {
    const lifecycle = { deprecatedAtMs: 50, retiresAtMs: 300, replacement: "new" };
    const catalog = await catalogOf(modelOf("old", { lifecycle }), modelOf("new"));
    expect(deprecate({ ...plan, catalog, id: "old" }).lifecycle).toEqual({
      deprecatedAtMs: 50,
      retiresAtMs: 500,
      replacement: "new",
    });
  });

  test("needs an active successor of the same endpoint and input, and a day ahead", async () => {
    const lifecycle = { deprecatedAtMs: 50, retiresAtMs: 90 };
    const catalog = await catalogOf(
      modelOf("old"),
      modelOf("new"),
      modelOf("gone", { lifecycle }),
      modelOf("leaving", { lifecycle: { deprecatedAtMs: 50 } }),
      modelOf("speech", { endpoint: "speech" }),
      modelOf("text", { endpoint: "embeddings" }),
      modelOf("media", { endpoint: "embeddings", input: "media" }),
    );
    const codeFor = (change: Partial<Parameters<typeof deprecate>[0]>) =>
      codeOf(() => deprecate({ ...plan, catalog, id: "old", ...change }));
    for (const replacement of ["old", "gone", "leaving", "speech"])
      expect(codeFor({ replacement })).toBe("invalid");
    expect(codeFor({ id: "text", replacement: "media" })).toBe("invalid");
    expect(codeFor({ replacement: "none" })).toBe("not_found");
    expect(codeFor({ id: "none" })).toBe("not_found");
    expect(codeFor({ id: "gone" })).toBe("conflict");
    expect(codeFor({ retiresAtMs: 100 })).toBe("invalid");
  });
});

test("only a deprecated model can retire, once, and it does so at once", async () => {
  const lifecycle = { deprecatedAtMs: 50, retiresAtMs: 300, replacement: "new" };
  const catalog = await catalogOf(modelOf("old", { lifecycle }), modelOf("new"));
  const retired = retire({ catalog, id: "old", nowMs: 100 });
  expect(retired.lifecycle).toEqual({ ...lifecycle, retiresAtMs: 100 });
  expect(lifecycleState(retired.lifecycle, 100)).toBe("retired");
  expect(codeOf(() => retire({ catalog, id: "new", nowMs: 100 }))).toBe("conflict");
  expect(codeOf(() => retire({ catalog, id: "old", nowMs: 300 }))).toBe("conflict");
  expect(codeOf(() => retire({ catalog, id: "none", nowMs: 100 }))).toBe("not_found");
});
