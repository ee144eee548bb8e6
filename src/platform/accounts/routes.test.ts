import { expect, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { hello } from "../../../test/setup/money-home.ts";
import { join, joinMember, machine, refusal } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, operator } = usePlatform({ isShared: true, reply: chatAnswers.plain() });

let made = 0;
async function newAccount(body: Readonly<Record<string, unknown>> = {}) {
  made += 1;
  const answer = await operator.ask("POST /api/accounts", {
    body: { name: `account ${made}`, ...body },
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

const namesOf = async () => {
  const { body } = await operator.ask("GET /api/accounts");
  return body.map(({ name }: { name: string }) => name);
};

test("an account is created with limits, a first credit and a link that makes its owner", async () => {
  const made = await newAccount({
    name: "Lighthouse Labs",
    rpm: "60",
    budget: "50/month",
    credit_usd: "12.5",
    email: "Owner@Lighthouse.example",
  });
  const { owner_link: link, owner_link_note: note, ...account } = made;
  expect(note).toBeNull();
  expect(account).toEqual({
    id: expect.stringMatching(/^acct_/),
    name: "Lighthouse Labs",
    created_at: expect.any(String),
    status: "active",
    keys: 0,
    balance_usd: "12.50",
    limits: { rpm: "60", tpm: null, concurrency: null, budget: "50.00/month" },
    receipts_days: null,
  });
  const owner = await join(gateway.platformUrl, link.link, { email: "owner@lighthouse.example" });
  const own = await owner.ask("GET /api/accounts/:account", { params: { account: account.id } });
  expect(own.status).toBe(200);
  expect(own.body).toEqual({
    ...account,
    held_usd: "0.00",
    free_usd: "12.50",
    budget: { limit_usd: "50.00", period: "month", spent_usd: "0.00" },
  });
  const { body: session } = await owner.ask("GET /api/session");
  expect(session.user.accounts).toEqual([
    { id: account.id, name: "Lighthouse Labs", role: "owner" },
  ]);
});

test("an account without a wish for an owner has no link", async () => {
  expect((await newAccount()).owner_link).toBeNull();
  expect((await newAccount({ invite_owner: true })).owner_link.link).toContain("/join#");
});

test("a token creates an account, and never a link that would give it more than it has", async () => {
  const given = { name: "onboarding", scopes: ["accounts:write"] };
  const { body: token } = await operator.ask("POST /api/tokens", { body: given });
  const onboarding = machine(gateway.platformUrl, token.token);
  for (const wish of [{ invite_owner: true }, { email: "owner@token.example" }]) {
    made += 1;
    const { status, body } = await onboarding.ask("POST /api/accounts", {
      body: { name: `account ${made}`, credit_usd: "1", ...wish },
    });
    expect([status, body.owner_link, body.balance_usd]).toEqual([200, null, "1.00"]);
    expect(body.owner_link_note).toContain("Only a signed-in operator");
    const of = { params: { account: body.id } };
    const { body: members } = await operator.ask("GET /api/accounts/:account/members", of);
    expect(members).toEqual({ members: [], invited: [] });
  }
  const plain = await onboarding.ask("POST /api/accounts", { body: { name: "no wish" } });
  expect([plain.body.owner_link, plain.body.owner_link_note]).toEqual([null, null]);
});

test.each([
  ["credit_usd", "2000000000"],
  ["email", "nobody"],
  ["rpm", "fast"],
])("a wrong %s of %s is told at its field and makes no account", async (field, value) => {
  const before = await namesOf();
  const body = { name: `wrong ${field}`, invite_owner: true, [field]: value };
  expect(await refusal(operator.ask("POST /api/accounts", { body }))).toEqual([400, field]);
  expect(await namesOf()).toEqual(before);
});

test("a name that is taken is a conflict", async () => {
  const { name } = await newAccount();
  const { status, body } = await operator.ask("POST /api/accounts", { body: { name } });
  expect(status).toBe(409);
  expect(body.error.message).toContain(name);
});

test("an account keeps its receipts for some days, or for as long as all do", async () => {
  const { id: account } = await newAccount({});
  const keep = (days: string) =>
    operator.ask("PATCH /api/accounts/:account/retention", { params: { account }, body: { days } });
  expect((await keep("90")).body.receipts_days).toBe(90);
  expect((await keep("0")).body.error.field).toBe("days");
  expect((await keep("1.5")).status).toBe(400);
  expect((await keep("none")).body.receipts_days).toBeNull();
});

test("a suspended account is refused by the gateway until it is resumed", async () => {
  const { id: account } = await newAccount({ credit_usd: "5" });
  const { key } = await gateway.server.operations.keys.create({ account });
  const call = async () => {
    const headers = { authorization: `Bearer ${key}` };
    return (await gateway.call("/chat/completions", hello, { headers })).status;
  };
  expect(await call()).toBe(200);
  const suspend = () =>
    operator.ask("POST /api/accounts/:account/suspend", { params: { account } });
  const suspended = await suspend();
  expect(suspended.body).toMatchObject({ status: "suspended", changed: true });
  expect((await suspend()).body.changed).toBe(false);
  expect(await call()).toBe(402);
  const resumed = await operator.ask("POST /api/accounts/:account/resume", { params: { account } });
  expect(resumed.body).toMatchObject({ status: "active", changed: true });
  expect(await call()).toBe(200);
});

test("details tell what was spent by model and key, and who belongs to the account", async () => {
  const { id: account, name } = await newAccount({ credit_usd: "5" });
  const { key, id: keyId } = await gateway.server.operations.keys.create({ account, name: "ci" });
  const headers = { authorization: `Bearer ${key}` };
  expect((await gateway.call("/chat/completions", hello, { headers })).status).toBe(200);
  await joinMember(gateway, operator, { account, role: "viewer", email: "eve@example.com" });
  const { body } = await operator.ask("GET /api/accounts/:account/details", {
    params: { account },
  });
  const [{ charged_usd: charged }] = body.by_model;
  expect(Number(charged)).toBeGreaterThan(0);
  expect(body).toMatchObject({
    id: account,
    receipts: 1,
    by_model: [{ model: hello.model, receipts: 1, charged_usd: charged }],
    by_key: [{ key: keyId, name: "ci", receipts: 1, charged_usd: charged }],
    members: [{ name: "Ada", email: "eve@example.com", role: "viewer" }],
  });
  expect(body.key_list).toEqual([
    {
      id: keyId,
      name: "ci",
      hint: expect.any(String),
      status: "active",
      last_used_at: expect.any(String),
      last_rejected_at: null,
    },
  ]);
  const { body: plain } = await operator.ask("GET /api/accounts");
  const { body: spent } = await operator.ask("GET /api/accounts", { query: { spend: "month" } });
  const row = (rows: readonly { id: string }[]) => rows.find(({ id }) => id === account);
  expect(row(plain)).toMatchObject({ name, keys: 1, spent_month_usd: null });
  expect(row(spent)).toMatchObject({ name, keys: 1, spent_month_usd: charged });
});

test("the audit log has who credited which account, by which reference", async () => {
  const { id: account } = await newAccount();
  await operator.ask("POST /api/accounts/:account/entries", {
    params: { account },
    body: { kind: "credit", usd: "3", reference: "transfer 9" },
  });
  const { body } = await operator.ask("GET /api/audit", { query: { action: "account.credit" } });
  const { body: session } = await operator.ask("GET /api/session");
  expect(body.records[0]).toMatchObject({
    account,
    actor: session.user.email,
    subject: "transfer 9",
    detail: { usd: "3" },
  });
});
