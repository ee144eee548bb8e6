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
  joinMember,
  joinOperator,
  nobody,
  password,
  type Visitor,
} from "../../setup/platform-home.ts";
import { sealedOf } from "../../store/response-samples.ts";
import { type Change, type Changes, factorChanges } from "./audit-factors.ts";
import { identityChanges, identitySettings } from "./audit-identities.ts";
import { providerChanges } from "./audit-providers.ts";
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
const userOf = async (who: Visitor): Promise<{ readonly id: string; readonly email: string }> =>
  (await who.ask("GET /api/session")).body.user;
const emailOf = async (who: Visitor) => (await userOf(who)).email;
const idOf = async (who: Visitor) => (await userOf(who)).id;
const operations = () => gateway.server.operations;
const newEmail = () => `${crypto.randomUUID()}@example.com`;
const newMember = (role = "developer", email = newEmail()) =>
  joinMember(gateway, operator, { account, role, email });
const newKey = async () => (await operations().keys.create({ account, name: "k" })).id;
const tokenOf = (link: string) => link.split("#")[1] ?? "";
const newToken = async (account?: string) =>
  (
    await operations().tokens.create({
      ...(account === undefined ? {} : { account }),
      name: "t",
      role: account === undefined ? "operator" : "viewer",
      scopes: ["usage:read"],
    })
  ).id;

const newView = async (action: string): Promise<Change> => {
  const who = await newMember();
  const body = { page: "requests", account, name: "Failed", search: "" };
  const { id } = (await who.ask("POST /api/me/views", { body })).body;
  return { who, action, params: { id } };
};

const asOperator = (action: string, asked: AskOptions): Change => {
  return { who: operator, action, ...asked };
};

const ownChanges: Changes = {
  "POST /api/session": async () => {
    const email = newEmail();
    await newMember("viewer", email);
    const body = { email, password };
    return { who: nobody(gateway.platformUrl), action: "session.begin", actor: email, body };
  },
  "DELETE /api/session": async () => ({ who: await newMember(), action: "session.end" }),
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
  "PATCH /api/me": async () => ({
    who: await newMember(),
    action: "person.rename",
    body: { name: "Grace" },
  }),
  "POST /api/me/views": async () => ({
    who: await newMember(),
    action: "view.save",
    body: { page: "overview", account, name: "This week", search: "range=7d" },
  }),
  "PATCH /api/me/views/:id": async () => ({
    ...(await newView("view.update")),
    body: { name: "Other" },
  }),
  "DELETE /api/me/views/:id": () => newView("view.remove"),
  "POST /api/me/password": async () => ({
    who: await newMember(),
    action: "person.password",
    body: { current: password, password: "another long password" },
  }),
};

const stage = {
  platformUrl: () => gateway.platformUrl,
  provider: () => provider,
  operator: () => operator,
  newMember: (email: string) => newMember("viewer", email),
  userOf,
};

const memberChanges: Changes = {
  "POST /api/accounts/:account/invites": async () =>
    asOperator("member.invite", { params: { account }, body: { role: "viewer" } }),
  "DELETE /api/accounts/:account/invites/:id": async () => {
    const { id } = await operations().members.invite({ account, role: "viewer" });
    return asOperator("member.uninvite", { params: { account, id } });
  },
  "PATCH /api/accounts/:account/members/:id": async () => {
    const id = await idOf(await newMember());
    return {
      who: operator,
      action: "member.role",
      params: { account, id },
      body: { role: "viewer" },
    };
  },
  "DELETE /api/accounts/:account/members/:id": async () => {
    const id = await idOf(await newMember());
    return asOperator("member.remove", { params: { account, id } });
  },
  "POST /api/accounts/:account/members/:id/reset": async () => {
    const id = await idOf(await newMember());
    return asOperator("person.reset", { params: { account, id } });
  },
};

const keyChanges: Changes = {
  "POST /api/accounts/:account/keys": async () => ({
    who: await newMember(),
    action: "key.create",
    params: { account },
    body: { name: "ci" },
  }),
  "PATCH /api/accounts/:account/keys/:id": async () =>
    asOperator("key.limit", { params: { account, id: await newKey() }, body: { rpm: "5" } }),
  "POST /api/accounts/:account/keys/:id/rotate": async () =>
    asOperator("key.rotate", { params: { account, id: await newKey() }, body: {} }),
  "POST /api/accounts/:account/keys/:id/pause": async () =>
    asOperator("key.pause", { params: { account, id: await newKey() } }),
  "POST /api/accounts/:account/keys/:id/resume": async () => {
    const id = await newKey();
    await operations().keys.pause({ id });
    return asOperator("key.resume", { params: { account, id } });
  },
  "DELETE /api/accounts/:account/keys/:id": async () =>
    asOperator("key.revoke", { params: { account, id: await newKey() } }),
  "POST /api/accounts/:account/playground-key": async () =>
    asOperator("key.temporary", { params: { account } }),
  "POST /api/accounts/:account/tokens": async () =>
    asOperator("token.create", {
      params: { account },
      body: { name: "t", role: "viewer", scopes: ["usage:read"] },
    }),
  "DELETE /api/accounts/:account/tokens/:id": async () =>
    asOperator("token.revoke", { params: { account, id: await newToken(account) } }),
  "POST /api/tokens": async () =>
    asOperator("token.create", { body: { name: "t", scopes: ["usage:read"] } }),
  "DELETE /api/tokens/:id": async () =>
    asOperator("token.revoke", { params: { id: await newToken() } }),
};

