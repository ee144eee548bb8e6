import { expect, test } from "bun:test";
import { refusal } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const manifest = `
providers:
  openai: { vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  mini: { endpoint: chat, routes: [{ provider: openai, model: gpt-4o-mini }] }
  own: { endpoint: chat, price: { input: 1, output: 2 }, routes: [{ provider: openai, model: nobody-knows-it }] }
`;

const { gateway, operator } = usePlatform({ manifest, isInStore: true });

const list = async (query = {}) => (await operator.ask("GET /api/prices", { query })).body;
const set = (body: object) => operator.ask("POST /api/prices", { body });

test("a price is set now, and one for a day to come is told as such", async () => {
  const now = await set({ model: "own", price: { input: "3", output: "4", cached_input: "" } });
  expect(now.body).toMatchObject({ price: { input: "3.00", output: "4.00" }, in_force: true });
  const later = await set({ model: "own", price: { input: "5", output: "6" }, from: "2999-01-01" });
  expect(later.body).toMatchObject({ effective_at: "2999-01-01T00:00:00Z", in_force: false });
  const all = await list({ model: "own", history: "true" });
  expect(all.map((one: { in_force: boolean }) => one.in_force)).toEqual([false, true, false]);
  const shown = (await list()).filter((one: { model: string }) => one.model === "own");
  expect(shown).toHaveLength(2);
});

test("a price that is wrong is refused with its field, and nothing is changed", async () => {
  const before = await list({ history: "true" });
  const lacking = await set({ model: "own", price: { input: "1" } });
  expect([lacking.status, lacking.body.error.field]).toEqual([400, "output"]);
  const text = await set({ model: "own", price: { input: "1", output: "2", cached_input: "x" } });
  expect([text.status, text.body.error.field]).toEqual([400, "cached_input"]);
  const past = await set({ model: "own", price: { input: "1", output: "2" }, from: "2020-01-01" });
  expect([past.status, past.body.error.field]).toEqual([400, "from"]);
  expect((await set({ model: "none", price: { input: "1", output: "2" } })).status).toBe(404);
  expect(await list({ history: "true" })).toEqual(before);
});

test("a price is removed: the model is not served, and what was is in the history", async () => {
  const model = "spare";
  await operator.ask("POST /api/catalog", {
    body: { id: model, routes: [{ provider: "openai", model: "m" }] },
  });
  await set({ model, price: { input: "1", output: "2" } });
  const removed = await operator.ask("DELETE /api/prices/:model", { params: { model } });
  expect(removed.body).toMatchObject({ model, price: null, in_force: false });
  const listed = await gateway.client().models.list();
  expect(listed.data.map(({ id }) => id)).not.toContain(model);
  expect(await list({ model, history: "true" })).toHaveLength(2);
  const again = await operator.ask("DELETE /api/prices/:model", { params: { model } });
  expect([again.status, again.body.error.code]).toEqual([409, "conflict"]);
  await set({ model, price: { input: "1", output: "2" } });
  const back = await gateway.client().models.list();
  expect(back.data.map(({ id }) => id)).toContain(model);
});

test("an import is shown first and changes nothing, then it is made, with the markup", async () => {
  const before = await list();
  const { body: plan } = await operator.ask("GET /api/prices/import", { query: { markup: "100" } });
  expect(plan.applied).toBe(false);
  expect(await list()).toEqual(before);
  const price = plan.set.find((one: { route: string | null }) => one.route === null);
  const cost = plan.set.find((one: { route: string | null }) => one.route !== null);
  expect(price.model).toBe("mini");
  expect(Number(price.price.input)).toBeCloseTo(2 * Number(cost.price.input), 9);
  const { body: made } = await operator.ask("POST /api/prices/import", { body: { markup: "100" } });
  expect(made).toEqual({ ...plan, applied: true });
  const mini = (await list()).find((one: { model: string }) => one.model === "mini");
  expect(mini.price).toEqual(price.price);
  const { body: audit } = await operator.ask("GET /api/audit");
  expect(JSON.stringify(audit)).toContain("price.import");
});

test("a markup that is no number is refused with its field", async () => {
  expect(
    await refusal(
      operator.ask("GET /api/prices/import", {
        query: { markup: "much" },
      }),
    ),
  ).toEqual([400, "markup"]);
});
