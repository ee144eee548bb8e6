import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../../test/setup/harness.ts";
import { type MailServer, rejecting, startMailServer } from "../../../test/setup/mail-server.ts";
import {
  joinMember,
  joinOperator,
  lookAt,
  nobody,
  password,
  prove,
  refusal,
  type Visitor,
} from "../../../test/setup/platform-home.ts";
import { TestClock } from "../../../test/setup/second-factor.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const clock = new TestClock();
let mail: MailServer;
let gateway: TestGateway;
let operator: Visitor;
/** Addresses that the mail server rejects. */
const unwanted = new Set<string>();

beforeAll(async () => {
  mail = await startMailServer(rejecting(unwanted));
  gateway = await startTestGateway({
    clock,
    environment: {
      SVC_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      SVC_MAIL_FROM: "Models <no-reply@example.com>",
    },
  });
  operator = await joinOperator(gateway);
});
// What is limited per hour begins again.
beforeEach(async () => {
  clock.ms += 3_600_000;
  await prove(operator);
});
afterAll(async () => {
  await gateway.stop();
  mail.stop();
});

const newEmail = () => `${crypto.randomUUID()}@example.com`;
const linkIn = (text: string) => /http:\/\/\S+\/join#[\w-]+/.exec(text)?.[0] ?? "";
const look = (link: string) => lookAt(gateway.platformUrl, link);
const invite = (who: Visitor, body: object) =>
  who.ask("POST /api/accounts/:account/invites", { body: { role: "viewer", ...body } });

test("an invitation is mailed to its address, and only the mail has the link", async () => {
  const email = newEmail();
  const came = mail.next();
  const { status, body } = await invite(operator, { email, mail: true });
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({ link: null, mailed_to: email, mail_problem: null }),
  ]);
  const { to, from, text } = await came;
  expect([from, to]).toEqual(["no-reply@example.com", [email]]);
  expect(text).toContain("An operator invites you to the account test as viewer.");
  expect((await look(linkIn(text))).body).toMatchObject({ kind: "member", email });
  const { body: audit } = await operator.ask("GET /api/audit", { query: { subject: email } });
  expect(audit.records[0]).toMatchObject({ action: "member.invite", detail: { mail: true } });
});

test("without the wish, nothing is mailed and the link is in the reply", async () => {
  const before = mail.received.length;
  const { body } = await invite(operator, { email: newEmail() });
  expect(body).toMatchObject({ mailed_to: null, mail_problem: null });
  expect((await look(body.link)).status).toBe(200);
  expect(mail.received).toHaveLength(before);
});

test("a mail that the server rejects leaves the link with its creator, and says why", async () => {
  const email = newEmail();
  unwanted.add(email);
  const { status, body } = await invite(operator, { email, mail: true });
  expect([status, body.mailed_to, body.mail_problem]).toEqual([
    200,
    null,
    expect.stringContaining("550 No such user"),
  ]);
  expect((await look(body.link)).status).toBe(200);
});

test("a mail without an address, or with more than one, creates no link", async () => {
  for (const email of ["", "a@example.com,b@example.com", "a@example.com\r\nBcc: b@example.com"]) {
    expect(await refusal(invite(operator, { email, mail: true }))).toEqual([400, "email"]);
  }
  const account = { name: crypto.randomUUID(), invite_owner: true, mail: true };
  const refused = await operator.ask("POST /api/accounts", { body: account });
  expect([refused.status, refused.body.error.field]).toEqual([400, "email"]);
  const { body } = await operator.ask("GET /api/accounts");
  expect(body.map(({ name }: { name: string }) => name)).not.toContain(account.name);
});

test("operators and owners of new accounts are invited, and passwords reset, in the same way", async () => {
  const email = newEmail();
  const cases = [
    () => operator.ask("POST /api/people/invites", { body: { email, mail: true } }),
    () =>
      operator.ask("POST /api/accounts", {
        body: { name: crypto.randomUUID(), invite_owner: true, email, mail: true },
      }),
  ];
  for (const ask of cases) {
    const came = mail.next();
    expect((await ask()).status).toBe(200);
    expect((await look(linkIn((await came).text))).body).toMatchObject({ email });
  }
  const known = newEmail();
  const { account } = gateway;
  const who = await joinMember(gateway, operator, { account, role: "viewer", email: known });
  const { id } = (await who.ask("GET /api/session")).body.user;
  for (const [name, params] of [
    ["POST /api/people/:id/reset", { id }],
    ["POST /api/accounts/:account/members/:id/reset", { account, id }],
  ] as const) {
    const came = mail.next();
    const { body } = await operator.ask(name, { params, query: { mail: "yes" } });
    expect([body.link, body.mailed_to]).toEqual([null, known]);
    expect((await look(linkIn((await came).text))).body.kind).toBe("reset");
  }
});

