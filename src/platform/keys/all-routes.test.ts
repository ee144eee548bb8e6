import { beforeAll, expect, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { openPayer } from "../../../test/setup/money-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, operator } = usePlatform({ reply: chatAnswers.plain() });
beforeAll(async () => {
  const { operations } = gateway.server;
  const { id: account } = await operations.accounts.create({ name: "Acme Corp" });
  await operations.keys.create({ account, name: "production" });
  await operations.keys.create({ account: gateway.account, name: "staging" });
});

const list = async (find?: string) => {
  const query = find === undefined ? {} : { find };
  const { status, body } = await operator.ask("GET /api/keys", { query });
  expect(status).toBe(200);
  const keys: readonly { readonly name: string; readonly account_name: string }[] = body.keys;
  return {
    total: body.total as number,
    rows: keys.map(({ name, account_name }) => `${account_name}: ${name}`),
  };
};

test("lists the keys of all accounts with their names, newest first", async () => {
  const { total, rows } = await list();
  expect(rows).toHaveLength(total);
  // Another test adds newer ones.
  expect(rows.slice(-3)).toEqual(["test: staging", "Acme Corp: production", "test: "]);
});

test("finds keys by their own name and by their account's", async () => {
  expect((await list("acme")).rows).toEqual(["Acme Corp: production"]);
  expect((await list("STAGING")).rows).toEqual(["test: staging"]);
  expect(await list("nothing like it")).toEqual({ total: 0, rows: [] });
});

test("finds keys by their creator, and shows what each has spent this month and of its budget", async () => {
  const payer = await openPayer(gateway);
  await gateway.server.operations.keys.setLimits({ id: payer.keyId, budget: "5/month" });
  await payer.chat();
  await payer.settled(1);
  const made = await operator.ask("POST /api/accounts/:account/keys", { body: { name: "mine" } });
  expect((await list(made.body.created_by.toUpperCase())).rows).toEqual(["test: mine"]);
  const { body } = await operator.ask("GET /api/keys");
  const ofAccount = await operator.ask("GET /api/accounts/:account/keys", {
    params: { account: payer.id },
  });
  const spent = body.keys.find(({ id }: { id: string }) => id === payer.keyId);
  expect(Number(spent.spent_usd)).toBeGreaterThan(0);
  expect(spent.budget).toMatchObject({ limit_usd: "5.00", period: "month" });
  const { account_name: _, ...rest } = spent;
  expect(rest).toEqual(ofAccount.body[0]);
  const others = body.keys.filter(({ id }: { id: string }) => id !== payer.keyId);
  expect(others.every((key: { spent_usd: string }) => Number(key.spent_usd) === 0)).toBe(true);
});

test("has no secret", async () => {
  const { body } = await operator.ask("GET /api/keys");
  expect(JSON.stringify(body)).not.toContain(gateway.key);
});
