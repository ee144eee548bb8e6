import { expect, test } from "bun:test";
import { scopes } from "../../../src/people/role.ts";
import {
  type AskOptions,
  idOf,
  joinMember,
  joinOperator,
  machine,
  password,
  prove,
  type Visitor,
} from "../../setup/platform-home.ts";
import { addApp, TestClock } from "../../setup/second-factor.ts";
import { usePlatform } from "../../setup/use-platform.ts";

const clock = new TestClock();
const { gateway, operator } = usePlatform({ clock });

type Change = readonly [name: string, options: AskOptions];

const later = () => {
  clock.ms += 10 * 60_000;
};
const newMember = async (role: string) => {
  await prove(operator);
  return joinMember(gateway, operator, { role });
};
const told = async (who: Visitor, [name, options]: Change) => {
  const { status, body } = await who.ask(name, options);
  return [name, status, body.error?.code];
};

test("what gives an operator's power, or takes it, needs a proof from the last ten minutes", async () => {
  const id = await idOf(await newMember("viewer"));
  const other = await idOf(await joinOperator(gateway));
  const changes: readonly Change[] = [
    ["POST /api/people/invites", { body: {} }],
    ["POST /api/people/:id/reset", { params: { id } }],
    ["POST /api/accounts/:account/members/:id/reset", { params: { id } }],
    ["POST /api/tokens", { body: { name: "t", scopes: ["usage:read"] } }],
    ["DELETE /api/people/:id/operator", { params: { id: other } }],
  ];
  later();
  for (const change of changes)
    expect(await told(operator, change)).toEqual([change[0], 403, "verification_required"]);
  expect((await prove(operator)).status).toBe(200);
  for (const change of changes)
    expect(await told(operator, change)).toEqual([change[0], 200, undefined]);
});

test("an owner proves who they are before they make another owner, and for no other role", async () => {
  const owner = await newMember("owner");
  const id = await idOf(await newMember("viewer"));
  const changes = (role: string): readonly Change[] => [
    ["POST /api/accounts/:account/invites", { body: { role } }],
    ["PATCH /api/accounts/:account/members/:id", { params: { id }, body: { role } }],
  ];
  later();
  for (const change of changes("developer"))
    expect(await told(owner, change)).toEqual([change[0], 200, undefined]);
  for (const change of changes("owner"))
    expect(await told(owner, change)).toEqual([change[0], 403, "verification_required"]);
  await prove(owner);
  for (const change of changes("owner"))
    expect(await told(owner, change)).toEqual([change[0], 200, undefined]);
});

test("an account with a link for its owner needs the proof, and is not created without it", async () => {
  const create = (name: string, wish: object) =>
    told(operator, ["POST /api/accounts", { body: { name, ...wish } }]);
  const names = async () =>
    (await operator.ask("GET /api/accounts")).body.map(({ name }: { name: string }) => name);
  later();
  for (const wish of [{ invite_owner: true }, { email: "owner@example.com" }])
    expect((await create("with an owner", wish)).slice(1)).toEqual([403, "verification_required"]);
  expect(await names()).not.toContain("with an owner");
  expect((await create("without", { invite_owner: false, email: "" }))[1]).toBe(200);
  await prove(operator);
  expect((await create("with an owner", { invite_owner: true }))[1]).toBe(200);
});

test("a borrowed session and the password make no operator where there is a second factor", async () => {
  const who = await joinOperator(gateway);
  const { app } = await addApp(who, clock);
  later();
  const invite: Change = ["POST /api/people/invites", { body: {} }];
  const verify = (body: object) => who.ask("POST /api/me/verify", { body });
  expect((await verify({ password })).status).toBe(400);
  expect(await told(who, invite)).toEqual([invite[0], 403, "verification_required"]);
  expect((await verify({ code: app.code() })).status).toBe(200);
  expect(await told(who, invite)).toEqual([invite[0], 200, undefined]);
});

test("nobody makes a link for a new password of their own", async () => {
  const account = gateway.account;
  const who = await joinOperator(gateway);
  const { link } = await gateway.server.operations.members.invite({ account, role: "owner" });
  const id = await idOf(who);
  const { email } = (await who.ask("GET /api/session")).body.user;
  const body = { token: link?.split("#")[1], name: "", email, password };
  expect((await who.ask("POST /api/invites/accept", { body })).status).toBe(200);
  for (const change of [
    ["POST /api/people/:id/reset", { params: { id } }],
    ["POST /api/accounts/:account/members/:id/reset", { params: { account, id } }],
  ] as const)
    expect(await told(who, change)).toEqual([change[0], 409, "conflict"]);
});

test("tokens and the command line prove nothing", async () => {
  await prove(operator);
  const given = { name: "all", scopes: [...scopes] };
  const { body } = await operator.ask("POST /api/tokens", { body: given });
  later();
  const token = machine(gateway.platformUrl, body.token);
  expect((await token.ask("GET /api/people")).status).toBe(200);
  const created = await token.ask("POST /api/accounts", { body: { name: "by a token" } });
  expect(created.status).toBe(200);
  expect((await gateway.server.operations.operators.invite({})).link).toContain("/join#");
});
