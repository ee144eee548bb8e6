import { expect, test } from "bun:test";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const manifest = `
providers:
  openai: { vendor: openai, api_key: "\${FAKE_KEY}" }
models:
  one: { endpoint: chat, price: { input: 1, output: 2 }, routes: [{ provider: openai, model: gpt-4o }] }
  two: { endpoint: chat, routes: [{ provider: openai, model: gpt-4o-mini }] }
  changed: { endpoint: chat, price: { input: 1, output: 2 }, routes: [{ provider: openai, model: gpt-4o }] }
  new: { endpoint: chat, routes: [{ provider: openai, model: gpt-4o-mini }] }
  unlisted: { endpoint: chat, routes: [{ provider: openai, model: acme-1 }] }
  voice: { endpoint: speech, routes: [{ provider: openai, model: tts-9, voices: same }] }
`;
const { operator } = usePlatform({ manifest, isInStore: true });

const set = (body: object) => operator.ask("POST /api/prices/bulk", { body });
const priceOf = async (model: string) =>
  (await operator.ask("GET /api/catalog/:model", { params: { model } })).body.price;

test("a preview shows the old and the new prices, and changes nothing", async () => {
  const { body } = await set({ models: ["one", "two", "unlisted"], markup: "0", dry_run: true });
  expect(body.applied).toBe(false);
  expect(body.changes.map(({ model }: { model: string }) => model)).toEqual(["one", "two"]);
  expect(body.changes[0].before).toEqual({ input: "1.00", output: "2.00" });
  expect(body.skipped).toEqual([{ model: "unlisted", reason: "has no known list price" }]);
  expect(await priceOf("two")).toBeNull();
});

test("a markup that makes a price too high is an error, and changes nothing", async () => {
  const before = await priceOf("one");
  const refused = [
    await set({ models: ["one"], markup: "1000000" }),
    await operator.ask("POST /api/prices/import", { body: { markup: "1000000", replace: true } }),
  ];
  for (const { status, body } of refused)
    expect([status, body.error.code, body.error.field]).toEqual([400, "invalid", "markup"]);
  expect(await priceOf("one")).toEqual(before);
});

test("many models are priced in one change with one audit entry", async () => {
  const price = { input: "3", output: "4" };
  const models = ["changed", "new", "unlisted"];
  const { body } = await set({ models, price });
  expect(body.applied).toBe(true);
  for (const model of models)
    expect(await priceOf(model)).toEqual({ input: "3.00", output: "4.00" });
  const log = await operator.ask("GET /api/audit", { query: {} });
  const [newest] = log.body.entries ?? log.body.records ?? log.body;
  expect(newest).toMatchObject({ action: "price.set", subject: "3 models" });
  expect(newest.detail.changes[0]).toEqual({
    model: "changed",
    before: { input: "1.00", output: "2.00" },
    after: { input: "3.00", output: "4.00" },
  });
});

test("models of several endpoints get one price per endpoint", async () => {
  const prices = [
    { endpoint: "chat", price: { input: "5", output: "6" } },
    { endpoint: "speech", price: { input: "7", audio_output: "8" } },
  ];
  const models = ["one", "voice"];
  const { body } = await set({ models, prices, dry_run: true });
  expect(body.changes.map(({ after }: { after: object }) => after)).toEqual([
    { input: "5.00", output: "6.00" },
    { input: "7.00", audio_output: "8.00" },
  ]);
  const chat = prices[0];
  for (const [wrong, field] of [
    [[chat], "prices"],
    [[chat, chat], "prices.1.endpoint"],
    [[chat, { endpoint: "embeddings", price: { input: "1" } }], "prices"],
    [[chat, { endpoint: "speech", price: { input: "7" } }], "prices.1.price.audio_output"],
    [[chat, { endpoint: "speech", price: { input: "7", output: "8" } }], "prices.1.price.output"],
  ] as const) {
    const answer = await set({ models, prices: wrong });
    expect([answer.status, answer.body.error.field]).toEqual([400, field]);
  }
  const both = await set({ models, prices, price: { input: "1", output: "1" } });
  expect(both.body.error.field).toBe("price");
});

test("a price can start on a day ahead, and cost nothing", async () => {
  await set({ models: ["one", "voice"], free: true, from: "2099-01-01" });
  expect(await priceOf("voice")).toBeNull();
  const { body } = await operator.ask("GET /api/catalog/:model", { params: { model: "one" } });
  expect(body.coming).toEqual([
    { price: { input: "0.00", output: "0.00" }, effective_at: "2099-01-01T00:00:00Z" },
  ]);
});

test("wrong input is refused by field, and nothing is changed", async () => {
  for (const [body, field] of [
    [{ models: ["one"] }, "price"],
    [{ models: ["one"], free: true, markup: "5" }, "price"],
    [{ models: ["one"], markup: "$5" }, "markup"],
    [{ models: ["one"], price: { input: "2,50", output: "1" } }, "price.input"],
    [{ models: ["one", "voice"], price: { input: "1", output: "1" } }, "price.output"],
    [{ models: ["one"], free: true, from: "2001-01-01" }, "from"],
  ] as const) {
    const answer = await set(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.field).toBe(field);
  }
  expect((await set({ models: ["none-such"], free: true })).status).toBe(404);
  expect(await priceOf("one")).toEqual({ input: "1.00", output: "2.00" });
});
