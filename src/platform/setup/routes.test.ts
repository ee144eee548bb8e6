import { expect, test } from "bun:test";
import { hello, waitUntil } from "../../../test/setup/money-home.ts";
import { joinMember } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  later: { kind: openai, base_url: "UPSTREAM", api_key: "\${LATER_KEY}", allow_private: true }
models:
  priced: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: x }] }
  unpriced: { endpoint: chat, routes: [{ provider: fake, model: y }] }
  unrouted: { endpoint: chat, price: { input: 1, output: 1 } }
`;

const { gateway, operator } = usePlatform({ manifest, isInStore: true });

const setup = async () => (await operator.ask("GET /api/setup")).body;

test("counts what is there but no provider without its key; each step is done by doing it", async () => {
  expect(await setup()).toEqual({
    providers: 1,
    served_models: 1,
    unpriced_models: 1,
    keys: 1,
    members: 0,
    budgets: 0,
  });
  const { operations } = gateway.server;
  const { account } = gateway;
  const owner = await joinMember(gateway, operator, { account, role: "owner" });
  const own = async () => (await owner.ask("GET /api/accounts/:account/setup")).body;
  expect(await own()).toEqual({ keys: 1, calls: false, members: 1, budgets: 0 });
  expect((await setup()).members).toBe(1);

  await operations.accounts.setLimits({ account, budget: "5/day" });
  const budgeted = await operations.keys.create({ account, name: "ci", budget: "1/day" });
  expect(await own()).toMatchObject({ keys: 2, budgets: 2 });
  expect(await setup()).toMatchObject({ keys: 2, budgets: 2 });
  await operations.keys.revoke({ id: budgeted.id });
  expect(await own()).toMatchObject({ keys: 1, budgets: 1 });

  await (await gateway.call("/chat/completions", { ...hello, model: "priced" })).text();
  await waitUntil("the call's receipt", async () => (await own()).calls);

  const body = { model: "unpriced", price: { input: "0", output: "0" } };
  await operator.ask("POST /api/prices", { body });
  expect(await setup()).toMatchObject({ served_models: 2, unpriced_models: 0 });
});
