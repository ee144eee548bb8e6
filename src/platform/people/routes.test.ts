import { describe, expect, test } from "bun:test";
import {
  idOf,
  join,
  joinMember,
  lookAt,
  nobody,
  password,
  signInWith,
  tokenOf,
  type Visitor,
} from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, operator } = usePlatform({ isShared: true });

const personOf = async (who: Visitor) => {
  const id = await idOf(who);
  const { body } = await operator.ask("GET /api/people");
  return body.people.find((person: { id: string }) => person.id === id);
};
const signIn = (email: string, word: string) => signInWith(gateway.platformUrl, email, word);

test("everybody is listed with their accounts, roles and sessions", async () => {
  const email = "dora@example.com";
  const member = await joinMember(gateway, operator, { role: "developer", email });
  await signIn(email, password);
  expect(await personOf(member)).toEqual({
    id: await idOf(member),
    email,
    name: "Ada",
    is_operator: false,
    is_operator_by_identity: false,
    created_at: expect.any(String),
    accounts: [{ id: gateway.account, name: expect.any(String), role: "developer" }],
    has_second_factor: false,
    has_identity_factor: false,
    may_reset_password: true,
    has_identity: false,
    sessions: 2,
    last_seen_at: expect.any(String),
  });
  expect((await personOf(operator)).is_operator).toBe(true);
});

test("open links are listed without what opens them, and do not work once taken back", async () => {
  const given = { body: { role: "viewer" } };
  const { body: member } = await operator.ask("POST /api/accounts/:account/invites", given);
  const email = { email: "New@example.com" };
  const { body: made } = await operator.ask("POST /api/people/invites", { body: email });
  const { body, response } = await operator.ask("GET /api/people");
  const listed = (id: string) => body.invited.find((one: { id: string }) => one.id === id);
  expect(listed(made.id)).toEqual({
    id: made.id,
    kind: "operator",
    email: "new@example.com",
    account: null,
    role: null,
    invited_by: (await personOf(operator)).email,
    expires_at: made.expires_at,
  });
  expect(listed(member.id)).toMatchObject({
    kind: "member",
    account: { id: gateway.account, name: expect.any(String) },
    role: "viewer",
  });
  expect(await response.text()).not.toContain(made.link.split("#")[1]);
  for (const { id, link } of [made, member]) {
    const take = () => operator.ask("DELETE /api/people/invites/:id", { params: { id } });
    expect((await take()).status).toBe(200);
    expect((await take()).status).toBe(404);
    expect((await lookAt(gateway.platformUrl, link)).status).toBe(404);
  }
});

test("a person who joins by an operator's link is one, until the role is taken away", async () => {
  const { body: made } = await operator.ask("POST /api/people/invites", { body: {} });
  const second = await join(gateway.platformUrl, made.link, { email: "second@example.com" });
  expect((await second.ask("GET /api/people")).status).toBe(200);
  const params = { id: await idOf(second) };
  const remove = () => operator.ask("DELETE /api/people/:id/operator", { params });
  expect((await remove()).status).toBe(200);
  expect((await second.ask("GET /api/people")).status).toBe(403);
  expect((await remove()).status).toBe(404);
});

test("one's own role is only taken away by who says so", async () => {
  const { link } = await gateway.server.operations.operators.invite({});
  const leaver = await join(gateway.platformUrl, link, { email: "leaver@example.com" });
  const params = { id: await idOf(leaver) };
  const leave = (query: Readonly<Record<string, string>>) =>
    leaver.ask("DELETE /api/people/:id/operator", { params, query });
  expect((await leave({})).status).toBe(409);
  expect((await personOf(leaver)).is_operator).toBe(true);
  expect((await leave({ oneself: "yes" })).status).toBe(200);
  expect((await personOf(leaver)).is_operator).toBe(false);
});

describe("of two operators", () => {
  const { gateway: own, operator: first } = usePlatform();

  test("who remove each other at once, one is always left", async () => {
    const { link } = await own.server.operations.operators.invite({});
    const second = await join(own.platformUrl, link, { email: "second@example.com" });
    const [one, other] = await Promise.all([idOf(first), idOf(second)]);
    const answers = await Promise.all([
      first.ask("DELETE /api/people/:id/operator", { params: { id: other } }),
      second.ask("DELETE /api/people/:id/operator", { params: { id: one } }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const [left] = await own.server.operations.operators.list({});
    const last = left?.id === one ? first : second;
    const alone = await last.ask("DELETE /api/people/:id/operator", {
      params: { id: left?.id ?? "" },
      query: { oneself: "yes" },
    });
    expect(alone.status).toBe(409);
    expect(await own.server.operations.operators.list({})).toHaveLength(1);
  });
});

test("a link for a new password ends what was open before, once it is used", async () => {
  const email = "forgetful@example.com";
  const member = await joinMember(gateway, operator, { role: "viewer", email });
  const params = { id: await idOf(member) };
  const { body } = await operator.ask("POST /api/people/:id/reset", { params });
  expect((await member.ask("GET /api/me/sessions")).status).toBe(200);
  const given = { token: tokenOf(body.link), name: "", email: "", password: "quite another one" };
  const visitor = nobody(gateway.platformUrl);
  expect((await visitor.ask("POST /api/invites/accept", { body: given })).status).toBe(200);
  expect((await member.ask("GET /api/me/sessions")).status).toBe(401);
  expect((await signIn(email, password)).status).toBe(401);
  expect((await signIn(email, "quite another one")).status).toBe(200);
});

test("ending the sessions of a person signs them out everywhere", async () => {
  const email = "roaming@example.com";
  const member = await joinMember(gateway, operator, { role: "viewer", email });
  await signIn(email, password);
  const params = { id: await idOf(member) };
  const { body } = await operator.ask("DELETE /api/people/:id/sessions", { params });
  expect(body).toEqual({ ended: 2 });
  expect((await member.ask("GET /api/me/sessions")).status).toBe(401);
  const gone = { params: { id: "user_none" } };
  for (const route of ["DELETE /api/people/:id/sessions", "POST /api/people/:id/reset"])
    expect((await operator.ask(route, gone)).status).toBe(404);
});
