import { afterAll, beforeAll, expect, test } from "bun:test";
import type { TestGateway } from "../../setup/harness.ts";
import { type IdentityHome, startIdentityHome } from "../../setup/identity-home.ts";
import { client, PlainBrowser, type RealProvider } from "../../setup/identity-provider.ts";
import {
  type Answer,
  joinMember,
  nobody,
  refusalCode,
  signInWith,
  type Visitor,
  visitor,
} from "../../setup/platform-home.ts";
import { cookieOf } from "../../setup/second-factor.ts";

let home: IdentityHome;
let gateway: TestGateway;
let provider: RealProvider;
let operator: Visitor;

beforeAll(async () => {
  home = await startIdentityHome(
    "admins=operator; cn=ml,ou=teams=test:developer; leads = test : owner",
  );
  ({ gateway, provider, operator } = home);
});
afterAll(() => home.stop());

const start = async (who = nobody(gateway.platformUrl), route = "POST /api/session/oidc") => {
  const answer = await who.ask(route);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return { ...answer.body, cookie: cookieOf(answer, "svc_sign_in") };
};

const finish = (given: { ticket: string; cookie: string }, search: string): Promise<Answer> =>
  nobody(gateway.platformUrl).ask("POST /api/session/oidc/finish", {
    body: { ticket: given.ticket, search },
    headers: { cookie: given.cookie },
  });

async function signIn(login: string, browser = new PlainBrowser()): Promise<Answer> {
  const begun = await start();
  const until = `${gateway.platformUrl}/sign-in/callback`;
  const back = await browser.signIn(begun.url, login, until);
  return finish(begun, back.search);
}

const sessionOf = (answer: Answer) =>
  visitor(gateway.platformUrl, { cookie: cookieOf(answer, "svc_session") });
const userOf = async (who: Visitor) => (await who.ask("GET /api/session")).body.user;

const add: IdentityHome["add"] = (...given) => home.add(...given);

test("a person of a mapped group is signed in and gets the group's role", async () => {
  add("ada", ["cn=ml,ou=teams", "others"]);
  const answer = await signIn("ada");
  expect([answer.status, answer.body.ok]).toEqual([200, true]);
  const user = await userOf(sessionOf(answer));
  expect(user).toMatchObject({
    email: "ada@example.com",
    name: "ada Example",
    is_operator: false,
    has_password: false,
    identity: { email: "ada@example.com", is_current: true },
    accounts: [{ name: "test", role: "developer" }],
  });
  const { body } = await operator.ask("GET /api/accounts/:account/members");
  const member = body.members.find(({ id }: { id: string }) => id === user.id);
  expect(member).toMatchObject({ role: "developer", is_by_identity: true });
  expect((await userOf(sessionOf(await signIn("ada")))).id).toBe(user.id);
});

test("roles follow the groups at each sign-in, and what was given by hand stays", async () => {
  add("lena", ["leads", "admins"]);
  const first = sessionOf(await signIn("lena"));
  const { id, ...user } = await userOf(first);
  expect([user.is_operator, user.accounts[0].role]).toEqual([true, "owner"]);

  add("lena", ["cn=ml,ou=teams"]);
  const second = await userOf(sessionOf(await signIn("lena")));
  expect([second.is_operator, second.accounts[0].role]).toEqual([false, "developer"]);

  const other = (await gateway.server.operations.accounts.create({ name: "other" })).id;
  const { members } = gateway.server.operations;
  await members.setRole({ account: gateway.account, id, role: "viewer", isForced: true });
  expect((await userOf(sessionOf(await signIn("lena")))).accounts[0].role).toBe("developer");

  add("lena", []);
  const third = await userOf(sessionOf(await signIn("lena")));
  expect(third.accounts.map(({ role }: { role: string }) => role)).toEqual(["viewer"]);
  expect(third.accounts[0].id).not.toBe(other);
});

test("a person whose groups are all removed is refused, and is signed out", async () => {
  add("gone", ["leads"]);
  const open = sessionOf(await signIn("gone"));
  expect(await userOf(open)).not.toBeNull();
  add("gone", []);
  expect((await signIn("gone")).body.error.code).toBe("identity_not_allowed");
  expect(await userOf(open)).toBeNull();
  const { body } = await operator.ask("GET /api/people");
  const listed = body.people.find(({ email }: { email: string }) => email === "gone@example.com");
  expect(listed).toMatchObject({ accounts: [], is_operator: false });
});

test("an email address alone reaches no user who has a password", async () => {
  const email = "owned@example.com";
  await joinMember(gateway, operator, { role: "viewer", email });
  add("owned", ["admins"]);
  const { status, body } = await signIn("owned");
  expect([status, body.error.message]).toEqual([
    403,
    "owned@example.com already has a user here. Sign in with the password, and connect Example Corp on your profile page.",
  ]);
  const session = await signInWith(gateway.platformUrl, email);
  expect((await userOf(sessionOf(session))).is_operator).toBe(false);
});

