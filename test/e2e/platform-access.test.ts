import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { areas, type Scope, scopes } from "../../src/people/role.ts";
import { routes } from "../../src/platform/api/routes.ts";
import { startTestGateway, type TestGateway } from "../harness.ts";
import { joinMember, joinOperator, machine, nobody, type Visitor } from "../platform-home.ts";

/**
 * Who may do what, said a second time: a route that lets somebody else in, or is not in this list,
 * fails. In the order of power.
 */
const expected: Readonly<Record<string, readonly string[]>> = {
  anyone: [
    "GET /api/session",
    "POST /api/session",
    "POST /api/invites/look",
    "POST /api/invites/accept",
    "GET /api/changes",
  ],
  person: [
    "GET /api/me/sessions",
    "DELETE /api/me/sessions/:id",
    "PATCH /api/me",
    "POST /api/me/password",
    "DELETE /api/session",
  ],
  viewer: [
    "GET /api/accounts/:account",
    "GET /api/accounts/:account/members",
    "GET /api/accounts/:account/billing",
    "GET /api/accounts/:account/models",
    "GET /api/accounts/:account/playground-models",
    "GET /api/accounts/:account/keys",
    "GET /api/accounts/:account/usage",
    "GET /api/accounts/:account/requests",
    "GET /api/accounts/:account/requests/:id",
    "GET /api/accounts/:account/requests.csv",
    "GET /api/accounts/:account/live",
  ],
  developer: [
    "POST /api/accounts/:account/keys",
    "PATCH /api/accounts/:account/keys/:id",
    "POST /api/accounts/:account/keys/:id/rotate",
    "DELETE /api/accounts/:account/keys/:id",
    "POST /api/accounts/:account/playground-key",
  ],
  owner: [
    "POST /api/accounts/:account/invites",
    "DELETE /api/accounts/:account/invites/:id",
    "PATCH /api/accounts/:account/members/:id",
    "DELETE /api/accounts/:account/members/:id",
    "GET /api/accounts/:account/tokens",
    "POST /api/accounts/:account/tokens",
    "DELETE /api/accounts/:account/tokens/:id",
    "GET /api/accounts/:account/audit",
  ],
  operator: [
    "POST /api/accounts/:account/members/:id/reset",
    "GET /api/usage",
    "GET /api/requests",
    "GET /api/requests/:id",
    "GET /api/requests.csv",
    "GET /api/live",
    "GET /api/tokens",
    "POST /api/tokens",
    "DELETE /api/tokens/:id",
    "GET /api/audit",
    "GET /api/accounts",
    "POST /api/accounts",
    "GET /api/accounts/:account/details",
    "POST /api/accounts/:account/entries",
    "PATCH /api/accounts/:account/limits",
    "POST /api/accounts/:account/suspend",
    "POST /api/accounts/:account/resume",
    "GET /api/people",
    "POST /api/people/invites",
    "DELETE /api/people/invites/:id",
    "DELETE /api/people/:id/operator",
    "POST /api/people/:id/reset",
    "DELETE /api/people/:id/sessions",
    "GET /api/margin",
    "GET /api/settings",
    "GET /api/catalog",
    "GET /api/catalog/:model",
    "PUT /api/catalog/:model/routes",
    "POST /api/catalog/:model/deprecate",
    "POST /api/catalog/:model/retire",
    "GET /api/models/:model/callers",
    "GET /api/engine",
    "POST /api/engine/pull",
    "GET /api/prices",
    "POST /api/prices",
    "GET /api/prices/import",
    "POST /api/prices/import",
    "GET /api/providers",
    "GET /api/vendors",
    "POST /api/providers",
    "DELETE /api/providers/:name",
    "GET /api/providers/:name/trials",
    "POST /api/providers/:name/test",
    "POST /api/providers/:name/reset",
    "GET /api/providers/:name/offer",
    "POST /api/providers/:name/models",
  ],
};

const levels = Object.keys(expected);
const levelOf = (name: string) => levels.findIndex((level) => expected[level]?.includes(name));
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
  account = (await operations.createAccount({ name: "walked" })).id;
  const other = (await operations.createAccount({ name: "other" })).id;
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

/** Only how it begins: some of it goes on for ever. */
async function knock(visitor: Visitor, name: string): Promise<Told> {
  const [method = "", path = ""] = name.split(" ");
  const left = new AbortController();
  const response = await fetch(
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
  status !== 401 && status !== 403 && message !== "There is no such account.";
const changes = async () => (await operator.ask("GET /api/audit")).body.records[0].id as string;

test("every route is in the list of who may do what, once, and says the same itself", () => {
  const listed = Object.values(expected).flat();
  expect(listed.toSorted()).toEqual(routes.map(({ name }) => name as string).toSorted());
  for (const { name, access } of routes)
    expect([name, access as string]).toEqual([name, levels[levelOf(name)] ?? ""]);
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
  const wrongOf = async (visitor: Visitor, may: (route: (typeof routes)[number]) => boolean) => {
    const wrong: string[] = [];
    for (const route of routes) {
      const told = await knock(visitor, route.name);
      if (isLetIn(told) !== may(route)) wrong.push(`${route.name}: ${told.status} ${told.message}`);
    }
    return wrong;
  };
  const isCovered = (scope: Scope, { name, area }: (typeof routes)[number] & { area?: string }) =>
    scope === `${area}:write` || (scope === `${area}:read` && name.startsWith("GET "));

  for (const scope of scopes)
    test(`the operator's with ${scope}`, async () => {
      const visitor = await makeToken({ role: "operator", scopes: [scope] });
      const wrong = await wrongOf(
        visitor,
        (route) => route.access === "anyone" || isCovered(scope, route),
      );
      expect(wrong).toEqual([]);
    });

  for (const role of ["viewer", "developer", "owner"])
    test(`a ${role}'s with all scopes has no more than a ${role}`, async () => {
      const visitor = await makeToken({ account, role, scopes });
      const wrong = await wrongOf(visitor, (route) => {
        const hasArea = "area" in route && areas.some((area) => area === route.area);
        return (
          route.access === "anyone" || (hasArea && levelOf(route.name) <= levels.indexOf(role))
        );
      });
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