test("thirty mails in a row, then one per minute; the link is shown meanwhile", async () => {
  const { account } = gateway;
  const owner = await joinMember(gateway, operator, { account, role: "owner" });
  const send = async () => (await invite(owner, { email: newEmail(), mail: true })).body;
  const sent = await Promise.all(Array.from({ length: 30 }, send));
  expect(sent.filter(({ mail_problem: problem }) => problem !== null)).toEqual([]);
  const { link, mail_problem: problem } = await send();
  expect([typeof link, problem]).toEqual(["string", expect.stringContaining("too many messages")]);
  clock.ms += 60_000;
  expect((await send()).mail_problem).toBeNull();
});

const forgot = (email: string) =>
  nobody(gateway.platformUrl).ask("POST /api/session/forgot", { body: { email } });

test("a forgotten password: a link by mail, which works once", async () => {
  const email = newEmail();
  await joinMember(gateway, operator, { role: "viewer", email });
  const came = mail.next();
  const { status, body } = await forgot(email.toUpperCase());
  expect([status, body]).toEqual([200, { ok: true }]);
  const { to, text } = await came;
  expect(to).toEqual([email]);
  const use = () =>
    nobody(gateway.platformUrl).ask("POST /api/invites/accept", {
      body: { token: linkIn(text).split("#")[1], name: "", email, password: `${password} 2` },
    });
  expect([(await use()).status, (await use()).status]).toEqual([200, 404]);
  const { body: audit } = await operator.ask("GET /api/audit", { query: { subject: email } });
  expect(audit.records.map(({ action }: { action: string }) => action)).toContain("person.forgot");
});

test("an unknown address gets the same answer, and no mail", async () => {
  const known = newEmail();
  await joinMember(gateway, operator, { role: "viewer", email: known });
  const before = mail.received.length;
  const stranger = await forgot(newEmail());
  const came = mail.next();
  const friend = await forgot(known);
  expect([stranger.status, stranger.body]).toEqual([friend.status, friend.body]);
  // Both are answered in their order, so the first would have come by now.
  await came;
  expect(mail.received).toHaveLength(before + 1);
});

test("three for one address, then none for a while; ten for one network, then a wait", async () => {
  const email = newEmail();
  await joinMember(gateway, operator, { role: "viewer", email });
  const before = mail.received.length;
  for (let at = 0; at < 5; at++) expect((await forgot(email)).status).toBe(200);
  for (let at = 0; at < 5; at++) expect((await forgot(newEmail())).status).toBe(200);
  const refused = await forgot(newEmail());
  expect([refused.status, refused.body.error.message]).toEqual([
    503,
    expect.stringContaining("Try again in 2 minutes."),
  ]);
  clock.ms += 3_600_000;
  const other = newEmail();
  await joinMember(gateway, operator, { role: "viewer", email: other });
  await forgot(other);
  const toOther = () => mail.received.some(({ to }) => to.includes(other));
  while (!toOther()) await mail.next();
  expect(mail.received.slice(before).filter(({ to }) => to.includes(email))).toHaveLength(3);
});

describe("a server without mail", () => {
  const { gateway: plain, operator: who } = usePlatform({ isShared: true });

  test("says so, and offers none", async () => {
    expect((await who.ask("GET /api/session")).body.sends_mail).toBe(false);
    const invited = await who.ask("POST /api/people/invites", {
      body: { email: newEmail(), mail: true },
    });
    expect([invited.status, invited.body.error.field]).toEqual([400, "mail"]);
    const answer = await nobody(plain.platformUrl).ask("POST /api/session/forgot", {
      body: { email: newEmail() },
    });
    expect(answer.status).toBe(409);
  });
});
