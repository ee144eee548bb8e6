import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../../test/setup/harness.ts";
import { hello } from "../../../test/setup/money-home.ts";
import {
  type Answer,
  joinMember,
  joinOperator,
  nobody,
  type Visitor,
} from "../../../test/setup/platform-home.ts";

const startMs = Date.parse("2027-03-15T12:00:00Z");
const clock = { ms: startMs };
const hourMs = 3_600_000;

let gateway: TestGateway;
let operator: Visitor;
let owner: Visitor;
let developer: Visitor;
let viewer: Visitor;
let params: { readonly account: string };

beforeAll(async () => {
  gateway = await startTestGateway({ clock: { nowMs: () => clock.ms } });
  gateway.upstream.replyWith(chatAnswers.plain());
  params = { account: gateway.account };
  operator = await joinOperator(gateway);
  owner = await joinMember(gateway, operator, { ...params, role: "owner" });
  developer = await joinMember(gateway, operator, { ...params, role: "developer" });
  viewer = await joinMember(gateway, operator, { ...params, role: "viewer" });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  clock.ms = startMs;
});

const create = (body: object, who = developer) =>
  who.ask("POST /api/accounts/:account/keys", { params, body });
const change = (id: string, body: object, who = developer) =>
  who.ask("PATCH /api/accounts/:account/keys/:id", { params: { ...params, id }, body });
const rotate = (id: string, body: object = {}, who = developer) =>
  who.ask("POST /api/accounts/:account/keys/:id/rotate", { params: { ...params, id }, body });
const revoke = (id: string, who = developer) =>
  who.ask("DELETE /api/accounts/:account/keys/:id", { params: { ...params, id } });
const list = async (who = viewer) => {
  const { body } = await who.ask("GET /api/accounts/:account/keys", { params });
  return body as readonly Answer["body"][];
};
const find = async (id: string) => (await list()).find((key) => key.id === id);
const call = async (key: string, model: string = hello.model) => {
  const headers = { authorization: `Bearer ${key}` };
  const reply = await gateway.call("/chat/completions", { ...hello, model }, { headers });
  await reply.arrayBuffer();
  return reply.status;
};
const wrong = ({ status, body }: Answer) => ({ status, field: body.error?.field });

describe("a new key", () => {
  test("is shown once, calls at once what it may, and stands first in the list without its secret", async () => {
    const { status, body } = await create({
      name: "checkout",
      models: ["svc-3-flash"],
      expires: "2027-04-01",
      rpm: "60",
      budget: "5/day",
    });
    expect(status).toBe(200);
    const { key, warnings, ...rest } = body;
    expect(warnings).toEqual([]);
    expect(rest).toEqual({
      id: expect.stringMatching(/^key_/),
      account: gateway.account,
      name: "checkout",
      hint: expect.stringContaining(key.slice(-4)),
      models: ["svc-3-flash"],
      status: "active",
      created_at: "2027-03-15T12:00:00Z",
      expires_at: "2027-04-01T00:00:00Z",
      revoked_at: null,
      paused_at: null,
      created_by: expect.stringContaining("developer"),
      last_used_at: null,
      last_rejected_at: null,
      rejected_last_hour: [],
      previous: null,
      limits: { rpm: "60", tpm: null, concurrency: null, budget: "5.00/day" },
    });
    expect(await call(key)).toBe(200);
    expect(await call(key, "svc-2-flash")).toBe(403);
    const [first] = await list();
    expect(first).toEqual({
      ...rest,
      last_used_at: expect.any(String),
      last_rejected_at: "2027-03-15T12:00:00Z",
      rejected_last_hour: [{ status: 403, code: "model_not_allowed", count: 1 }],
      budget: expect.anything(),
      spent_usd: first?.budget.spent_usd,
      spent_as_of: null,
    });
    expect(Number(first?.spent_usd)).toBeGreaterThan(0);
  });

  test("for models that there are not yet is made, with a warning", async () => {
    const { body } = await create({ name: "early", models: ["svc-9"] });
    expect(body.warnings).toEqual([expect.stringContaining("svc-9")]);
  });

  test("may call every model when none is chosen", async () => {
    const { body } = await create({ name: "all", models: null });
    expect(body.models).toBeNull();
    expect(await call(body.key, "svc-2-flash")).toBe(200);
  });
});

