import type { Price } from "../../src/call/price.ts";
import type { TargetHealth } from "../../src/catalog/health.ts";
import type { Model, ProviderEntry } from "../../src/catalog/model.ts";

export const provider: ProviderEntry = {
  name: "acme",
  kind: "openai",
  baseUrl: "https://a.example/v1",
  allowPrivate: false,
};

export const model: Model = {
  id: "svc-3-flash",
  endpoint: "chat",
  input: "text",
  ownedBy: "svc",
  createdAtMs: 3,
  contextLength: 1_048_576,
  maxOutputTokens: 8192,
  maxImageTokens: 1600,
  prices: [],
  routes: [
    { provider: "acme", model: "m", weight: 1, cost: { input: 1n, output: 2n ** 70n + 1n } },
    { provider: "acme", model: "n", weight: 0 },
  ],
  lifecycle: {},
};
/** For ledgers: it has an id, and nothing else matters. */
export const plainModel: Model = {
  id: "m",
  endpoint: "chat",
  input: "text",
  ownedBy: "svc",
  createdAtMs: 1,
  prices: [],
  routes: [],
  lifecycle: {},
};
export const price: Price = { input: 300_000_000n, output: 123_456_789_012_345_678_901n };

export const healthOf = (changes: Partial<TargetHealth> = {}): TargetHealth => ({
  provider: "acme",
  model: "large",
  key: null,
  state: "closed",
  reason: null,
  sinceMs: null,
  untilMs: null,
  requests: 1,
  failures: 0,
  hasServed: false,
  ...changes,
});
