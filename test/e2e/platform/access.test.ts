import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Scope, scopes } from "../../../src/people/role.ts";
import type { Route } from "../../../src/platform/http/route.ts";
import { routes } from "../../../src/platform/routes.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { platformFetch } from "../../setup/platform-fetch.ts";
import {
  joinMember,
  joinOperator,
  machine,
  nobody,
  type Visitor,
} from "../../setup/platform-home.ts";

/**
 * Who may do what, said a second time: a route that lets somebody else in, or is not in this list,
 * fails. In the order of power. The last word is the area that a token must be let into; no token
 * gets in where there is none.
 */
const expected: Readonly<Record<string, readonly string[]>> = {
  anyone: [
    "GET /api/session",
    "POST /api/session",
    "POST /api/session/second-step",
    "POST /api/session/passkey-options",
    "POST /api/session/passkey",
    "POST /api/session/oidc",
    "POST /api/session/oidc/finish",
    "POST /api/session/oidc/back-channel",
    "POST /api/session/forgot",
    "POST /api/invites/look",
    "POST /api/invites/accept",
    "GET /api/changes",
  ],
  person: [
    "GET /api/me/sessions",
    "DELETE /api/me/sessions",
    "DELETE /api/me/sessions/:id",
    "PATCH /api/me",
    "POST /api/me/password",
    "GET /api/me/factors",
    "POST /api/me/verify",
    "POST /api/me/identity",
    "POST /api/me/identity/finish",
    "POST /api/me/verify/passkey",
    "POST /api/me/totp/setup",
    "POST /api/me/totp",
    "DELETE /api/me/totp",
    "POST /api/me/recovery-codes",
    "POST /api/me/passkeys/setup",
    "POST /api/me/passkeys",
    "PATCH /api/me/passkeys/:id",
    "DELETE /api/me/passkeys/:id",
    "GET /api/me/views",
    "POST /api/me/views",
    "PATCH /api/me/views/:id",
    "DELETE /api/me/views/:id",
    "DELETE /api/session",
  ],
  viewer: [
    "GET /api/accounts/:account billing",
    "GET /api/accounts/:account/members members",
    "GET /api/accounts/:account/billing billing",
    "GET /api/accounts/:account/models models",
    "GET /api/accounts/:account/playground-models models",
    "GET /api/accounts/:account/keys keys",
    "GET /api/accounts/:account/usage usage",
    "GET /api/accounts/:account/rejections usage",
    "GET /api/accounts/:account/rejections.csv usage",
    "GET /api/accounts/:account/requests usage",
    "GET /api/accounts/:account/requests/:id usage",
    "GET /api/accounts/:account/requests.csv usage",
    "GET /api/accounts/:account/live usage",
    "GET /api/accounts/:account/search",
  ],
  developer: [
    "POST /api/accounts/:account/keys keys",
    "PATCH /api/accounts/:account/keys/:id keys",
    "POST /api/accounts/:account/keys/:id/rotate keys",
    "POST /api/accounts/:account/keys/:id/pause keys",
    "POST /api/accounts/:account/keys/:id/resume keys",
    "DELETE /api/accounts/:account/keys/:id keys",
    "POST /api/accounts/:account/playground-key keys",
  ],
  owner: [
    "POST /api/accounts/:account/invites",
    "DELETE /api/accounts/:account/invites/:id members",
    "PATCH /api/accounts/:account/members/:id",
    "DELETE /api/accounts/:account/members/:id members",
    "GET /api/accounts/:account/tokens members",
    "POST /api/accounts/:account/tokens",
    "DELETE /api/accounts/:account/tokens/:id members",
    "GET /api/accounts/:account/audit audit",
    "GET /api/accounts/:account/setup",
    "GET /api/accounts/:account/audit.csv audit",
  ],
  operator: [
    "POST /api/accounts/:account/members/:id/reset",
    "GET /api/usage usage",
    "GET /api/rejections usage",
    "GET /api/rejections.csv usage",
    "GET /api/requests usage",
    "GET /api/requests/:id usage",
    "GET /api/requests.csv usage",
    "GET /api/live usage",
    "GET /api/keys keys",
    "GET /api/search",
    "GET /api/setup",
    "GET /api/tokens settings",
    "POST /api/tokens",
    "DELETE /api/tokens/:id settings",
    "GET /api/audit audit",
    "GET /api/audit.csv audit",
    "GET /api/accounts accounts",
    "POST /api/accounts accounts",
    "GET /api/accounts/:account/details accounts",
    "POST /api/accounts/:account/entries accounts",
    "PATCH /api/accounts/:account/limits accounts",
    "PATCH /api/accounts/:account/retention accounts",
    "DELETE /api/accounts/:account/responses accounts",
    "POST /api/accounts/:account/suspend accounts",
    "POST /api/accounts/:account/resume accounts",
    "GET /api/people members",
    "POST /api/people/invites",
    "DELETE /api/people/invites/:id",
    "DELETE /api/people/:id/operator",
    "POST /api/people/:id/reset",
    "DELETE /api/people/:id/sessions",
    "DELETE /api/people/:id/factors",
    "DELETE /api/people/:id/identity",
    "GET /api/margin prices",
    "GET /api/settings settings",
    "GET /api/nodes settings",
    "POST /api/nodes/:name/drain settings",
    "POST /api/nodes/:name/resume settings",
    "GET /api/catalog catalog",
    "GET /api/catalog/:model catalog",
    "POST /api/catalog catalog",
    "PATCH /api/catalog/:model catalog",
    "PUT /api/catalog/:model/routes catalog",
    "POST /api/catalog/:model/rename catalog",
    "DELETE /api/catalog/:model catalog",
    "POST /api/catalog/:model/deprecate catalog",
    "POST /api/catalog/:model/retire catalog",
    "GET /api/models/:model/callers catalog",
    "GET /api/engine engine",
    "POST /api/engine/pull engine",
    "GET /api/prices prices",
    "POST /api/prices prices",
    "DELETE /api/prices/:model prices",
    "GET /api/prices/import prices",
    "POST /api/prices/import prices",
    "POST /api/prices/bulk prices",
    "GET /api/providers providers",
    "GET /api/vendors providers",
    "POST /api/providers providers",
    "PATCH /api/providers/:name providers",
    "DELETE /api/providers/:name providers",
    "POST /api/providers/:name/keys providers",
    "PATCH /api/providers/:name/keys/:key providers",
    "DELETE /api/providers/:name/keys/:key providers",
    "GET /api/providers/:name/trials providers",
    "POST /api/providers/:name/test providers",
    "POST /api/providers/:name/reset providers",
    "GET /api/providers/:name/listing providers",
    "GET /api/providers/:name/offer providers",
    "POST /api/providers/:name/models providers",
  ],
};

