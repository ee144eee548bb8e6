import { expect, test } from "bun:test";
import type { Receipt } from "../ledger/receipt.ts";
import { Traffic } from "./traffic.ts";

const receipt: Receipt = {
  id: "req_1",
  accountId: "acc_1",
  keyId: "key_1",
  model: "talker",
  endpoint: "chat",
  provider: "acme",
  attempts: [{ provider: "acme", model: "large", startedMs: 1, durationMs: 29 }],
  priceVersion: 1,
  units: { input: 7, output: 5 },
  reasoningTokens: 0,
  estimated: false,
  hold: 100n,
  cost: 90n,
  charged: 90n,
  vendorCost: undefined,
  outcome: "ok",
  firstByteMs: 20,
  durationMs: 30,
};

const watched = (...changes: readonly Partial<Receipt>[]) => {
  const traffic = new Traffic();
  for (const change of changes) traffic.watch({ ...receipt, ...change });
  return traffic;
};

const attemptsOf = (traffic: Traffic) =>
  [...traffic.providers].map(([provider, { attempts }]) => [
    provider,
    Object.fromEntries([...attempts].map(([outcome, { count }]) => [outcome, count])),
  ]);

test("what a call cost beyond what its account had is a shortfall", () => {
  const traffic = watched({ cost: 90n, charged: 20n }, { cost: 5n, charged: 5n });
  const [talker] = [...traffic.models];
  expect([talker?.charged.nano, talker?.shortfall.nano]).toEqual([25n, 70n]);
});

test("a shortfall is counted for its provider, apart where the usage is our own estimate", () => {
  const traffic = watched(
    { charged: 20n, provider: "acme" },
    { charged: 85n, provider: "acme", estimated: true },
    { provider: "honest", attempts: [] },
  );
  const found = [...traffic.providers].map(([provider, { reported, estimated }]) => [
    provider,
    reported.nano,
    estimated.nano,
  ]);
  expect(found).toEqual([["acme", 70n, 5n]]);
});

test("every attempt is counted by its provider and its code, whatever its names and words", () => {
  const model = "a model, other/large upstream_overloaded";
  const attempts = [
    { provider: "acme", model, code: "upstream_error", detail: "acme returned 500, other/large" },
    { provider: "other", model: "large", code: "upstream_timeout" },
    { provider: "acme", model },
  ];
  expect(attemptsOf(watched({ attempts, provider: "acme" }))).toEqual([
    ["acme", { upstream_error: 1, ok: 1 }],
    ["other", { upstream_timeout: 1 }],
  ]);
});

test("where nobody was asked, no attempt is counted", () => {
  const attempts = [{ provider: "", model: "", code: "upstream_error", detail: "left out" }];
  const traffic = watched({ attempts, provider: "", outcome: "upstream_error" });
  expect(attemptsOf(traffic)).toEqual([]);
});

test("a model that moves to another endpoint is counted apart from what it was", () => {
  const traffic = watched({}, { endpoint: "speech" }, {}, { endpoint: "speech" });
  const counts = [...traffic.models].map(({ endpoint, receipts }) => [endpoint, receipts]);
  expect(counts).toEqual([
    ["chat", 2],
    ["speech", 2],
  ]);
});

test("more models, providers and outcomes than there is room for are counted together", () => {
  const many = Array.from({ length: 1_000 }, (_, at) => ({
    model: `model-${at}`,
    provider: `provider-${at}`,
    attempts: [{ provider: `provider-${at}`, model: "large" }],
    outcome: "a code that nobody knows",
  }));
  const traffic = watched(...many, ...many);
  const models = [...traffic.models];
  expect(models.length).toBe(201);
  expect(models.find(({ model }) => model === "other")?.receipts).toBe(1_600);
  const outcomes = models.flatMap(({ requests }) => [...requests.keys()]);
  expect([...new Set(outcomes)]).toEqual(["other"]);
  expect(attemptsOf(traffic).length).toBe(101);
});
