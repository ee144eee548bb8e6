import { expect, test } from "bun:test";
import { modelSample } from "../../test/setup/model-sample.ts";
import type { Price } from "../call/price.ts";
import { Catalog } from "./catalog.ts";
import { isServed, type Model, priceAt } from "./model.ts";

const priced = (price: Price | undefined, effectiveAtMs = 0, version = 1) => ({
  version,
  effectiveAtMs,
  createdAtMs: 0,
  price,
});
const model = modelSample({
  endpoint: "embeddings",
  input: "media",
  prices: [priced({ image: 0n, video_second: 0n })],
});
const chat: Model = { ...model, endpoint: "chat", input: "text", prices: [] };

test("a model is served when it is routed and priced in every class it is billed by", () => {
  expect(isServed(model, 5)).toBe(true);
  expect(isServed({ ...model, routes: [] }, 5)).toBe(false);
  expect(isServed({ ...model, prices: [priced({ image: 0n })] }, 5)).toBe(false);
  expect(isServed({ ...model, input: "text" }, 5)).toBe(false);
  expect(isServed({ ...chat, prices: model.prices }, 5)).toBe(false);
  expect(isServed({ ...chat, prices: [priced({ input: 0n, output: 0n })] }, 5)).toBe(true);
  expect(isServed({ ...model, prices: [] }, 5)).toBe(false);
  expect(isServed({ ...model, prices: [priced(undefined)] }, 5)).toBe(false);
});

test("the price in force is the newest whose moment has come, and of one moment the last said", () => {
  const prices = [
    priced({ input: 1n }, 10, 1),
    priced({ input: 2n }, 20, 2),
    priced({ input: 3n }, 20, 4),
    priced(undefined, 30, 3),
    priced({ input: 4n }, 40, 5),
  ];
  const versionAt = (nowMs: number) => priceAt({ ...model, prices }, nowMs)?.version;
  expect([9, 10, 19, 20, 29, 30, 39, 40].map(versionAt)).toEqual([
    undefined,
    1,
    1,
    4,
    4,
    undefined,
    undefined,
    5,
  ]);
});

test("callers find a model from the moment on at which it has a whole price, and not after it", async () => {
  const whole = { input: 1n, output: 1n };
  const prices = [priced({ input: 1n }, 0, 1), priced(whole, 10, 2), priced(undefined, 20, 3)];
  const models = [
    { ...chat, prices },
    { ...chat, id: "never", prices: prices.slice(0, 1) },
  ];
  const catalog = new Catalog({
    load: async () => ({ providers: [], models }),
    write: async () => {},
    manifestState: async () => ({ hash: undefined, adopts: false }),
    hasCalls: async () => false,
  });
  await catalog.reload();
  const found = (nowMs: number) => catalog.findServed("m", nowMs) !== undefined;
  expect([9, 10, 19, 20].map(found)).toEqual([false, true, true, false]);
  expect([...catalog.served].map(({ id }) => id)).toEqual(["m"]);
});
