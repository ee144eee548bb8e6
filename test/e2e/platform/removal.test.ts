import { describe, expect, test } from "bun:test";
import { startTestGateway } from "../../setup/harness.ts";
import {
  join,
  joinMember,
  joinOperator,
  machine,
  nobody,
  type Visitor,
} from "../../setup/platform-home.ts";
import { usePlatform } from "../../setup/use-platform.ts";

/** Whoever is taken out of something is out: nothing that they made before lets them in again. */
const { gateway, operator } = usePlatform({ isShared: true });

const account = () => ({ account: gateway.account });
const idOf = async (person: Visitor) => (await person.ask("GET /api/session")).body.user.id;
const memberPath = async (person: Visitor) => ({ ...account(), id: await idOf(person) });
const invite = async (person: Visitor, role: string) =>
  (await person.ask("POST /api/accounts/:account/invites", { params: account(), body: { role } }))
    .body.link as string;
const opens = async (link: string) =>
  (
    await nobody(gateway.platformUrl).ask("POST /api/invites/look", {
      body: { token: link.split("#")[1] },
    })
  ).status === 200;

async function belongings(owner: Visitor) {
  const link = await invite(owner, "owner");
  const { body: token } = await owner.ask("POST /api/accounts/:account/tokens", {
    params: account(),
    body: { name: "mine", role: "owner", scopes: ["keys:write"] },
  });
  const { body: key } = await owner.ask("POST /api/accounts/:account/playground-key", {
    params: account(),
  });
  const calls = async () =>
    (await fetch(`${gateway.baseUrl}/models`, { headers: { authorization: `Bearer ${key.key}` } }))
      .status;
  const asks = async () =>
    (
      await machine(gateway.platformUrl, token.token).ask("GET /api/accounts/:account/keys", {
        params: account(),
      })
    ).status;
  return { link, calls, asks };
}

describe("links, tokens and keys of the playground end with the part of who made them:", () => {
  test("an owner who is taken out", async () => {
    const owner = await joinMember(gateway, operator, { ...account(), role: "owner" });
    const { link, calls, asks } = await belongings(owner);
    expect([await opens(link), await calls(), await asks()]).toEqual([true, 200, 200]);
    const removed = await operator.ask("DELETE /api/accounts/:account/members/:id", {
      params: await memberPath(owner),
    });
    expect(removed.status).toBe(200);
    expect([await opens(link), await calls(), await asks()]).toEqual([false, 401, 401]);
  });

  test("an owner who becomes a viewer", async () => {
    const owner = await joinMember(gateway, operator, { ...account(), role: "owner" });
    const { link, calls, asks } = await belongings(owner);
    await operator.ask("PATCH /api/accounts/:account/members/:id", {
      params: await memberPath(owner),
      body: { role: "viewer" },
    });
    expect([await opens(link), await calls(), await asks()]).toEqual([false, 401, 401]);
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
  test("never lowers a role: the only owner stays one", async () => {
    const { id } = await gateway.server.operations.accounts.create({ name: "one owner" });
    const email = "sole@example.com";
    const owner = await joinMember(gateway, operator, { account: id, role: "owner", email });
    const { body } = await owner.ask("POST /api/accounts/:account/invites", {
      params: { account: id },
      body: { role: "viewer" },
    });
    const again = await join(gateway.platformUrl, body.link, { email });
    const { accounts } = (await again.ask("GET /api/session")).body.user;
    expect(accounts.find((one: { id: string }) => one.id === id).role).toBe("owner");
  });

  test("of the first start is of no use once somebody is the operator", async () => {
    const fresh = await startTestGateway();
    try {
      const first = await fresh.server.operations.operators.first({});
      const { link } = await fresh.server.operations.operators.invite({});
      await join(fresh.platformUrl, link, { email: "other@example.com" });
      const { status } = await nobody(fresh.platformUrl).ask("POST /api/invites/look", {
        body: { token: first?.link.split("#")[1] },
      });
      expect(status).toBe(404);
    } finally {
      await fresh.stop();
    }
  });

  test("to choose a new password is of no use once the password was changed", async () => {
    const email = "changed@example.com";
    const person = await join(
      gateway.platformUrl,
      (await gateway.server.operations.operators.invite({})).link,
      { email },
    );
    const { link } = await gateway.server.operations.people.resetPassword({ email });
    await person.ask("POST /api/me/password", {
      body: { current: "a long enough password", password: "quite another one" },
    });
    expect(await opens(link)).toBe(false);
  });
});

test("members learn that an operator did something, not who and not from where", async () => {
  const owner = await joinMember(gateway, operator, { ...account(), role: "owner" });
  await operator.ask("PATCH /api/accounts/:account/limits", {
    params: account(),
    body: { rpm: "500" },
  });
  const find = async (who: Visitor) =>
    (await who.ask("GET /api/accounts/:account/audit", { params: account() })).body.records.find(
      ({ action }: { action: string }) => action === "account.limit",
    );
  expect(await find(owner)).toMatchObject({ actor: "an operator", address: "" });
  expect((await find(operator)).actor).toContain("@example.com");
  const { body } = await owner.ask("GET /api/accounts/:account/members", { params: account() });
  await invite(operator, "viewer");
  expect(JSON.stringify(body.invited)).not.toContain("operator-");
});
