import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectControl } from "../../../src/platform/control-socket.ts";
import { routes } from "../../../src/platform/routes.ts";
import { type LyingProvider, startLyingProvider } from "../../fake/lying-provider.ts";
import { willingVendor } from "../../fake/willing-vendor.ts";
import { auditRows, contentsOf } from "../../setup/audit-rows.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import {
  type AskOptions,
  freePort,
  idOf,
  joinMember,
  joinOperator,
  nobody,
  password,
  tokenOf,
  userOf,
  type Visitor,
} from "../../setup/platform-home.ts";
import { sealedOf } from "../../store/response-samples.ts";
import { type Change, type Changes, factorChanges } from "./audit-factors.ts";
import { identityChanges, identitySettings } from "./audit-identities.ts";
import { commandChanges } from "./command-changes.ts";
import { unaudited } from "./unaudited-routes.ts";

const cacheDir = mkdtempSync(join(tmpdir(), "svc-audit-"));
const manifest = `
providers:
  fake: { vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  mini: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: gpt-4o-mini }] }
  old: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: gpt-4o }] }
  older: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: fake, model: gpt-4 }] }
  routed: { endpoint: chat, aliases: [small], price: { input: 1, output: 1 }, routes: [{ provider: fake, model: gpt-4o }, { provider: fake, model: gpt-4.1 }] }
`;

let gateway: TestGateway;
let operator: Visitor;
let provider: LyingProvider;
let account: string;
/** Beside the server, on the same file. */
let database: Database;
beforeAll(async () => {
  // A file is where the folder of the locks should be: a fetch fails before it asks any registry.
  writeFileSync(join(cacheDir, "locks"), "");
  provider = await startLyingProvider(freePort());
  const engine = { SVC_ENGINE: "on", SVC_CACHE_DIR: cacheDir };
  const environment = { ...engine, ...identitySettings(provider.issuer) };
  gateway = await startTestGateway({ manifest, environment, isInStore: true });
  gateway.upstream.replyWith(willingVendor);
  ({ account } = gateway);
  operator = await joinOperator(gateway);
  database = new Database(join(gateway.dataDir, "svc.db"), { strict: true });
  database.run("PRAGMA busy_timeout = 5000");
});
afterAll(async () => {
  database.close();
  await gateway.stop();
  await provider.stop();
  rmSync(cacheDir, { recursive: true, force: true });
});

const rows = () => auditRows(database);
const contents = () => contentsOf(database);
const operations = () => gateway.server.operations;
const newEmail = () => `${crypto.randomUUID()}@example.com`;
const newMember = (role = "developer", email = newEmail()) =>
  joinMember(gateway, operator, { account, role, email });
const newKey = async () => (await operations().keys.create({ account, name: "k" })).id;
const newToken = async (account?: string) =>
  (
    await operations().tokens.create({
      ...(account === undefined ? { role: "operator" } : { account, role: "viewer" }),
      name: "t",
      scopes: ["usage:read"],
    })
  ).id;

const view = () => ({ page: "overview", account, name: "This week", search: "range=7d" });
const newView = async (action: string): Promise<Change> => {
  const who = await newMember();
  const { id } = (await who.ask("POST /api/me/views", { body: view() })).body;
  return { who, action, params: { id } };
};

type Params = NonNullable<AskOptions["params"]>;

/** The account of a path is the one of this test. */
const changeBy = (who: Visitor, action: string, body?: unknown, params: Params = {}): Change => ({
  who,
  action,
  params: { account, ...params },
  ...(body === undefined ? {} : { body }),
});
const byOperator = (action: string, body?: unknown, params?: Params) => async () =>
  changeBy(operator, action, body, params);
const byMember = (action: string, body?: unknown) => async () =>
  changeBy(await newMember(), action, body);
/** Of what is made for it. */
const ofMade = (action: string, make: () => Promise<Params>, body?: unknown) => async () =>
  changeBy(operator, action, body, await make());
const byId = (action: string, make: () => Promise<string>, body?: unknown) =>
  ofMade(action, async () => ({ id: await make() }), body);

