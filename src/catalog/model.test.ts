import { expect, test } from "bun:test";
import { isServed, type Model } from "./model.ts";

const model: Model = {
  id: "m",
  endpoint: "embeddings",
  input: "media",
  ownedBy: "svc",
  createdAtMs: 0,
  price: { image: 0n, video_second: 0n },
  routes: [{ provider: "p", model: "x", weight: 1 }],
  lifecycle: {},
};

test("a model is served when it is routed and priced in every class it is billed by", () => {
  expect(isServed(model)).toBe(true);
  expect(isServed({ ...model, routes: [] })).toBe(false);
  expect(isServed({ ...model, price: { image: 0n } })).toBe(false);
  expect(isServed({ ...model, input: "text" })).toBe(false);
  expect(isServed({ ...model, endpoint: "chat", input: "text" })).toBe(false);
  expect(
    isServed({ ...model, endpoint: "chat", input: "text", price: { input: 0n, output: 0n } }),
  ).toBe(true);
  const { price: _price, ...unpriced } = model;
  expect(isServed(unpriced)).toBe(false);
});
