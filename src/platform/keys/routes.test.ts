import { beforeEach, describe, expect, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { hello, waitUntil } from "../../../test/setup/money-home.ts";
import { type Answer } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const startMs = Date.parse("2027-03-15T12:00:00Z");
const clock = { ms: startMs };
const hourMs = 3_600_000;

const { gateway, operator, owner, developer, viewer } = usePlatform({
  clock: { nowMs: () => clock.ms },
  reply: chatAnswers.plain(),
  members: ["owner", "developer", "viewer"],
});
beforeEach(() => {
  clock.ms = startMs;
});

const create = (body: object, who = developer) =>
  who.ask("POST /api/accounts/:account/keys", { body });
const change = (id: string, body: object, who = developer) =>
  who.ask("PATCH /api/accounts/:account/keys/:id", { params: { id }, body });
const rotate = (id: string, body: object = {}, who = developer) =>
  who.ask("POST /api/accounts/:account/keys/:id/rotate", { params: { id }, body });
const revoke = (id: string, who = developer) =>
  who.ask("DELETE /api/accounts/:account/keys/:id", { params: { id } });
const list = async (who = viewer) => {
  const { body } = await who.ask("GET /api/accounts/:account/keys");
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
    // Sums are written once a second at most.
    await waitUntil("the sum", async () => Number((await list())[0]?.spent_usd) > 0);
    const [first] = await list();
    expect(first).toEqual({
      ...rest,
      last_used_at: expect.any(String),
      last_rejected_at: "2027-03-15T12:00:00Z",
      rejected_last_hour: [{ status: 403, code: "model_not_allowed", count: 1 }],
      budget: expect.anything(),
      spent_usd: first?.budget.spent_usd,
      // A time where sums are still being written.
      spent_as_of: first?.spent_as_of,
    });
  });
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

  test.each([
    ["models", ["svc-3-flash\u200b"]],
    ["name", "in\u202evoice"],
    ["budget", "lots"],
  ])("with a wrong %s changes nothing, whatever else is right in it", async (field, value) => {
    const { id } = (await create({ name: "kept", rpm: "60" })).body;
    const body = { name: "other", rpm: "1", models: ["svc-3-flash"], [field]: value };
    expect(wrong(await change(id, body))).toEqual({ status: 400, field });
    expect(await find(id)).toMatchObject({ name: "kept", models: null, limits: { rpm: "60" } });
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
  const { body: spent } = await operator.ask("GET /api/accounts/:account/details");
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

describe("a paused key", () => {
  const setPaused = (id: string, verb: "pause" | "resume") =>
    developer.ask(`POST /api/accounts/:account/keys/:id/${verb}`, { params: { id } });

  test("is rejected from the next call on, and works again once it is resumed", async () => {
    const { id, key } = (await create({ name: "paused", expires: "2027-04-01" })).body;
    expect(await call(key)).toBe(200);
    const paused = await setPaused(id, "pause");
    expect(paused.body).toMatchObject({ status: "paused", paused_at: "2027-03-15T12:00:00Z" });
    expect(await call(key)).toBe(401);
    // A second time keeps the first moment.
    clock.ms += 1_000;
    expect((await setPaused(id, "pause")).body.paused_at).toBe("2027-03-15T12:00:00Z");
    expect((await setPaused(id, "resume")).body).toMatchObject({
      status: "active",
      paused_at: null,
      expires_at: "2027-04-01T00:00:00Z",
    });
    expect(await call(key)).toBe(200);
  });

  test("that is revoked or foreign is neither paused nor resumed", async () => {
    const { id } = (await create({ name: "mine" })).body;
    expect((await setPaused("key_none", "pause")).status).toBe(404);
    await revoke(id);
    expect((await setPaused(id, "pause")).status).toBe(409);
  });
});

test("the audit log tells who changed which key and how, and no secret", async () => {
  const { id, key } = (await create({ name: "watched", budget: "5/day" })).body;
  const { key: second } = (await rotate(id, { overlap: "1h" })).body;
  await change(id, { name: "watched still" });
  await revoke(id);
  const { body } = await owner.ask("GET /api/accounts/:account/audit");
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

describe("the expiration date", () => {
  test("is moved and taken away, and takes effect at once", async () => {
    const { id, key } = (await create({ name: "ends", expires: "2027-03-15T12:00:09Z" })).body;
    // Not far: changes that seem to be of later times count as many where the clock is set back.
    clock.ms += 9_000;
    expect(await call(key)).toBe(401);
    expect((await change(id, { expires: "2027-05-01" })).body).toMatchObject({
      status: "active",
      expires_at: "2027-05-01T00:00:00Z",
    });
    expect(await call(key)).toBe(200);
    expect((await change(id, { expires: "never" })).body.expires_at).toBeNull();
  });

  test("in the past, or that is none, is refused with its field, and nothing is changed", async () => {
    const { id } = (await create({ name: "kept", rpm: "5" })).body;
    for (const expires of ["2027-03-15", "soon", ""])
      expect(wrong(await change(id, { expires, rpm: "9" }))).toEqual({
        status: 400,
        field: "expires",
      });
    expect((await find(id))?.limits.rpm).toBe("5");
  });
});
