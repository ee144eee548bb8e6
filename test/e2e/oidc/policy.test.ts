import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mostSessions } from "../../../src/people/session-policy.ts";
import {
  type Lie,
  type LyingProvider,
  lyingClient,
  startLyingProvider,
} from "../../fake/lying-provider.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { startMailServer } from "../../setup/mail-server.ts";
import {
  type Answer,
  freePort,
  join,
  joinMember,
  joinOperator,
  nobody,
  password,
  prove,
  signInWith,
  type Visitor,
  visitor,
} from "../../setup/platform-home.ts";
import { addApp, cookieOf, TestClock } from "../../setup/second-factor.ts";
import { usePlatform } from "../../setup/use-platform.ts";

let provider: LyingProvider;
beforeAll(async () => {
  provider = await startLyingProvider(freePort());
});
afterAll(() => provider.stop());

interface Home {
  readonly gateway: TestGateway;
  readonly operator: Visitor;
  readonly clock: TestClock;
}

async function startHome(environment: Readonly<Record<string, string>>): Promise<Home> {
  const clock = new TestClock();
  const gateway = await startTestGateway({
    clock,
    environment: {
      SVC_OIDC_ISSUER: provider.issuer,
      SVC_OIDC_CLIENT_ID: lyingClient,
      SVC_OIDC_ROLES: "team=test:developer",
      ...environment,
    },
  });
  return { gateway, operator: await joinOperator(gateway), clock };
}

async function withHome(
  environment: Readonly<Record<string, string>>,
  run: (home: Home) => Promise<void>,
): Promise<void> {
  const home = await startHome(environment);
  await run(home).finally(() => home.gateway.stop());
}

async function signIn({ gateway }: Home, lie: Lie = {}): Promise<Answer> {
  provider.lie = lie;
  const who = nobody(gateway.platformUrl);
  const begun = await who.ask("POST /api/session/oidc");
  const { url, ticket } = begun.body;
  return who.ask("POST /api/session/oidc/finish", {
    body: { ticket, search: provider.answer(url) },
    headers: { cookie: cookieOf(begun, "svc_sign_in") },
  });
}

const withPassword = ({ gateway }: Home, email: string) => signInWith(gateway.platformUrl, email);
const sessionOf = ({ gateway }: Home, answer: Answer) =>
  visitor(gateway.platformUrl, { cookie: cookieOf(answer, "svc_session") });
const viewOf = async (home: Home, answer: Answer) =>
  (await sessionOf(home, answer).ask("GET /api/session")).body;
const emailOf = async (who: Visitor) => (await who.ask("GET /api/session")).body.user.email;
const member = ({ gateway, operator }: Home, email: string) =>
  joinMember(gateway, operator, { role: "viewer", email });

describe("SVC_OIDC_PASSWORDS: operators", () => {
  let home: Home;
  beforeAll(async () => {
    home = await startHome({ SVC_OIDC_PASSWORDS: "operators" });
  });
  afterAll(() => home.gateway.stop());

  test("a member's password signs nobody in, an operator's does", async () => {
    await member(home, "maria@example.com");
    const refused = await withPassword(home, "maria@example.com");
    expect([refused.status, refused.body.error.code]).toEqual([403, "identity_required"]);
    expect(refused.response.headers.getSetCookie()).toEqual([]);
    expect((await withPassword(home, await emailOf(home.operator))).status).toBe(200);
    const { sign_in: shown } = (await home.operator.ask("GET /api/session")).body;
    expect(shown).toEqual({ provider: "single sign-on", passwords: "operators" });
  });

  test("a session that has begun with a password ends once the rules forbid it", async () => {
    const { link } = (await home.operator.ask("POST /api/people/invites", { body: {} })).body;
    const email = "second@example.com";
    await join(home.gateway.platformUrl, link, { email });
    const second = sessionOf(home, await withPassword(home, email));
    const { id } = (await second.ask("GET /api/session")).body.user;
    expect((await second.ask("GET /api/me/sessions")).status).toBe(200);
    await home.operator.ask("DELETE /api/people/:id/operator", { params: { id } });
    expect((await second.ask("GET /api/me/sessions")).status).toBe(401);
  });
});

