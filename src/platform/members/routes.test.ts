import { beforeEach, describe, expect, test } from "bun:test";
import { idOf, join, joinMember, lookAt, type Visitor } from "../../../test/setup/platform-home.ts";
import { addApp, TestClock } from "../../../test/setup/second-factor.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, operator } = usePlatform({ isShared: true });
let account: string;
let owner: Visitor;
beforeEach(async () => {
  account = (await gateway.server.operations.accounts.create({ name: crypto.randomUUID() })).id;
  owner = await joinMember(gateway, operator, { account, role: "owner" });
});

const rolesOf = async (of: string): Promise<readonly string[]> => {
  const { body } = await operator.ask("GET /api/accounts/:account/members", {
    params: { account: of },
  });
  return body.members.map(({ role }: { role: string }) => role).toSorted();
};
const setRole = (who: Visitor, id: string, role: string) =>
  who.ask("PATCH /api/accounts/:account/members/:id", { params: { account, id }, body: { role } });
const remove = (who: Visitor, id: string) =>
  who.ask("DELETE /api/accounts/:account/members/:id", { params: { account, id } });
const invite = async (who: Visitor, role: string, of = account) => {
  const { body } = await who.ask("POST /api/accounts/:account/invites", {
    params: { account: of },
    body: { role },
  });
  return body as { readonly id: string; readonly link: string };
};
const isOpen = async (link: string) => {
  const { status } = await lookAt(gateway.platformUrl, link);
  return status === 200;
};

describe("the only owner of an account", () => {
  test("cannot become less, whoever else is a member", async () => {
    await joinMember(gateway, operator, { account, role: "developer" });
    for (const role of ["developer", "viewer"]) {
      const { status, body } = await setRole(owner, await idOf(owner), role);
      expect([status, body.error.message]).toEqual([409, expect.stringContaining("only owner")]);
    }
    expect(await rolesOf(account)).toEqual(["developer", "owner"]);
    expect((await setRole(owner, await idOf(owner), "owner")).status).toBe(200);
  });

  test("cannot leave", async () => {
    await joinMember(gateway, operator, { account, role: "viewer" });
    const { status, body } = await remove(owner, await idOf(owner));
    expect([status, body.error.message]).toEqual([409, expect.stringContaining("only owner")]);
    expect(await rolesOf(account)).toEqual(["owner", "viewer"]);
  });

  test("may go once there is another", async () => {
    const second = await joinMember(gateway, operator, { account, role: "owner" });
    expect((await setRole(owner, await idOf(owner), "viewer")).status).toBe(200);
    expect((await setRole(second, await idOf(second), "viewer")).status).toBe(409);
    expect((await remove(second, await idOf(owner))).status).toBe(200);
    expect(await rolesOf(account)).toEqual(["owner"]);
  });

  test("can be taken out by an operator", async () => {
    expect((await remove(operator, await idOf(owner))).status).toBe(200);
    expect(await rolesOf(account)).toEqual([]);
  });
});

test("owners and operators see who has a second factor, and other members do not", async () => {
  const viewer = await joinMember(gateway, operator, { account, role: "viewer" });
  const { app } = await addApp(viewer, new TestClock());
  expect(app.code()).toMatch(/^\d{6}$/);
  const seenBy = async (who: Visitor) => {
    const { body } = await who.ask("GET /api/accounts/:account/members", { params: { account } });
    return body.members
      .map((one: { role: string; has_second_factor: boolean | null }) => [
        one.role,
        one.has_second_factor,
      ])
      .toSorted();
  };
  const known = [
    ["owner", false],
    ["viewer", true],
  ];
  expect(await seenBy(owner)).toEqual(known);
  expect(await seenBy(operator)).toEqual(known);
  expect(await seenBy(viewer)).toEqual([
    ["owner", null],
    ["viewer", null],
  ]);
});

describe("an invitation", () => {
  test("is taken back by an owner of its account, and by no other", async () => {
    const theirs = (await gateway.server.operations.accounts.create({ name: crypto.randomUUID() }))
      .id;
    const stranger = await joinMember(gateway, operator, { account: theirs, role: "owner" });
    const { id, link } = await invite(owner, "viewer");
    const takeBack = (who: Visitor, of: string) =>
      who.ask("DELETE /api/accounts/:account/invites/:id", { params: { account: of, id } });
    expect((await takeBack(stranger, theirs)).status).toBe(404);
    expect((await takeBack(stranger, account)).status).toBe(404);
    expect(await isOpen(link)).toBe(true);
    expect((await takeBack(owner, account)).status).toBe(200);
    expect(await isOpen(link)).toBe(false);
    expect((await takeBack(owner, account)).status).toBe(404);
  });

  test("to become an operator is taken back by no account", async () => {
    const made = await operator.ask("POST /api/people/invites", { body: {} });
    const { status } = await owner.ask("DELETE /api/accounts/:account/invites/:id", {
      params: { account, id: made.body.id },
    });
    expect([status, await isOpen(made.body.link)]).toEqual([404, true]);
  });

  test("gives a member a higher role, and never a lower one", async () => {
    const email = `rising-${crypto.randomUUID()}@example.com`;
    const member = await joinMember(gateway, operator, { account, role: "viewer", email });
    const roleOfMember = async () =>
      (await member.ask("GET /api/session")).body.user.accounts[0].role as string;
    const roles: string[] = [];
    for (const role of ["viewer", "developer", "viewer", "owner", "developer"]) {
      const { link } = await invite(owner, role);
      await join(gateway.platformUrl, link, { email });
      roles.push(await roleOfMember());
      expect(await isOpen(link)).toBe(false);
    }
    expect(roles).toEqual(["viewer", "developer", "developer", "owner", "owner"]);
  });
});