test("a user who is signed in connects the identity, which then signs them in", async () => {
  const email = "linda@example.com";
  const who = await joinMember(gateway, operator, { role: "viewer", email });
  const { id } = await userOf(who);
  add("linda", ["leads"], { email: "other-address@example.com" });
  const begun = await start(who, "POST /api/me/identity");
  const until = `${gateway.platformUrl}/sign-in/callback`;
  const { search } = await new PlainBrowser().signIn(begun.url, "linda", until);
  const given = { body: { ticket: begun.ticket, search } };
  const stranger = await joinMember(gateway, operator, { role: "viewer" });
  const cookies = (one: Visitor) => ({ cookie: `${one.cookie}; ${begun.cookie}` });
  const asStranger = await stranger.ask("POST /api/me/identity/finish", {
    ...given,
    headers: cookies(stranger),
  });
  expect([asStranger.status, asStranger.body.error.code]).toEqual([409, "expired"]);

  const again = await start(who, "POST /api/me/identity");
  const { search: found } = await new PlainBrowser().signIn(again.url, "linda", until);
  const connected = await who.ask("POST /api/me/identity/finish", {
    body: { ticket: again.ticket, search: found },
    headers: { cookie: `${who.cookie}; ${again.cookie}` },
  });
  expect(connected.status).toBe(200);
  const user = await userOf(sessionOf(await signIn("linda")));
  expect([user.id, user.email, user.accounts[0].role]).toEqual([id, email, "owner"]);

  const disconnected = await operator.ask("DELETE /api/people/:id/identity", { params: { id } });
  expect(disconnected.status).toBe(200);
  const { body } = await operator.ask("GET /api/people");
  const listed = body.people.find((one: { id: string }) => one.id === id);
  expect([listed.has_identity, listed.accounts[0].role]).toEqual([false, "viewer"]);
});

test("what the browser brings back works once, and in that browser alone", async () => {
  add("rita", ["leads"]);
  const until = `${gateway.platformUrl}/sign-in/callback`;
  const begun = await start();
  const { search } = await new PlainBrowser().signIn(begun.url, "rita", until);
  const elsewhere = await start();
  for (const given of [
    { ticket: begun.ticket, cookie: "" },
    { ticket: begun.ticket, cookie: elsewhere.cookie },
    { ticket: elsewhere.ticket, cookie: begun.cookie },
  ]) {
    expect(await refusalCode(finish(given, search))).toEqual([409, "expired"]);
  }
  // The browser of a victim, with the answer of the attacker's own sign-in.
  const forged = await finish(elsewhere, search);
  expect([forged.status, forged.body.error.code]).toEqual([403, "identity_refused"]);
  expect((await finish(begun, search)).status).toBe(200);
  const replayed = await finish(begun, search);
  expect(replayed.status).toBe(403);
  expect(replayed.body.error.message).toContain("already completed");
});

test("signing out here ends the session at the provider, too", async () => {
  add("olga", ["leads"]);
  const browser = new PlainBrowser();
  const { body } = await sessionOf(await signIn("olga", browser)).ask("DELETE /api/session");
  const url = new URL(body.provider_url);
  expect(`${url.origin}${url.pathname}`).toBe(`${provider.issuer}/session/end`);
  expect(url.searchParams.get("post_logout_redirect_uri")).toBe(`${gateway.platformUrl}/sign-in`);
  expect(url.searchParams.get("id_token_hint")).toMatch(/^ey/);
  const back = await browser.signOut(url.href, `${gateway.platformUrl}/sign-in`);
  expect(back.pathname).toBe("/sign-in");
  const local = (await operator.ask("GET /api/session")).body.user.identity;
  expect(local).toBeNull();
});

test("signing out at the provider ends the sessions that it began here, in every browser", async () => {
  add("bea", ["leads"]);
  const browser = new PlainBrowser();
  const first = sessionOf(await signIn("bea", browser));
  const other = sessionOf(await signIn("bea"));
  add("carl", ["leads"]);
  const stranger = sessionOf(await signIn("carl"));
  const end = new URL(`${provider.issuer}/session/end`);
  end.searchParams.set("client_id", client.id);
  end.searchParams.set("post_logout_redirect_uri", `${gateway.platformUrl}/sign-in`);
  await browser.signOut(end.href, `${gateway.platformUrl}/sign-in`);
  expect([await userOf(first), await userOf(other)]).toEqual([null, null]);
  expect((await userOf(stranger)).email).toBe("carl@example.com");
  const { body } = await operator.ask("GET /api/audit", { query: { action: "identity.sign_out" } });
  expect(body.records[0]).toMatchObject({
    actor: "bea@example.com",
    subject: "bea@example.com",
    detail: { issuer: provider.issuer },
  });
});

test("each sign-in and each right that it changed is in the audit log", async () => {
  add("audra", ["leads"]);
  await signIn("audra");
  add("audra", ["cn=ml,ou=teams"]);
  await signIn("audra");
  const { body } = await operator.ask("GET /api/audit", {
    query: { subject: "audra@example.com" },
  });
  const actions = body.records.map(({ action, detail }: { action: string; detail: object }) => [
    action,
    detail,
  ]);
  const { issuer } = provider;
  expect(actions).toEqual(
    expect.arrayContaining([
      ["person.join", { issuer }],
      ["identity.rights", { from: null, to: "owner" }],
      ["session.begin", { issuer }],
      ["identity.rights", { from: "owner", to: "developer" }],
    ]),
  );
  expect(actions).toHaveLength(4);
});
