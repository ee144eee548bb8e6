import type { Model } from "../../src/catalog/model.ts";

/** A chat model that is routed and has no price. */
export const modelSample = (rest: Partial<Model> = {}): Model => ({
  id: "m",
  endpoint: "chat",
  input: "text",
  ownedBy: "svc",
  createdAtMs: 0,
  prices: [],
  routes: [{ provider: "p", model: "m", weight: 1 }],
  lifecycle: {},
  ...rest,
});

/** With a route to each of some models of a vendor. */
export const routedTo = (...names: readonly string[]): Model =>
  modelSample({ routes: names.map((model) => ({ provider: "p", model, weight: 1 })) });
