import { describe, expect, test } from "bun:test";
import {
  briefGateway,
  idOf,
  join,
  joinMember,
  joinOperator,
  lookAt,
  machine,
  password,
  type Visitor,
} from "../../setup/platform-home.ts";
import { usePlatform } from "../../setup/use-platform.ts";

/** Whoever is taken out of something is out: nothing that they made before lets them in again. */
const { gateway, operator } = usePlatform({ isShared: true });

const memberPath = async (person: Visitor) => ({ id: await idOf(person) });
const invite = async (person: Visitor, role: string): Promise<string> =>
  (await person.ask("POST /api/accounts/:account/invites", { body: { role } })).body.link;
const opens = async (link: string) => (await lookAt(gateway.platformUrl, link)).status === 200;

/** An owner with a link, a token and a key; what each of them opens. */
async function ownerWithBelongings() {
  const owner = await joinMember(gateway, operator, { role: "owner" });
  const link = await invite(owner, "owner");
  const body = { name: "mine", role: "owner", scopes: ["keys:write"] };
  const made = await owner.ask("POST /api/accounts/:account/tokens", { body });
  const token = machine(gateway.platformUrl, made.body.token);
  const { body: key } = await owner.ask("POST /api/accounts/:account/playground-key");
  const headers = { authorization: `Bearer ${key.key}` };
  const opened = async () => [
    await opens(link),
    (await fetch(`${gateway.baseUrl}/models`, { headers })).status,
    (await token.ask("GET /api/accounts/:account/keys")).status,
  ];
  expect(await opened()).toEqual([true, 200, 200]);
  return { params: await memberPath(owner), opened };
}

describe("links, tokens and keys of the playground end with the part of who made them:", () => {
  test.each([
    ["is taken out", "DELETE /api/accounts/:account/members/:id", {}],
    ["becomes a viewer", "PATCH /api/accounts/:account/members/:id", { body: { role: "viewer" } }],
  ] as const)("an owner who %s", async (_, route, body) => {
    const { params, opened } = await ownerWithBelongings();
    expect((await operator.ask(route, { params, ...body })).status).toBe(200);
    expect(await opened()).toEqual([false, 401, 401]);
  });

  test("an operator whose role is taken away", async () => {
    const other = await joinOperator(gateway);
    const { body: made } = await other.ask("POST /api/people/invites", { body: {} });
    const memberLink = await invite(other, "owner");
    const { body: token } = await other.ask("POST /api/tokens", {
      body: { name: "mine", scopes: ["usage:read"] },
    });
    const asks = () => machine(gateway.platformUrl, token.token).ask("GET /api/usage");
    expect((await asks()).status).toBe(200);
    await operator.ask("DELETE /api/people/:id/operator", { params: { id: await idOf(other) } });
    expect([await opens(made.link), await opens(memberLink)]).toEqual([false, false]);
    expect((await asks()).status).toBe(401);
  });
});

describe("a link", () => {
  test("of the first start is of no use once somebody is the operator", async () => {
    await using fresh = await briefGateway();
    const first = await fresh.server.operations.operators.first({});
    const { link } = await fresh.server.operations.operators.invite({});
    await join(fresh.platformUrl, link, { email: "other@example.com" });
    const { status } = await lookAt(fresh.platformUrl, first?.link);
    expect(status).toBe(404);
  });

  test("to choose a new password is of no use once the password was changed", async () => {
    const email = "changed@example.com";
    const { operators, people } = gateway.server.operations;
    const invited = await operators.invite({});
    const person = await join(gateway.platformUrl, invited.link, { email });
    const { link } = await people.resetPassword({ email });
    const body = { current: password, password: "quite another one" };
    await person.ask("POST /api/me/password", { body });
    expect(await opens(link)).toBe(false);
  });
});

test("members learn that an operator did something, not who and not from where", async () => {
  const owner = await joinMember(gateway, operator, { role: "owner" });
  await operator.ask("PATCH /api/accounts/:account/limits", { body: { rpm: "500" } });
  const find = async (who: Visitor) =>
    (await who.ask("GET /api/accounts/:account/audit")).body.records.find(
      ({ action }: { action: string }) => action === "account.limit",
    );
  expect(await find(owner)).toMatchObject({ actor: "an operator", address: "" });
  expect((await find(operator)).actor).toContain("@example.com");
  const { body } = await owner.ask("GET /api/accounts/:account/members");
  await invite(operator, "viewer");
  expect(JSON.stringify(body.invited)).not.toContain("operator-");
});
