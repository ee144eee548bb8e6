import { beforeAll, describe, expect, test } from "bun:test";
import { jsonReply, operatorErrors } from "../../../test/fake/recordings.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const params = { name: "vendor" };
const offered = [
  "gpt-4o",
  "gpt-4o-mini",
  "gpt-4.1",
  "gpt-4.1-mini",
  "gpt-4.1-nano",
  "o4-mini",
  "acme-voice-1",
  "acme-chat-1",
  ...Array.from({ length: 300 }, (_, at) => `acme-bulk-${at}`),
];
const listing = jsonReply({ body: { data: offered.map((id) => ({ id })) } });
const { gateway, operator } = usePlatform({ isInStore: true, reply: listing });
beforeAll(async () => {
  gateway.upstream.replyWith(listing);
  const body = { ...params, vendor: "openai", base_url: gateway.upstream.baseUrl, api_key: "sk-x" };
  const added = await operator.ask("POST /api/providers", {
    body: { ...body, allow_private: true },
  });
  expect(added.status).toBe(200);
});

const serve = (models: readonly object[]) =>
  operator.ask("POST /api/providers/:name/models", { params, body: { models } });
const show = async (model: string) =>
  (await operator.ask("GET /api/catalog/:model", { params: { model } })).body;

test("a model is served at list price, with a markup, for free or at its own price", async () => {
  const { status, body } = await serve([
    { upstream: "gpt-4o" },
    { upstream: "gpt-4o-mini", id: "small", markup: "20" },
    { upstream: "gpt-4.1", free: true },
    { upstream: "gpt-4.1-mini", price: { input: "7", output: "8" } },
  ]);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    served: ["gpt-4o", "small", "gpt-4.1", "gpt-4.1-mini"],
    needs_price: [],
  });
  const listed = await show("gpt-4o");
  expect(listed.price).toEqual(listed.routes[0].cost);
  const small = await show("small");
  expect(small.routes[0]).toMatchObject({ model: "gpt-4o-mini", provider: "vendor" });
  const { input } = small.routes[0].cost;
  expect(Number(small.price.input)).toBeCloseTo(Number(input) * 1.2, 9);
  expect(await show("gpt-4.1")).toMatchObject({ price: { input: "0.00", output: "0.00" } });
  expect(await show("gpt-4.1-mini")).toMatchObject({ price: { input: "7.00", output: "8.00" } });
});

test("the endpoint can be other than the guessed one", async () => {
  await serve([{ upstream: "acme-voice-1", endpoint: "speech", free: true }]);
  const model = await show("acme-voice-1");
  expect(model).toMatchObject({
    endpoint: "speech",
    price: { input: "0.00", audio_output: "0.00" },
  });
  expect(model.routes[0].voices).not.toBeNull();
});

test("one without a known list price is saved and needs a price, whatever the markup", async () => {
  const { body } = await serve([{ upstream: "acme-chat-1", markup: "20" }]);
  expect(body.needs_price).toEqual(["acme-chat-1"]);
  expect(await show("acme-chat-1")).toMatchObject({ price: null, state: "needs_price" });
});

test("a wrong choice is refused by its place, and nothing is saved", async () => {
  const one = { upstream: "gpt-4.1-nano" };
  for (const [models, field] of [
    [[one, { upstream: "o4-mini", id: "gpt-4.1-nano" }], "models[1].id"],
    [[{ ...one, id: "no spaces" }], "models[0].id"],
    [[{ ...one, id: "svc-3-flash" }], "models[0].id"],
    [[{ ...one, markup: "-5" }], "models[0].markup"],
    [[{ ...one, price: { input: "$1", output: "2" } }], "models[0].price.input"],
    [[{ ...one, price: { input: "1" } }], "models[0].price.output"],
    [[{ ...one, price: {} }], "models[0].price.input"],
    [[{ ...one, free: true, markup: "20" }], "models[0].price"],
    [[{ upstream: "not-offered" }], "models[0].upstream"],
  ] as const) {
    const { status, body } = await serve(models);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body.error.field).toBe(field);
  }
  const catalog = await operator.ask("GET /api/catalog");
  expect(catalog.body.some(({ id }: { id: string }) => id === "gpt-4.1-nano")).toBe(false);
});

test("300 models are one write with one audit entry", async () => {
  const models = offered
    .filter((id) => id.startsWith("acme-bulk"))
    .map((upstream) => ({ upstream }));
  const feed = () => gateway.server.operations.models.list({});
  const before = (await feed()).length;
  const { body } = await serve(models);
  expect(body.served).toHaveLength(300);
  expect((await feed()).length).toBe(before + 300);
  const log = await operator.ask("GET /api/audit", { query: {} });
  const rows = log.body.entries ?? log.body.records ?? log.body;
  const added = rows.filter(({ action }: { action: string }) => action === "provider.models");
  expect(added[0].detail.models).toHaveLength(300);
});

describe("a vendor that does not list its models", () => {
  const refused = async () => {
    const { status, body } = await serve([{ upstream: "o4-mini" }]);
    return { status, ...body.error };
  };

  test("because it rejects the key is an error about the key", async () => {
    gateway.upstream.replyWith(operatorErrors.badKey());
    const error = await refused();
    expect(error).toMatchObject({ status: 400, code: "test_failed", field: "api_key" });
    expect(error.message).toContain("vendor rejected the key (401");
  });

  test("because it does not answer there is an error about the address", async () => {
    gateway.upstream.replyWith(jsonReply({ status: 404, body: { detail: "Not Found" } }));
    expect(await refused()).toMatchObject({ status: 400, code: "test_failed", field: "base_url" });
  });

  test("because it fails is an error with the command that tests it", async () => {
    gateway.upstream.replyWith(jsonReply({ status: 500, body: { error: { message: "oops" } } }));
    expect(await refused()).toMatchObject({ status: 400, code: "test_failed" });
    const { serve: serveDirectly } = gateway.server.operations.providers;
    await expect(serveDirectly({ ...params, ids: ["o4-mini"] })).rejects.toMatchObject({
      command: "provider test vendor",
    });
  });
});