test.each([
  ["name", "x".repeat(101)],
  ["name", 7],
  ["models", []],
  ["models", "svc-3-flash"],
  ["expires", "soon"],
  ["expires", "2027-03-15"],
  ["rpm", "fast"],
  ["tpm", "0"],
  ["concurrency", "-1"],
  ["budget", "5/week"],
  ["budget", "lots"],
  ["colour", "red"],
])("a new key with a wrong %s (%p) is refused at that field", async (field, value) => {
  const before = await list();
  expect(wrong(await create({ name: "wrong", [field]: value }))).toEqual({ status: 400, field });
  expect(await list()).toEqual(before);
});

test("a new key needs a name, if only an empty one", async () => {
  expect(wrong(await create({}))).toEqual({ status: 400, field: "name" });
});

describe("a change", () => {
  test("is of what is named alone, and in force at once", async () => {
    const { id, key } = (await create({ name: "one", rpm: "60", tpm: "1000" })).body;
    const changed = await change(id, { name: "two", models: ["svc-2-flash"], tpm: "none" });
    expect(changed.body).toMatchObject({
      name: "two",
      models: ["svc-2-flash"],
      limits: { rpm: "60", tpm: null },
    });
    expect(await call(key)).toBe(403);
    expect((await change(id, { models: null })).body).toMatchObject({ name: "two", models: null });
    expect(await call(key)).toBe(200);
    expect(await find(id)).toMatchObject({ name: "two", models: null, limits: { rpm: "60" } });
  });

  test("to models that there are not yet is made, with a warning", async () => {
    const { id } = (await create({ name: "early" })).body;
    const { status, body } = await change(id, { models: ["svc-3-flash", "svc-9"] });
    expect(status).toBe(200);
    expect(body.warnings).toEqual([expect.stringContaining("svc-9")]);
    expect((await change(id, { rpm: "5" })).body.warnings).toEqual([]);
  });

  test.each([
    ["models", []],
    ["models", ["svc-3-flash\u200b"]],
    ["name", "x".repeat(101)],
    ["name", "in\u202evoice"],
    ["budget", "lots"],
  ])("with a wrong %s changes nothing, whatever else is right in it", async (field, value) => {
    const { id } = (await create({ name: "kept", rpm: "60" })).body;
    const body = { name: "other", rpm: "1", models: ["svc-3-flash"], [field]: value };
    expect(wrong(await change(id, body))).toEqual({ status: 400, field });
    expect(await find(id)).toMatchObject({ name: "kept", models: null, limits: { rpm: "60" } });
  });

  test("of nothing is refused", async () => {
    const { id } = (await create({ name: "same" })).body;
    expect((await change(id, {})).status).toBe(400);
  });
});

describe("a rotation", () => {
  test("gives a new secret, and the old one works until the overlap ends", async () => {
    const { id, key, hint } = (await create({ name: "turning" })).body;
    const { body } = await rotate(id, { overlap: "1h" });
    expect(body.key).not.toBe(key);
    expect(body.previous).toEqual({ hint, expires_at: "2027-03-15T13:00:00Z" });
    expect(await find(id)).toMatchObject({ hint: body.hint, previous: body.previous });
    expect([await call(key), await call(body.key)]).toEqual([200, 200]);
    clock.ms = startMs + hourMs;
    expect([await call(key), await call(body.key)]).toEqual([401, 200]);
    expect((await find(id)).previous).toBeNull();
  });

  test("without an overlap ends the old secret at once", async () => {
    const { id, key } = (await create({ name: "leaked" })).body;
    const { body } = await rotate(id, { overlap: "0" });
    expect(body.previous).toBeNull();
    expect([await call(key), await call(body.key)]).toEqual([401, 200]);
  });

  test("with an overlap that is no time is refused at its field", async () => {
    const { id, key } = (await create({ name: "steady" })).body;
    for (const overlap of ["soon", "31d", "1w"])
      expect(wrong(await rotate(id, { overlap }))).toEqual({ status: 400, field: "overlap" });
    expect(await call(key)).toBe(200);
  });
});

test("a revoked key is refused by its next call, stays in the list, and is changed no more", async () => {
  const { id, key } = (await create({ name: "gone" })).body;
  expect(await call(key)).toBe(200);
  expect((await revoke(id)).body).toMatchObject({
    status: "revoked",
    revoked_at: "2027-03-15T12:00:00Z",
  });
  expect(await call(key)).toBe(401);
  expect(await find(id)).toMatchObject({ status: "revoked" });
  const answers = [await change(id, { name: "back" }), await rotate(id)];
  expect(answers.map(({ status }) => status)).toEqual([409, 409]);
  expect((await revoke(id)).status).toBe(200);
});