describe("SVC_OIDC_PASSWORDS: off", () => {
  let home: Home;
  beforeAll(async () => {
    home = await startHome({ SVC_OIDC_PASSWORDS: "off" });
  });
  afterAll(() => home.gateway.stop());

  test("an operator gets in with a link of the command line, and with nothing else", async () => {
    const email = await emailOf(home.operator);
    expect((await withPassword(home, email)).body.error.code).toBe("identity_required");
    const { people } = home.gateway.server.operations;
    const { link } = await people.resetPassword({ email });
    const back = await join(home.gateway.platformUrl, link, { email });
    expect((await back.ask("GET /api/people")).status).toBe(200);
  });

  test("a session lasts an hour after a user's link and longer after one of the machine", async () => {
    const operator = await joinOperator(home.gateway);
    const who = await joinMember(home.gateway, operator, {
      role: "viewer",
      email: "maria@example.com",
    });
    const list = (one: Visitor) => one.ask("GET /api/me/sessions").then(({ status }) => status);
    expect([await list(who), await list(operator)]).toEqual([200, 200]);
    home.clock.ms += 61 * 60_000;
    expect([await list(who), await list(operator)]).toEqual([401, 200]);
    const { id } = (await operator.ask("GET /api/session")).body.user;
    await prove(operator);
    const own = await operator.ask("POST /api/people/:id/reset", { params: { id } });
    expect([own.status, own.body.error.code]).toEqual([409, "conflict"]);
  });
});

test("sign-ins through the provider are limited per user, and so are the sessions that are open", () =>
  withHome({}, async (home) => {
    const email = "honest@example.com";
    const first = await member(home, email);
    await connect(first);
    // By password they count the same, and cost less.
    let refused = await withPassword(home, email);
    while (refused.status === 200) refused = await withPassword(home, email);
    for (const answer of [refused, await signIn(home)])
      expect([answer.status, answer.body.error.code]).toEqual([429, "too_many_changes"]);
    home.clock.ms += 1_000;
    const last = sessionOf(home, await signIn(home));
    expect((await last.ask("GET /api/me/sessions")).body).toHaveLength(mostSessions);
    expect((await first.ask("GET /api/me/sessions")).status).toBe(401);
  }));

/** Connects the provider to a user who is signed in. */
async function connect(who: Visitor): Promise<void> {
  const begun = await who.ask("POST /api/me/identity");
  expect(begun.status).toBe(200);
  provider.lie = {};
  await who.ask("POST /api/me/identity/finish", {
    body: { ticket: begun.body.ticket, search: provider.answer(begun.body.url) },
    headers: { cookie: `${who.cookie}; ${cookieOf(begun, "svc_sign_in")}` },
  });
}