const ownChanges: Changes = {
  "POST /api/session": async () => {
    const email = newEmail();
    await newMember("viewer", email);
    const body = { email, password };
    return { who: nobody(gateway.platformUrl), action: "session.begin", actor: email, body };
  },
  "DELETE /api/session": byMember("session.end"),
  "POST /api/invites/accept": async () => {
    const email = newEmail();
    const { link } = await operations().members.invite({ account, role: "viewer" });
    const body = { token: tokenOf(link), name: "Ada", email, password };
    return { who: nobody(gateway.platformUrl), action: "person.join", actor: email, body };
  },
  "DELETE /api/me/sessions/:id": async () => {
    const who = await newMember();
    const [session] = (await who.ask("GET /api/me/sessions")).body;
    return { who, action: "session.end", params: { id: session.id } };
  },
  "PATCH /api/me": byMember("person.rename", { name: "Grace" }),
  "POST /api/me/views": () => byMember("view.save", view())(),
  "PATCH /api/me/views/:id": async () => ({
    ...(await newView("view.update")),
    body: { name: "Other" },
  }),
  "DELETE /api/me/views/:id": () => newView("view.remove"),
  "POST /api/me/password": byMember("person.password", {
    current: password,
    password: "another long password",
  }),
};

const stage = {
  platformUrl: () => gateway.platformUrl,
  provider: () => provider,
  operator: () => operator,
  newMember: (email: string) => newMember("viewer", email),
};

const newInvite = async () => (await operations().members.invite({ account, role: "viewer" })).id;
const newMemberId = async () => idOf(await newMember());
const newAccount = async () => ({
  account: (await operations().accounts.create({ name: crypto.randomUUID() })).id,
});
const token = { name: "t", scopes: ["usage:read"] };

const accountChanges: Changes = {
  "POST /api/accounts": byOperator("account.create", { name: "another", rpm: "5" }),
  "POST /api/accounts/:account/entries": byOperator("account.withdraw", {
    kind: "withdrawal",
    usd: "1",
    reference: "back",
  }),
  "PATCH /api/accounts/:account/limits": byOperator("account.limit", { budget: "1000000" }),
  "PATCH /api/accounts/:account/retention": byOperator("account.retention", { days: "90" }),
  "DELETE /api/accounts/:account/responses": async () => {
    const sealed = sealedOf({ accountId: account, createdAtMs: 1 });
    await gateway.server.opened.store.responses.save(sealed, 1_000);
    return changeBy(operator, "response.purge");
  },
  "POST /api/accounts/:account/suspend": ofMade("account.suspend", newAccount),
  "POST /api/accounts/:account/resume": ofMade("account.resume", async () => {
    const made = await newAccount();
    await operations().accounts.suspend(made);
    return made;
  }),
  "POST /api/accounts/:account/invites": byOperator("member.invite", { role: "viewer" }),
  "DELETE /api/accounts/:account/invites/:id": byId("member.uninvite", newInvite),
  "PATCH /api/accounts/:account/members/:id": byId("member.role", newMemberId, { role: "viewer" }),
  "DELETE /api/accounts/:account/members/:id": byId("member.remove", newMemberId),
  "POST /api/accounts/:account/members/:id/reset": byId("person.reset", newMemberId),
  "POST /api/accounts/:account/keys": byMember("key.create", { name: "ci" }),
  "PATCH /api/accounts/:account/keys/:id": byId("key.limit", newKey, { rpm: "5" }),
  "POST /api/accounts/:account/keys/:id/rotate": byId("key.rotate", newKey, {}),
  "POST /api/accounts/:account/keys/:id/pause": byId("key.pause", newKey),
  "POST /api/accounts/:account/keys/:id/resume": byId("key.resume", async () => {
    const id = await newKey();
    await operations().keys.pause({ id });
    return id;
  }),
  "DELETE /api/accounts/:account/keys/:id": byId("key.revoke", newKey),
  "POST /api/accounts/:account/playground-key": byOperator("key.temporary"),
  "POST /api/accounts/:account/tokens": byOperator("token.create", { ...token, role: "viewer" }),
  "DELETE /api/accounts/:account/tokens/:id": byId("token.revoke", () => newToken(account)),
  "POST /api/tokens": byOperator("token.create", token),
  "DELETE /api/tokens/:id": byId("token.revoke", newToken),
};