const accountChanges: Changes = {
  "POST /api/accounts": async () =>
    asOperator("account.create", { body: { name: "another", rpm: "5" } }),
  "POST /api/accounts/:account/entries": async () =>
    asOperator("account.withdraw", {
      params: { account },
      body: { kind: "withdrawal", usd: "1", reference: "back" },
    }),
  "PATCH /api/accounts/:account/limits": async () =>
    asOperator("account.limit", { params: { account }, body: { budget: "1000000" } }),
  "PATCH /api/accounts/:account/retention": async () =>
    asOperator("account.retention", { params: { account }, body: { days: "90" } }),
  "DELETE /api/accounts/:account/responses": async () => {
    await gateway.server.opened.store.responses.save(
      sealedOf({ accountId: account, createdAtMs: 1 }),
      1_000,
    );
    return asOperator("response.purge", { params: { account } });
  },
  "POST /api/accounts/:account/suspend": async () =>
    asOperator("account.suspend", { params: { account } }),
  "POST /api/accounts/:account/resume": async () =>
    asOperator("account.resume", { params: { account } }),
};

const peopleChanges: Changes = {
  "POST /api/people/invites": async () => asOperator("operator.invite", { body: {} }),
  "DELETE /api/people/invites/:id": async () => {
    const { id } = await operations().operators.invite({});
    return asOperator("operator.uninvite", { params: { id } });
  },
  "DELETE /api/people/:id/operator": async () => {
    const id = await idOf(await joinOperator(gateway));
    return asOperator("operator.remove", { params: { id } });
  },
  "POST /api/people/:id/reset": async () =>
    asOperator("person.reset", { params: { id: await idOf(await newMember()) } }),
  "DELETE /api/people/:id/sessions": async () =>
    asOperator("person.sessions", { params: { id: await idOf(await newMember()) } }),
};

const catalogChanges: Changes = {
  "POST /api/catalog": async () => asOperator("model.create", { body: { id: "new" } }),
  "PATCH /api/catalog/:model": async () =>
    asOperator("model.update", { params: { model: "new" }, body: { owned_by: "us" } }),
  "PUT /api/catalog/:model/routes": async () =>
    asOperator("model.routes", {
      params: { model: "mini" },
      body: { routes: [{ provider: "fake", model: "gpt-4o-mini", weight: 2 }] },
    }),
  "POST /api/catalog/:model/rename": async () =>
    asOperator("model.rename", { params: { model: "new" }, body: { id: "newer" } }),
  "DELETE /api/catalog/:model": async () =>
    asOperator("model.remove", { params: { model: "newer" } }),
  "POST /api/catalog/:model/deprecate": async () =>
    asOperator("model.deprecate", {
      params: { model: "old" },
      body: { retires: "2999-01-01", replacement: "mini" },
    }),
  "POST /api/catalog/:model/retire": async () => {
    const given = { id: "older", retires: "2999-01-01", replacement: "mini" };
    await operations().models.deprecate(given);
    return asOperator("model.retire", { params: { model: "older" } });
  },
  "POST /api/prices": async () =>
    asOperator("price.set", { body: { model: "mini", price: { input: "3", output: "4" } } }),
  "POST /api/prices/bulk": async () =>
    asOperator("price.set", { body: { models: ["mini"], price: { input: "5", output: "6" } } }),
  "DELETE /api/prices/:model": async () =>
    asOperator("price.remove", { params: { model: "mini" } }),
  "POST /api/prices/import": async () => asOperator("price.import", { body: { replace: true } }),
  "POST /api/engine/pull": async () => asOperator("engine.pull", { body: { sets: ["text"] } }),
};

const changes: Changes = {
  ...providerChanges({
    change: (action, options) => asOperator(action, options),
    upstreamUrl: () => gateway.upstream.baseUrl,
    firstOffered: async (name) => {
      const { body } = await operator.ask("GET /api/providers/:name/offer", { params: { name } });
      return body.proposals[0].id;
    },
  }),
  ...ownChanges,
  ...factorChanges(stage),
  ...identityChanges(stage),
  ...memberChanges,
  ...keyChanges,
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
      const expected = actor ?? (await emailOf(who));
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
  for (const secret of [key, password, "sk-literal-0123456789", "sk-literal-9876543210"])
    expect(text).not.toContain(secret);
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