/** Routes that grant rights or change how a user signs in; those with a condition, for some bodies only. */
const proofs: Readonly<Record<string, string>> = {
  "POST /api/me/identity": "always",
  "POST /api/me/identity/finish": "always",
  "POST /api/me/totp/setup": "always",
  "POST /api/me/totp": "always",
  "DELETE /api/me/totp": "always",
  "POST /api/me/recovery-codes": "always",
  "POST /api/me/passkeys/setup": "always",
  "POST /api/me/passkeys": "always",
  "DELETE /api/me/passkeys/:id": "always",
  "POST /api/accounts/:account/invites": "`role` is `owner`",
  "PATCH /api/accounts/:account/members/:id": "`role` is `owner`",
  "POST /api/accounts/:account/members/:id/reset": "always",
  "POST /api/tokens": "always",
  "POST /api/accounts": "`invite_owner` or `email` asks for a link",
  "POST /api/people/invites": "always",
  "DELETE /api/people/:id/operator": "always",
  "POST /api/people/:id/reset": "always",
  "DELETE /api/people/:id/factors": "always",
};

const levels = Object.keys(expected);
interface Rule {
  readonly name: string;
  readonly level: number;
  readonly area: string | undefined;
}
const rules: readonly Rule[] = levels.flatMap((level, at) =>
  (expected[level] ?? []).map((line) => {
    const [method, path, area] = line.split(" ");
    return { name: `${method} ${path}`, level: at, area };
  }),
);
const byName = new Map(rules.map((rule) => [rule.name, rule]));
const levelOf = (name: string) => byName.get(name)?.level ?? Number.POSITIVE_INFINITY;
// Signing out comes last: it ends what the walk goes on with.
const names = routes
  .map(({ name }) => name)
  .toSorted(
    (one, other) => Number(one === "DELETE /api/session") - Number(other === "DELETE /api/session"),
  );

let gateway: TestGateway;
let operator: Visitor;
let account: string;
const visitors = new Map<string, Visitor>();

beforeAll(async () => {
  gateway = await startTestGateway();
  operator = await joinOperator(gateway);
  const { operations } = gateway.server;
  account = (await operations.accounts.create({ name: "walked" })).id;
  const other = (await operations.accounts.create({ name: "other" })).id;
  visitors.set("nobody", nobody(gateway.platformUrl));
  visitors.set("stranger", await joinMember(gateway, operator, { account: other, role: "owner" }));
  for (const role of ["viewer", "developer", "owner"])
    visitors.set(role, await joinMember(gateway, operator, { account, role }));
  visitors.set("operator", await joinOperator(gateway));
});
afterAll(() => gateway.stop());

interface Told {
  readonly status: number;
  readonly message: string;
}

/** Only how it begins: some of it goes on forever. */
async function knock(visitor: Visitor, name: string): Promise<Told> {
  const [method = "", path = ""] = name.split(" ");
  const left = new AbortController();
  const response = await platformFetch(
    `${gateway.platformUrl}${path.replace(":account", account).replaceAll(/:\w+/g, "none")}`,
    {
      method,
      headers: {
        ...visitor.headers,
        "content-type": "application/json",
      },
      ...(method === "GET" ? {} : { body: "{}" }),
      signal: left.signal,
    },
  );
  const { status } = response;
  const text = status === 200 ? "" : await response.text();
  left.abort();
  const body = text === "" ? undefined : (JSON.parse(text) as { error: { message: string } });
  return { status, message: body?.error.message ?? "" };
}