const peopleChanges: Changes = {
  "POST /api/people/invites": byOperator("operator.invite", {}),
  "DELETE /api/people/invites/:id": byId(
    "operator.uninvite",
    async () => (await operations().operators.invite({})).id,
  ),
  "DELETE /api/people/:id/operator": byId("operator.remove", async () =>
    idOf(await joinOperator(gateway)),
  ),
  "POST /api/people/:id/reset": byId("person.reset", newMemberId),
  "DELETE /api/people/:id/sessions": byId("person.sessions", newMemberId),
};

const newModel = async (routes: readonly object[] = []) => {
  const model = crypto.randomUUID();
  await operator.ask("POST /api/catalog", { body: { id: model, routes } });
  return { model };
};
const chat = { input: "3", output: "4" };
const dearer = { models: ["mini"], price: { ...chat, input: "5" } };
const going = { retires: "2999-01-01", replacement: "mini" };
const weighted = { routes: [{ provider: "fake", model: "gpt-4o-mini", weight: 2 }] };
const catalogChanges: Changes = {
  "POST /api/catalog": byOperator("model.create", { id: "new" }),
  "PATCH /api/catalog/:model": ofMade("model.update", newModel, { owned_by: "us" }),
  "PUT /api/catalog/:model/routes": byOperator("model.routes", weighted, { model: "mini" }),
  "POST /api/catalog/:model/rename": ofMade("model.rename", newModel, { id: "newer" }),
  "DELETE /api/catalog/:model": ofMade("model.remove", newModel),
  "POST /api/catalog/:model/deprecate": byOperator("model.deprecate", going, { model: "old" }),
  "POST /api/catalog/:model/retire": async () => {
    await operations().models.deprecate({ id: "older", ...going });
    return changeBy(operator, "model.retire", undefined, { model: "older" });
  },
  "POST /api/prices": byOperator("price.set", { model: "mini", price: chat }),
  "POST /api/prices/bulk": byOperator("price.set", dearer),
  "DELETE /api/prices/:model": byOperator("price.remove", undefined, { model: "routed" }),
  "POST /api/prices/import": byOperator("price.import", { replace: true }),
  "POST /api/engine/pull": byOperator("engine.pull", { sets: ["text"] }),
};

const keyOf = (digit: number) => ({ api_key: `sk-literal-${String(digit).repeat(10)}` });
const aProvider = (name: string) => ({
  name,
  ...keyOf(1),
  base_url: gateway.upstream.baseUrl,
  allow_private: true,
});
const newProvider = async () => {
  const name = `p${crypto.randomUUID().slice(0, 8)}`;
  await operator.ask("POST /api/providers", { body: aProvider(name) });
  return { name };
};
const second = { name: "second", ...keyOf(3) };
const newSecond = async () => {
  const params = await newProvider();
  await operator.ask("POST /api/providers/:name/keys", { params, body: second });
  return { ...params, key: second.name };
};
const providerChanges: Changes = {
  "POST /api/providers": () => byOperator("provider.add", aProvider("mine"))(),
  "PATCH /api/providers/:name": ofMade("provider.update", newProvider, keyOf(2)),
  "POST /api/providers/:name/keys": ofMade("provider.key.add", newProvider, second),
  "PATCH /api/providers/:name/keys/:key": ofMade("provider.key.update", newSecond, { weight: 2 }),
  "DELETE /api/providers/:name/keys/:key": ofMade("provider.key.remove", newSecond),
  "POST /api/providers/:name/test": ofMade("provider.test", newProvider, { kind: "models" }),
  "POST /api/providers/:name/reset": byOperator("provider.reset", {}, { name: "fake" }),
  "POST /api/providers/:name/models": async () => {
    const params = await newProvider();
    const { body } = await operator.ask("GET /api/providers/:name/offer", { params });
    return changeBy(operator, "provider.models", { ids: [body.proposals[0].id] }, params);
  },
  "DELETE /api/providers/:name": async () => {
    const params = await newProvider();
    await newModel([{ provider: params.name, model: "its-only-route" }]);
    const query = { empties_models: "true" };
    return { ...changeBy(operator, "provider.remove", undefined, params), query };
  },
};