describe("rights that groups give", () => {
  const roles = { SVC_OIDC_ROLES: "team=operator" };
  const email = "honest@example.com";

  /** A user of the provider who has got a password, and has signed out. */
  const withLink = async (home: Home) => {
    expect((await signIn(home)).body.ok).toBe(true);
    const { people } = home.gateway.server.operations;
    return join(home.gateway.platformUrl, (await people.resetPassword({ email })).link, { email });
  };

  test("do not count with a password, and without others it signs no user in", () =>
    withHome({ ...roles, SVC_OIDC_NAME: "Example Corp" }, async (home) => {
      // The link comes from the machine: it is the way back while the provider is down.
      expect((await (await withLink(home)).ask("GET /api/people")).status).toBe(200);
      home.clock.ms += 100 * 86_400_000;
      const { status, body } = await withPassword(home, email);
      expect([status, body.error.code]).toEqual([403, "identity_required"]);
      expect(body.error.message).toBe("Sign in through Example Corp.");
    }));

  test("do not count beside a role that was given by hand", () =>
    withHome({ SVC_OIDC_ROLES: "team=operator; team=test:owner" }, async (home) => {
      const who = await member(home, email);
      await connect(who);
      const groups = (await viewOf(home, await signIn(home))).user;
      expect([groups.is_operator, groups.accounts[0].role]).toEqual([true, "owner"]);
      const { user } = await viewOf(home, await withPassword(home, email));
      expect([user.is_operator, user.accounts[0].role]).toEqual([false, "viewer"]);
      expect((await who.ask("GET /api/people")).status).toBe(403);
    }));

  test("get no password reset link of an operator, and each list shows it", () =>
    withHome(
      { SVC_OIDC_ROLES: "team=test:developer", SVC_OIDC_NAME: "Example Corp" },
      async (home) => {
        const { id } = (await viewOf(home, await signIn(home))).user;
        const { ask } = home.operator;
        const member = { params: { id } };
        for (const refused of [
          await ask("POST /api/people/:id/reset", { params: { id } }),
          await ask("POST /api/accounts/:account/members/:id/reset", member),
        ]) {
          expect([refused.status, refused.body.error.code]).toEqual([409, "conflict"]);
          expect(refused.body.error.message).toBe(
            `${email} can only sign in through Example Corp, because groups there give them access. A password would not let them in.`,
          );
        }
        const { people } = (await ask("GET /api/people")).body;
        const { members } = (await ask("GET /api/accounts/:account/members")).body;
        for (const list of [people, members])
          expect(list.find((one: { id: string }) => one.id === id)).toMatchObject({
            may_reset_password: false,
            has_second_factor: false,
            has_identity_factor: true,
          });
      },
    ));

  test("do not come back by a link of an operator from before", () =>
    withHome(roles, async (home) => {
      const who = await member(home, email);
      const { id } = (await who.ask("GET /api/session")).body.user;
      const reset = { params: { id } };
      const { link } = (await home.operator.ask("POST /api/people/:id/reset", reset)).body;
      await connect(who);
      const own = sessionOf(home, await signIn(home));
      expect((await own.ask("POST /api/people/:id/reset", reset)).body.error.code).toBe("conflict");
      await home.operator.ask("DELETE /api/accounts/:account/members/:id", { params: { id } });
      const used = await nobody(home.gateway.platformUrl).ask("POST /api/invites/accept", {
        body: { token: link.split("#")[1], name: "", email: "", password },
      });
      expect([used.status, used.body.error.code]).toEqual([403, "identity_required"]);
    }));

  test("a forgotten password: users of the provider get no link, and the same answer", async () => {
    const mail = await startMailServer();
    const smtp = { SVC_SMTP_URL: `smtp://127.0.0.1:${mail.port}`, SVC_MAIL_FROM: "no@example.com" };
    try {
      await withHome({ ...roles, ...smtp }, async (home) => {
        await signIn(home);
        await withLink(home);
        await signIn(home, { claims: { sub: "person-2", email: "new@example.com" } });
        await member(home, "maria@example.com");
        const who = nobody(home.gateway.platformUrl);
        const came = mail.next();
        for (const one of [email, "new@example.com", "nobody@example.com", "maria@example.com"]) {
          const { status, body } = await who.ask("POST /api/session/forgot", {
            body: { email: one },
          });
          expect([status, body]).toEqual([200, { ok: true }]);
        }
        await came;
        expect(mail.received.map(({ to }) => to)).toEqual([["maria@example.com"]]);
        const { invited } = (await home.operator.ask("GET /api/people")).body;
        expect(invited.map((one: { email: string }) => one.email)).toEqual(["maria@example.com"]);
      });
    } finally {
      mail.stop();
    }
  });
});

