import { beforeAll, expect, test } from "bun:test";
import {
  type Answer,
  joinMember,
  joinOperator,
  nobody,
  password,
  prove,
  refusalCode,
  signInWith,
  type Visitor,
  visitor,
} from "../../../test/setup/platform-home.ts";
import {
  App,
  addApp,
  cookieOf,
  firstStep,
  signedIn,
  TestClock,
} from "../../../test/setup/second-factor.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const clock = new TestClock();
const { gateway, operator } = usePlatform({ clock });
let url: string;
beforeAll(() => {
  url = gateway.platformUrl;
});

/** A member with an authenticator app. */
async function newPerson() {
  const email = `${crypto.randomUUID()}@example.com`;
  const who = await joinMember(gateway, operator, { role: "developer", email });
  return { email, who, ...(await addApp(who, clock)) };
}

const auditOf = async (email: string) => {
  const { body } = await operator.ask("GET /api/audit", { query: { search: email } });
  return body.records.map(({ action }: { action: string }) => action);
};

test("a right password begins no session without the code, and the code begins one", async () => {
  const { email, app } = await newPerson();
  const { first, finish, cookie, factor } = await firstStep(url, email);
  expect(first.body).toMatchObject({ ok: false, binding: null, device: null });
  expect(factor.ways).toEqual(["totp", "recovery"]);
  expect(cookieOf(first, "svc_session")).toBe("");
  for (const headers of [{ cookie }, { cookie: cookie.replace("svc_sign_in", "svc_session") }])
    expect((await visitor(url, headers).ask("GET /api/session")).body.user).toBeNull();
  const wrong = await finish({ code: "000000" === app.code() ? "000001" : "000000" });
  expect([wrong.status, wrong.body.error.code]).toEqual([401, "wrong_code"]);
  expect(wrong.body.error.message).toBe(
    "This code is wrong or has expired. Enter the newest one: codes change every 30 seconds, and your phone's clock must be right.",
  );
  const { message } = (await finish({ code: "12345" })).body.error;
  expect(message).toContain("Enter the 6 digits that your app shows");
  const right = await finish({ code: ` ${app.code().slice(0, 3)} ${app.code().slice(3)} ` });
  expect(right.status).toBe(200);
  const { body } = await signedIn(url, right).ask("GET /api/session");
  expect(body.user.email).toBe(email);
  const { body: sessions } = await signedIn(url, right).ask("GET /api/me/sessions");
  expect(sessions[0]).toMatchObject({ factor: "totp", is_current: true });
  expect(await auditOf(email)).toContain("session.factor_failed");
});

test("the second step needs the ticket and the cookie of one and the same first step, unchanged and in time", async () => {
  const { email, app } = await newPerson();
  const one = await firstStep(url, email);
  const other = await firstStep(url, email);
  const code = app.code();
  const expired = async (answer: Promise<Answer>) =>
    expect(await refusalCode(answer)).toEqual([409, "expired"]);
  await expired(one.finish({ code }, {}));
  await expired(one.finish({ code }, { cookie: other.cookie }));
  await expired(one.finish({ code, ticket: `${one.ticket.slice(0, -4)}AAAA` }));
  const { body: setup } = await (await newSession(email, app)).ask("POST /api/me/totp/setup");
  expect(setup.error.code).toBe("conflict");
  clock.ms += 10 * 60_000;
  await expired(other.finish({ code: app.code() }));
});

async function newSession(email: string, app: { code(): string }): Promise<Visitor> {
  clock.next();
  return signedIn(url, await (await firstStep(url, email)).finish({ code: app.code() }));
}