const changes: Changes = {
  ...providerChanges,
  ...ownChanges,
  ...factorChanges(stage),
  ...identityChanges(stage),
  ...accountChanges,
  ...peopleChanges,
  ...catalogChanges,
};

const noAudit =
  "create trigger no_audit before insert on audit begin select raise(abort, 'full'); end";

test("every route that changes something is in the list", () => {
  const names = routes
    .map(({ name }) => name as string)
    .filter((name) => !name.startsWith("GET ") && !unaudited.includes(name));
  expect(Object.keys(changes).toSorted()).toEqual(names.toSorted());
});

describe("a change stands together with its audit record, or not at all:", () => {
  for (const [name, prepare] of Object.entries(changes))
    test(name, async () => {
      const { who, action, actor, ...asked } = await prepare();
      const expected = actor ?? (await userOf(who)).email;
      const before = contents();
      database.run(noAudit);
      const refused = await who
        .ask(name, asked)
        .finally(() => database.run("drop trigger no_audit"));
      expect(refused.status).toBe(500);
      expect(contents()).toEqual(before);
      const known = new Set(rows().map(({ id }) => id));
      const { status, body } = await who.ask(name, asked);
      expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
      const added = rows().filter(({ id }) => !known.has(id));
      expect(added.map((row) => [row.action, row.actor_name])).toEqual([[action, expected]]);
    });
});

test("a change that is made again, or refused, leaves no record", async () => {
  const [id, limited, token] = await Promise.all([newKey(), newKey(), newToken()]);
  const entry = { account, kind: "credit", usd: "1", reference: "once" } as const;
  const change = async () => {
    await operations().keys.revoke({ id });
    await operations().entries.add(entry);
    await operations().accounts.suspend({ account });
    await operations().tokens.revoke({ id: token });
    await operations().accounts.setLimits({ account, rpm: "900000" });
    await operations().keys.setLimits({ id: limited, rpm: "5", budget: "1/day" });
  };
  await change();
  const count = rows().length;
  await change();
  const asked = { params: { name: "fake" }, body: { model: "never-called" } };
  expect((await operator.ask("POST /api/providers/:name/reset", asked)).status).toBe(404);
  expect(rows()).toHaveLength(count);
  await operations().accounts.resume({ account });
});

test("failed sign-ins are counted for each person and hour, unknown addresses together", async () => {
  const email = newEmail();
  await newMember("viewer", email);
  const fail = (who: string) =>
    nobody(gateway.platformUrl).ask("POST /api/session", { body: { email: who, password: "x" } });
  for (const who of [email, email, "a@example.com", "b@example.com", "c@example.com"])
    expect((await fail(who)).status).toBe(401);
  const failed = rows().filter(({ action }) => action === "session.failed");
  const counts = new Map(failed.map((row) => [row.subject, JSON.parse(row.detail)]));
  expect(counts.get(email)).toEqual({ count: 2 });
  expect(counts.get("unknown email addresses")).toEqual({ count: 3 });
  expect(counts.size).toBe(2);
});

test("no secret is in the log", async () => {
  const { key } = await operations().keys.create({ account, name: "secret" });
  const text = JSON.stringify(rows());
  for (const secret of [key, password, "sk-literal-"]) expect(text).not.toContain(secret);
});

describe("over the control socket, too, a change stands with its record or not at all:", () => {
  for (const [name, change] of Object.entries(commandChanges(() => account)))
    test(name, async () => {
      const control = await connectControl(gateway.dataDir);
      if (control === undefined) throw new Error("no server answers");
      const before = contents();
      database.run(noAudit);
      const refused = await change(control.operations)
        .catch(({ message }: Error) => message)
        .finally(() => database.run("drop trigger no_audit"));
      expect(refused).toContain("full");
      expect(contents()).toEqual(before);
      const known = rows().length;
      await change(control.operations);
      const added = rows().slice(known);
      expect(added.map((row) => [row.action, row.actor_kind, row.actor_name])).toEqual([
        [name.split(" ")[0] ?? "", "command", "command line"],
      ]);
    });
});
