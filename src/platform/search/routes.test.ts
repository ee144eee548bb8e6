import { beforeAll, describe, expect, test } from "bun:test";
import { joinMember } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, operator, viewer } = usePlatform({ members: ["viewer"] });
let account: string;
let other: string;
let requestId: string;
let rejectedId: string;

beforeAll(async () => {
  account = gateway.account;
  const { operations } = gateway.server;
  other = (await operations.accounts.create({ name: "Acme Corp" })).id;
  await operations.keys.create({ account, name: "acme mirror" });
  await operations.keys.create({ account: other, name: "acme production" });
  await joinMember(gateway, operator, {
    account: other,
    role: "owner",
    email: "grace@acme.example",
  });
  const reply = await gateway.call("/chat/completions", {
    model: "svc-3-flash",
    messages: [{ role: "user", content: "hi" }],
  });
  await reply.text();
  requestId = reply.headers.get("x-request-id") ?? "";
  const rejected = await gateway.call("/chat/completions", { model: "unpriced", messages: [] });
  await rejected.text();
  rejectedId = rejected.headers.get("x-request-id") ?? "";
});

interface Found {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly account: { readonly id: string; readonly name: string } | null;
}

async function searchAll(q: string): Promise<readonly Found[]> {
  const { status, body } = await operator.ask("GET /api/search", { query: { q } });
  expect(status).toBe(200);
  return body.results;
}

async function searchOwn(q: string): Promise<readonly Found[]> {
  const { status, body } = await viewer.ask("GET /api/accounts/:account/search", {
    params: { account },
    query: { q },
  });
  expect(status).toBe(200);
  return body.results;
}

const kindsOf = (found: readonly Found[]) => found.map(({ kind, name }) => `${kind} ${name}`);

describe("operators", () => {
  test("find accounts, keys and people of all accounts", async () => {
    expect(kindsOf(await searchAll("acme"))).toEqual([
      "account Acme Corp",
      "key acme mirror",
      "key acme production",
      "person Ada",
    ]);
    const [production] = await searchAll("acme production");
    expect(production?.account).toEqual({ id: other, name: "Acme Corp" });
  });

  test("find models, also those that are not served", async () => {
    expect(kindsOf(await searchAll("unpriced"))).toEqual(["model unpriced"]);
  });

  test("find by id, and by its beginning", async () => {
    expect(kindsOf(await searchAll(other))).toContain("account Acme Corp");
    expect(kindsOf(await searchAll(requestId))).toEqual([`request ${requestId}`]);
    const [found, ...others] = await searchAll(requestId.slice(0, 12));
    expect([found?.id, others.map(({ kind }) => kind)]).toEqual([requestId, ["rejection"]]);
    expect(await searchAll("req_zzzzzz")).toEqual([]);
  });
});

describe("what was typed", () => {
  test("is taken literally: % and _ stand for themselves", async () => {
    const { operations } = gateway.server;
    await operations.keys.create({ account, name: "100%_sure" });
    await operations.keys.create({ account, name: "100xysure" });
    expect(kindsOf(await searchAll("0%_s"))).toEqual(["key 100%_sure"]);
    expect(kindsOf(await searchOwn("0%_s"))).toEqual(["key 100%_sure"]);
    expect(await searchAll("%%%")).toEqual([]);
    expect(await searchAll("\\")).toEqual([]);
  });

  test("is found in any case, also beyond ASCII, and in any order of its words", async () => {
    await gateway.server.operations.keys.create({ account, name: "Ölberg Ökonomie" });
    for (const q of ["ölberg", "ÖLBERG", "Ökonomie ölberg"])
      expect(kindsOf(await searchAll(q))).toEqual(["key Ölberg Ökonomie"]);
  });

  test("finds the exact name first, then beginnings, and at most six of a kind", async () => {
    const { operations } = gateway.server;
    for (const name of ["my bot", "bot-2", "bot", "robot", "bot-1", "a bot", "z bot", "the bot"])
      await operations.keys.create({ account: other, name });
    expect(kindsOf(await searchAll("BOT"))).toEqual(
      ["bot", "bot-1", "bot-2", "a bot", "my bot", "robot"].map((name) => `key ${name}`),
    );
  });
});

describe("members", () => {
  test("find what their account has and nothing of another", async () => {
    expect(kindsOf(await searchOwn("acme"))).toEqual(["key acme mirror"]);
    expect(await searchOwn("grace")).toEqual([]);
    expect(await searchOwn(other)).toEqual([]);
    expect(kindsOf(await searchOwn("svc-3-flash"))).toEqual(["model svc-3-flash"]);
    expect(await searchOwn("unpriced")).toEqual([]);
  });

  test("find a request and a rejected call by their ids, only in their own account", async () => {
    expect(kindsOf(await searchOwn(requestId))).toEqual([`request ${requestId}`]);
    const expected = { kind: "rejection", id: rejectedId, detail: "403 model_not_allowed" };
    expect(await searchOwn(rejectedId)).toMatchObject([expected]);
    expect(await searchAll(rejectedId)).toMatchObject([{ ...expected, account: { id: account } }]);
    const stranger = await joinMember(gateway, operator, { account: other, role: "owner" });
    const params = { account: other };
    for (const q of [requestId, rejectedId]) {
      const asked = { params, query: { q } };
      const { body } = await stranger.ask("GET /api/accounts/:account/search", asked);
      expect(body.results).toEqual([]);
    }
  });
});

test("no reply has a secret", async () => {
  const text = JSON.stringify([await searchAll("acme"), await searchAll("key_")]);
  expect(text).not.toContain(gateway.key);
  expect(text).not.toContain("password");
});