const isLetIn = ({ status, message }: Told) =>
  status !== 401 &&
  status !== 403 &&
  message !== "This account does not exist, or you have no access to it.";
const changes = async () =>
  (await gateway.server.opened.store.audit.list({ limit: 1 })).records[0]?.id;

test("every route is in the list of who may do what, once, and says the same itself", () => {
  const said = routes.map((route: Route) => ({
    name: route.name as string,
    level: levels.indexOf(route.access),
    area: route.area as string | undefined,
  }));
  const sorted = (list: readonly Rule[]) =>
    list.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  expect(sorted(said)).toEqual(sorted(rules));
});

test("every route that needs a recent proof is in the list of those, and the API document says so", async () => {
  const said = routes.flatMap(({ name, needsRecent, needsRecentFor }: Route) => {
    const when = needsRecent === true ? "always" : needsRecentFor?.when;
    return when === undefined ? [] : [[name, when]];
  });
  expect(Object.fromEntries(said)).toEqual(proofs);
  const { paths } = await (await fetch(`${gateway.platformUrl}/api/openapi.json`)).json();
  for (const name of names) {
    const [method = "", path = ""] = name.split(" ");
    const place = paths[path.replaceAll(/:(\w+)/g, "{$1}")];
    const { description, responses } = place[method.toLowerCase()];
    const when = proofs[name];
    const isDescribed = responses["403"]?.description.includes("verification_required") === true;
    expect([name, isDescribed]).toEqual([name, when !== undefined]);
    if (when !== undefined && when !== "always") expect(description).toContain(`if ${when}`);
  }
});

describe("no role gets more than it should, and none less:", () => {
  const powers: Readonly<Record<string, number>> = {
    nobody: levels.indexOf("anyone"),
    stranger: levels.indexOf("person"),
    viewer: levels.indexOf("viewer"),
    developer: levels.indexOf("developer"),
    owner: levels.indexOf("owner"),
    operator: levels.indexOf("operator"),
  };
  for (const [who, power] of Object.entries(powers))
    test(who, async () => {
      const visitor = visitors.get(who) ?? nobody("");
      const wrong: string[] = [];
      for (const name of names) {
        const before = await changes();
        const told = await knock(visitor, name);
        const mayAsk = levelOf(name) <= power;
        if (isLetIn(told) !== mayAsk) wrong.push(`${name}: ${told.status} ${told.message}`);
        if (told.status >= 500) wrong.push(`${name}: ${told.status} ${told.message}`);
        if (!mayAsk && (await changes()) !== before) wrong.push(`${name} changed something`);
      }
      expect(wrong).toEqual([]);
    });
});

describe("a token gets into the area that it has a scope for, and into no other:", () => {
  const makeToken = async (of: {
    readonly account?: string;
    readonly role: string;
    readonly scopes: readonly Scope[];
  }) => {
    const isOwn = of.account !== undefined;
    const { body } = await operator.ask(
      isOwn ? "POST /api/accounts/:account/tokens" : "POST /api/tokens",
      {
        params: { account: of.account ?? "" },
        body: { name: "walker", scopes: of.scopes, ...(isOwn ? { role: of.role } : {}) },
      },
    );
    return machine(gateway.platformUrl, body.token);
  };
  const anyone = levels.indexOf("anyone");
  const wrongOf = async (visitor: Visitor, may: (rule: Rule) => boolean) => {
    const wrong: string[] = [];
    for (const rule of rules) {
      const told = await knock(visitor, rule.name);
      if (isLetIn(told) !== may(rule)) wrong.push(`${rule.name}: ${told.status} ${told.message}`);
    }
    return wrong;
  };
  const isCovered = (scope: Scope, { name, area }: Rule) =>
    scope === `${area}:write` || (scope === `${area}:read` && name.startsWith("GET "));

  for (const scope of scopes)
    test(`the operator's with ${scope}`, async () => {
      const visitor = await makeToken({ role: "operator", scopes: [scope] });
      const wrong = await wrongOf(
        visitor,
        (rule) => rule.level === anyone || isCovered(scope, rule),
      );
      expect(wrong).toEqual([]);
    });

  for (const role of ["viewer", "developer", "owner"])
    test(`a ${role}'s with all scopes has no more than a ${role}`, async () => {
      const visitor = await makeToken({ account, role, scopes });
      const wrong = await wrongOf(
        visitor,
        ({ level, area }) =>
          level === anyone || (area !== undefined && level <= levels.indexOf(role)),
      );
      expect(wrong).toEqual([]);
    });

  test("a revoked one gets into none", async () => {
    const { body } = await operator.ask("POST /api/tokens", {
      body: { name: "gone", scopes: ["usage:read"] },
    });
    const visitor = machine(gateway.platformUrl, body.token);
    expect((await visitor.ask("GET /api/usage")).status).toBe(200);
    await operator.ask("DELETE /api/tokens/:id", { params: { id: body.id } });
    expect((await visitor.ask("GET /api/usage")).status).toBe(401);
  });
});