test("the list tells what is spent of each budget in its period, and nothing where there is none", async () => {
  const none = (await create({ name: "free" })).body;
  const made = await Promise.all(
    ["5/day", "7/month", "9"].map((budget) => create({ name: budget, budget })),
  );
  for (const { body } of made) expect(await call(body.key)).toBe(200);
  const { body: spent } = await operator.ask("GET /api/accounts/:account/details", { params });
  const chargedTo = (id: string) =>
    spent.by_key.find((row: { key: string }) => row.key === id).charged_usd;
  const periods = ["day", "month", "total"];
  for (const [at, { body }] of made.entries()) {
    expect(Number(chargedTo(body.id))).toBeGreaterThan(0);
    expect((await find(body.id)).budget).toEqual({
      limit_usd: ["5.00", "7.00", "9.00"][at],
      period: periods[at],
      spent_usd: chargedTo(body.id),
    });
  }
  expect((await find(none.id)).budget).toBeNull();
  clock.ms = startMs + 24 * hourMs;
  const later = await Promise.all(made.map(({ body }) => find(body.id)));
  expect(later.map(({ budget }) => Number(budget.spent_usd) > 0)).toEqual([false, true, true]);
});

describe("who may", () => {
  test("look is every member; change is a developer, an owner or the operator", async () => {
    const { id, key } = (await create({ name: "guarded" })).body;
    expect((await list(viewer)).length).toBeGreaterThan(0);
    const tries = (who: Visitor) =>
      Promise.all([
        create({ name: "sneaked" }, who),
        change(id, { name: "sneaked" }, who),
        rotate(id, {}, who),
        revoke(id, who),
      ]);
    const statuses = async (who: Visitor) => (await tries(who)).map(({ status }) => status);
    expect(await statuses(viewer)).toEqual([403, 403, 403, 403]);
    expect(await statuses(nobody(gateway.platformUrl))).toEqual([401, 401, 401, 401]);
    expect((await list()).some(({ name }) => name === "sneaked")).toBe(false);
    expect(await call(key)).toBe(200);
    for (const who of [owner, operator])
      expect((await create({ name: "x" }, who)).status).toBe(200);
  });

  test("a key of another account is not there, even for who may see both", async () => {
    const other = await gateway.server.operations.accounts.create({ name: "other" });
    const foreign = await gateway.server.operations.keys.create({
      account: other.id,
      name: "hers",
    });
    expect(await find(foreign.id)).toBeUndefined();
    for (const who of [developer, owner, operator]) {
      const answers = [
        await change(foreign.id, { name: "mine" }, who),
        await rotate(foreign.id, {}, who),
        await revoke(foreign.id, who),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    }
    const ask = () =>
      developer.ask("GET /api/accounts/:account/keys", { params: { account: other.id } });
    expect((await ask()).status).toBe(404);
    const [kept] = await gateway.server.operations.keys.list({ account: other.id });
    expect(kept).toMatchObject({ name: "hers", status: "active", hint: foreign.hint });
  });
});

test("the audit log tells who changed which key and how, and no secret", async () => {
  const { id, key } = (await create({ name: "watched", budget: "5/day" })).body;
  const { key: second } = (await rotate(id, { overlap: "1h" })).body;
  await change(id, { name: "watched still" });
  await revoke(id);
  const { body } = await owner.ask("GET /api/accounts/:account/audit", { params });
  const told = body.records.filter(({ subject }: { subject: string }) =>
    subject.startsWith("watched"),
  );
  const [old, fresh] = [key, second].map((secret) => `sk-svc-…${secret.slice(-4)}`);
  expect(
    told.map(({ action, subject, detail }: Record<string, unknown>) => [action, subject, detail]),
  ).toEqual([
    ["key.revoke", `watched still (${fresh})`, {}],
    [
      "key.update",
      `watched still (${fresh})`,
      { name: "watched still", before: { name: "watched" } },
    ],
    ["key.rotate", `watched (${fresh})`, { overlap: "1h" }],
    ["key.create", `watched (${old})`, { name: "watched", budget: "5/day" }],
  ]);
  const everything = JSON.stringify([body, await list()]);
  for (const secret of [key, second]) {
    expect(secret.length).toBeGreaterThan(20);
    expect(everything).not.toContain(secret);
    expect(everything).not.toContain(secret.slice(8, 24));
  }
});