describe("a second factor", () => {
  test("is not asked for where the provider's sign-in counts, also where one is required", () =>
    withHome({ SVC_REQUIRE_SECOND_FACTOR: "all" }, async (home) => {
      const answer = await signIn(home);
      expect([answer.body.ok, (await viewOf(home, answer)).must_add_factor]).toEqual([true, false]);
    }));

  test("is set up and asked for where it does not count", () =>
    withHome(
      { SVC_REQUIRE_SECOND_FACTOR: "all", SVC_OIDC_SECOND_FACTOR: "require" },
      async (home) => {
        const first = await signIn(home);
        expect((await viewOf(home, first)).must_add_factor).toBe(true);
        const { app } = await addApp(sessionOf(home, first), home.clock);
        const { body, ...answer } = await signIn(home);
        expect([body.ok, body.binding, body.second_factor.ways]).toEqual([
          false,
          null,
          ["totp", "recovery"],
        ]);
        expect(cookieOf({ body, ...answer }, "svc_session")).toBe("");
        const second = await nobody(home.gateway.platformUrl).ask("POST /api/session/second-step", {
          body: { ticket: body.second_factor.ticket, code: app.code() },
          headers: { cookie: cookieOf({ body, ...answer }, "svc_sign_in") },
        });
        const who = sessionOf(home, second);
        expect((await who.ask("GET /api/session")).body.must_add_factor).toBe(false);
        const left = await who.ask("DELETE /api/session");
        expect(left.body.provider_url).toStartWith(`${provider.issuer}/end?`);
      },
    ));

  test("counts where the provider names one, with amr", () =>
    withHome({ SVC_REQUIRE_SECOND_FACTOR: "all", SVC_OIDC_SECOND_FACTOR: "amr" }, async (home) => {
      const view = async (amr: readonly string[]) =>
        (await viewOf(home, await signIn(home, { claims: { amr } }))).must_add_factor;
      expect([await view(["pwd"]), await view(["pwd", "otp"])]).toEqual([true, false]);
      const alone = ["otp", "hwk", "swk", "pop", "fpt", "sc", "rba"];
      for (const method of alone) expect([method, await view([method])]).toEqual([method, true]);
      expect([await view(["otp", "hwk"]), await view(["pwd", "pin"])]).toEqual([true, true]);
      expect([await view(["mfa"]), await view(["hwk", "face"])]).toEqual([false, false]);
    }));
});

describe("SVC_OIDC_LINK", () => {
  test("connects a member by a verified address, and never an operator", () =>
    withHome({ SVC_OIDC_LINK: "on", SVC_OIDC_TRUST_EMAIL: "on" }, async (home) => {
      const email = "honest@example.com";
      const who = await member(home, email);
      const { id } = (await who.ask("GET /api/session")).body.user;
      const unsure = await signIn(home, { omit: ["email_verified"] });
      expect(unsure.body.error.message).toContain("already has a user here");
      const { user } = await viewOf(home, await signIn(home));
      expect([user.id, user.accounts[0].role]).toEqual([id, "developer"]);

      const claims = { sub: "person-2", email: await emailOf(home.operator) };
      const refused = await signIn(home, { claims });
      expect([refused.status, refused.body.error.code]).toEqual([403, "identity_not_allowed"]);
      const other = await signIn(home, { claims: { sub: "person-3" } });
      expect(other.body.error.message).toContain("is connected to another user");
    }));
});

test("an address without email_verified counts where the operator trusts the provider", () =>
  withHome({ SVC_OIDC_TRUST_EMAIL: "on" }, async (home) => {
    expect((await signIn(home, { omit: ["email_verified"] })).body.ok).toBe(true);
    const claims = { sub: "person-2", email: "b@example.com", email_verified: false };
    expect((await signIn(home, { claims })).status).toBe(403);
  }));

describe("without a provider", () => {
  const { gateway } = usePlatform({ isShared: true });

  test("its routes say what to set", async () => {
    const { status, body } = await nobody(gateway.platformUrl).ask("POST /api/session/oidc");
    expect([status, body.error.message]).toEqual([
      404,
      "No identity provider is set up. Set SVC_OIDC_ISSUER and SVC_OIDC_CLIENT_ID.",
    ]);
  });
});