test("a code works once, and so does the step before it, however many try at the same moment", async () => {
  const { email, app } = await newPerson();
  const steps = await Promise.all(Array.from({ length: 5 }, () => firstStep(url, email)));
  const code = app.code();
  const answers = await Promise.all(steps.map(({ finish }) => finish({ code })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
  const late = await firstStep(url, email);
  expect((await late.finish({ code })).body.error.message).toBe(
    "This code was already used. Wait for the next one: codes change every 30 seconds.",
  );
  expect((await late.finish({ code: app.code(-1) })).status).toBe(401);
  expect((await late.finish({ code: app.code(1) })).status).toBe(200);
  clock.ms += 2 * 30_000;
  expect((await late.finish({ code: app.code() })).body.error.code).toBe("expired");
});

test("each recovery code works once, also when it is used twice at the same moment", async () => {
  const { email, who, recoveryCodes } = await newPerson();
  expect(recoveryCodes).toHaveLength(10);
  const [code = "", other = ""] = recoveryCodes;
  const steps = await Promise.all([firstStep(url, email), firstStep(url, email)]);
  const answers = await Promise.all(steps.map(({ finish }) => finish({ code })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401]);
  expect((await who.ask("GET /api/me/factors")).body.recovery_codes).toBe(9);
  const { body } = await who.ask("POST /api/me/recovery-codes");
  expect(body.recovery_codes).toHaveLength(10);
  const { finish } = await firstStep(url, email);
  expect((await finish({ code: other })).status).toBe(401);
  expect((await finish({ code: body.recovery_codes[0].toUpperCase() })).status).toBe(200);
});

test("who knows the password has ten tries at the code, from wherever and at once; the person's own browser is let in", async () => {
  const email = `${crypto.randomUUID()}@example.com`;
  const options = { role: "developer", email };
  const who = await joinMember(gateway, operator, options);
  const browser = visitor(url, { "sec-fetch-site": "same-origin" });
  const early = await browser.ask("POST /api/session", { body: { email, password } });
  const { app } = await addApp(who, clock);
  const known = await (await firstStep(url, email, browser)).finish({ code: app.code() });
  clock.next();
  const wrong = ["000000", "000001", "000002", "000003"].find(
    (code) => ![-1, 0, 1].some((away) => app.code(away) === code),
  );
  const { finish } = await firstStep(url, email);
  const answers = await Promise.all(Array.from({ length: 30 }, () => finish({ code: wrong })));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(20);
  const right = await finish({ code: app.code() });
  expect([right.status, right.body.error.code]).toEqual([429, "too_many_tries"]);
  const withDevice = (device: string) =>
    visitor(url, { "sec-fetch-site": "same-origin", "x-svc-device": device });
  const before = await firstStep(url, email, withDevice(early.body.device));
  expect((await before.finish({ code: app.code() })).status).toBe(429);
  const own = await firstStep(url, email, withDevice(known.body.device));
  expect((await own.finish({ code: app.code() })).status).toBe(200);
});

test("a wrong password looks the same whether there is a second factor or not", async () => {
  const { email } = await newPerson();
  expect(
    await refusalCode(
      nobody(url).ask("POST /api/session", {
        body: { email, password: "wrong" },
      }),
    ),
  ).toEqual([401, "wrong_password"]);
});

test("a new password voids what the old one had begun", async () => {
  const { email, who, app } = await newPerson();
  const { finish } = await firstStep(url, email);
  const body = { current: password, password: "another long password" };
  expect((await who.ask("POST /api/me/password", { body })).status).toBe(200);
  expect((await finish({ code: app.code() })).body.error.code).toBe("expired");
});

test("an app counts only once a code confirms it, and only for the session that began", async () => {
  const email = `${crypto.randomUUID()}@example.com`;
  const options = { role: "viewer", email };
  const who = await joinMember(gateway, operator, options);
  const other = await joinMember(gateway, operator, { role: "viewer" });
  const { body: setup } = await who.ask("POST /api/me/totp/setup");
  expect(setup.uri).toContain(`secret=${setup.secret}`);
  expect((await firstStep(url, email)).first.body.ok).toBe(true);
  const code = new App(setup.secret, clock).code();
  const body = { ticket: setup.ticket, code };
  const stolen = await other.ask("POST /api/me/totp", { body });
  expect(stolen.body.error.code).toBe("expired");
  const wrong = await who.ask("POST /api/me/totp", { body: { ...body, code: "12345" } });
  expect([wrong.status, wrong.body.error.field]).toEqual([401, "code"]);
  const both = await Promise.all([1, 2].map(() => who.ask("POST /api/me/totp", { body })));
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect((await firstStep(url, email)).first.body.ok).toBe(false);
});

test("changing how one signs in needs a proof from the last ten minutes", async () => {
  const { who, app } = await newPerson();
  clock.ms += 10 * 60_000;
  for (const name of [
    "DELETE /api/me/totp",
    "POST /api/me/recovery-codes",
    "POST /api/me/totp/setup",
    "POST /api/me/passkeys/setup",
  ]) {
    const { status, body } = await who.ask(name);
    expect([name, status, body.error.code]).toEqual([name, 403, "verification_required"]);
  }
  const verify = (body: object) => who.ask("POST /api/me/verify", { body });
  expect((await verify({})).status).toBe(400);
  for (const given of [password, "wrong"]) {
    const refused = await verify({ password: given });
    expect([refused.status, refused.body.error.field]).toEqual([400, "password"]);
  }
  expect((await verify({ code: "000" })).status).toBe(401);
  expect((await who.ask("DELETE /api/me/totp")).status).toBe(403);
  expect((await verify({ code: app.code() })).status).toBe(200);
  expect((await verify({ code: app.code() })).status).toBe(401);
  expect((await who.ask("DELETE /api/me/totp")).status).toBe(200);
  expect((await who.ask("GET /api/me/factors")).body).toMatchObject({
    totp: null,
    recovery_codes: 0,
  });
  clock.ms += 10 * 60_000;
  expect((await verify({ password: "wrong" })).status).toBe(401);
  expect((await verify({ password })).status).toBe(200);
  expect((await who.ask("POST /api/me/totp/setup")).status).toBe(200);
});

test("a link for a new password, or for another account, needs the second factor, too", async () => {
  const { email, app, who } = await newPerson();
  const { id } = (await who.ask("GET /api/session")).body.user;
  const use = async (link: string, given: string) => {
    const body = { token: link.split("#")[1], name: "Ada", email, password: given };
    const accepted = await nobody(url).ask("POST /api/invites/accept", { body });
    const { ticket } = accepted.body.second_factor;
    const headers = { cookie: cookieOf(accepted, "svc_sign_in") };
    const finish = (code: string) =>
      nobody(url).ask("POST /api/session/second-step", { body: { ticket, code }, headers });
    return { accepted, finish };
  };
  await prove(operator);
  const { body: reset } = await operator.ask("POST /api/people/:id/reset", { params: { id } });
  const word = "a password of a thief";
  const { accepted, finish } = await use(reset.link, word);
  expect(accepted.body).toMatchObject({ binding: null, account: null });
  expect(cookieOf(accepted, "svc_session")).toBe("");
  expect((await firstStep(url, email)).first.status).toBe(200);
  expect((await finish("000000")).status).toBe(401);
  expect((await who.ask("GET /api/session")).body.user).not.toBeNull();
  const done = await finish(app.code());
  expect(done.status).toBe(200);
  expect((await who.ask("GET /api/session")).body.user).toBeNull();
  const signIn = (given: string) => signInWith(url, email, given);
  expect((await signIn(password)).status).toBe(401);
  expect((await signIn(word)).body.ok).toBe(false);
  clock.next();
  const { link } = await gateway.server.operations.operators.invite({ email });
  const promoted = await use(link, word);
  expect((await signedIn(url, done).ask("GET /api/session")).body.user.is_operator).toBe(false);
  const joined = await promoted.finish(app.code());
  expect((await signedIn(url, joined).ask("GET /api/session")).body.user.is_operator).toBe(true);
  clock.next();
  expect((await promoted.finish(app.code())).status).toBe(404);
});

test("an operator removes the factors of a user who lost them, which ends the user's sessions", async () => {
  const { email, who } = await newPerson();
  const { id } = (await who.ask("GET /api/session")).body.user;
  const params = { id };
  const reset = (actor: Visitor) => actor.ask("DELETE /api/people/:id/factors", { params });
  expect((await reset(who)).status).toBe(403);
  const fresh = await joinOperator(gateway);
  expect((await reset(fresh)).status).toBe(200);
  expect((await who.ask("GET /api/session")).body.user).toBeNull();
  expect((await firstStep(url, email)).first.body.ok).toBe(true);
  expect((await reset(fresh)).status).toBe(409);
  expect(await auditOf(email)).toContain("factor.reset");
});

test("no secret, code or ticket is in the audit log", async () => {
  const { email, app, recoveryCodes } = await newPerson();
  const { finish, ticket } = await firstStep(url, email);
  const code = app.code();
  await finish({ code });
  const { body } = await operator.ask("GET /api/audit");
  const text = JSON.stringify(body);
  expect(text).toContain("factor.add");
  for (const secret of [ticket, ...recoveryCodes, `"${code}"`]) expect(text).not.toContain(secret);
});
