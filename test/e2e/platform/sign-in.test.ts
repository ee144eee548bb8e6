import { beforeEach, describe, expect, test } from "bun:test";
import {
  briefGateway,
  freePort,
  join,
  joinMember,
  joinOperator,
  lookAt,
  nobody,
  password,
  prove,
  visitor,
} from "../../setup/platform-home.ts";
import { usePlatform } from "../../setup/use-platform.ts";

let nowMs = Date.UTC(2027, 0, 1);
const { gateway, operator: first } = usePlatform({ clock: { nowMs: () => nowMs } });
let operator = first;
beforeEach(() => {
  // Failed attempts are forgotten.
  nowMs += 3_600_000;
});

const signIn = (email: string, given: string, headers: Record<string, string> = {}) =>
  nobody(gateway.platformUrl).ask("POST /api/session", {
    body: { email, password: given },
    headers,
  });
const newLink = async () => (await gateway.server.operations.operators.invite({})).link;

describe("a link", () => {
  test("of two who use it at once one joins", async () => {
    const link = await newLink();
    const both = await Promise.allSettled(
      ["one", "two"].map((name) =>
        join(gateway.platformUrl, link, { email: `${name}-race@example.com` }),
      ),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("works no more after its week", async () => {
    const link = await newLink();
    const started = nowMs;
    nowMs += 7 * 86_400_000;
    try {
      const { status } = await lookAt(gateway.platformUrl, link);
      expect(status).toBe(404);
    } finally {
      nowMs = started;
    }
  });

  test("for one email address lets nobody else in", async () => {
    const { link } = await gateway.server.operations.operators.invite({ email: "Eve@Example.com" });
    await expect(join(gateway.platformUrl, link, { email: "mallory@example.com" })).rejects.toThrow(
      "address must be eve@example.com",
    );
    const eve = await join(gateway.platformUrl, link, { email: "eve@example.com" });
    expect((await eve.ask("GET /api/session")).body.user.email).toBe("eve@example.com");
  });

  test("adds an account to a person who is known, with their password and no other", async () => {
    const email = "known@example.com";
    await joinMember(gateway, operator, { role: "viewer", email });
    const { id } = await gateway.server.operations.accounts.create({ name: "second" });
    await prove(operator);
    const { body } = await operator.ask("POST /api/accounts/:account/invites", {
      params: { account: id },
      body: { role: "owner" },
    });
    const token = body.link.split("#")[1];
    const wrong = await nobody(gateway.platformUrl).ask("POST /api/invites/accept", {
      body: { token, name: "X", email, password: "not the password" },
    });
    expect([wrong.status, wrong.body.error.code]).toEqual([401, "wrong_password"]);
    const known = await join(gateway.platformUrl, body.link, { email });
    const { user } = (await known.ask("GET /api/session")).body;
    expect(user.accounts.map(({ role }: { role: string }) => role).toSorted()).toEqual([
      "owner",
      "viewer",
    ]);
  });

  test("to reset a password ends the older one of the same person, and nobody else's", async () => {
    const { operations } = gateway.server;
    const links: string[] = [];
    for (const email of ["twice-lost@example.com", "once-lost@example.com"])
      await join(gateway.platformUrl, await newLink(), { email });
    for (const email of ["twice-lost", "once-lost", "twice-lost"])
      links.push((await operations.people.resetPassword({ email: `${email}@example.com` })).link);
    const statuses: number[] = [];
    for (const link of links) {
      const { status } = await nobody(gateway.platformUrl).ask("POST /api/invites/accept", {
        body: { token: link.split("#")[1], name: "", email: "", password: "another good password" },
      });
      statuses.push(status);
    }
    expect(statuses).toEqual([404, 200, 200]);
  });
});

describe("signing in", () => {
  test("tells a wrong password and an unknown email alike", async () => {
    await join(gateway.platformUrl, await newLink(), { email: "real@example.com" });
    const wrong = await signIn("real@example.com", "wrong password");
    const unknown = await signIn("nobody@example.com", "wrong password");
    expect(wrong.status).toBe(401);
    expect([unknown.status, unknown.body]).toEqual([wrong.status, wrong.body]);
  });

  test("is refused for a while after ten failures, right password or not, known email or not", async () => {
    await join(gateway.platformUrl, await newLink(), { email: "guessed@example.com" });
    for (const email of ["guessed@example.com", "guessed-nobody@example.com"]) {
      for (let at = 0; at < 10; at++) expect((await signIn(email, "guess")).status).toBe(401);
      const refused = await signIn(email, password);
      expect([refused.status, refused.body.error.code]).toEqual([429, "too_many_tries"]);
      expect(refused.response.headers.get("retry-after")).toBe("60");
    }
    nowMs += 60_000;
    expect((await signIn("guessed@example.com", password)).status).toBe(200);
  });

  test("of many tries at once no more than the limit are looked at", async () => {
    await join(gateway.platformUrl, await newLink(), { email: "storm@example.com" });
    const all = await Promise.all(
      Array.from({ length: 24 }, () => signIn("storm@example.com", "guess")),
    );
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBe(10);
    expect(statuses.filter((status) => status === 429).length).toBe(14);
  });

  test("from another site's page is refused, and so is every change", async () => {
    const headers = { origin: "https://evil.example" };
    const { status, body } = await signIn("real@example.com", password, headers);
    expect([status, body.error.code]).toEqual([403, "wrong_origin"]);
    const crossed = await operator.ask("PATCH /api/me", { body: { name: "Mallory" }, headers });
    expect(crossed.status).toBe(403);
    const site = { "sec-fetch-site": "cross-site" };
    expect((await operator.ask("DELETE /api/session", { headers: site })).status).toBe(403);
    const own = { origin: gateway.platformUrl };
    expect(
      (await operator.ask("PATCH /api/me", { body: { name: "Op" }, headers: own })).status,
    ).toBe(200);
  });
});

describe("a session", () => {
  test("is listed, ended by its owner, and by nobody else", async () => {
    const email = "sessions@example.com";
    const first = await join(gateway.platformUrl, await newLink(), { email });
    const second = await signIn(email, password);
    expect(second.status).toBe(200);
    const { body } = await first.ask("GET /api/me/sessions");
    expect(body.length).toBe(2);
    const other = body.find((one: { is_current: boolean }) => !one.is_current);
    const end = { params: { id: other.id } };
    expect((await operator.ask("DELETE /api/me/sessions/:id", end)).status).toBe(404);
    expect((await first.ask("DELETE /api/me/sessions/:id", end)).status).toBe(200);
    expect((await first.ask("GET /api/me/sessions")).body.length).toBe(1);
  });

  test("ends fourteen days after its last use", async () => {
    const person = await join(gateway.platformUrl, await newLink(), { email: "idle@example.com" });
    nowMs += 13 * 86_400_000;
    expect((await person.ask("GET /api/me/sessions")).status).toBe(200);
    nowMs += 13 * 86_400_000;
    expect((await person.ask("GET /api/me/sessions")).status).toBe(200);
    nowMs += 14 * 86_400_000;
    expect((await person.ask("GET /api/me/sessions")).status).toBe(401);
    operator = await joinOperator(gateway);
  });

  test("of others ends when the password is changed; this one goes on", async () => {
    const email = "changer@example.com";
    const first = await join(gateway.platformUrl, await newLink(), { email });
    const cookie = (await signIn(email, password)).response.headers.getSetCookie()[0] ?? "";
    const change = { current: "wrong", password: "a new password here" };
    expect((await first.ask("POST /api/me/password", { body: change })).status).toBe(401);
    const right = { ...change, current: password };
    expect((await first.ask("POST /api/me/password", { body: right })).status).toBe(200);
    expect((await first.ask("GET /api/me/sessions")).status).toBe(200);
    const other = await nobody(gateway.platformUrl).ask("GET /api/me/sessions", {
      headers: { cookie: cookie.split(";")[0] ?? "" },
    });
    expect(other.status).toBe(401);
  });

  test("cookie cannot be read by scripts or sent by other sites", async () => {
    await join(gateway.platformUrl, await newLink(), { email: "cookie@example.com" });
    const { response } = await signIn("cookie@example.com", password);
    const [cookie = ""] = response.headers.getSetCookie();
    expect(cookie).toStartWith("svc_session=");
    expect(cookie).toEndWith("HttpOnly; SameSite=Strict");
  });

  test("over https has a cookie that is Secure and of this host alone, and no other is read", async () => {
    const publicUrl = "https://console.example.com";
    const port = freePort();
    await using secure = await briefGateway({
      environment: { SVC_PLATFORM_URL: publicUrl, SVC_PLATFORM_PORT: port },
    });
    const first = await secure.server.operations.operators.first({});
    expect(first?.link).toStartWith(`${publicUrl}/join#`);
    const browser = visitor(`http://127.0.0.1:${port}`, { origin: publicUrl });
    const given = { email: "ada@example.com", password };
    const joined = await browser.ask("POST /api/invites/accept", {
      body: { ...given, name: "Ada", token: first?.link.split("#")[1] },
    });
    const again = await browser.ask("POST /api/session", { body: given });
    for (const { status, response } of [joined, again]) {
      expect(status).toBe(200);
      expect(response.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^__Host-svc_session=browser-[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
        ),
      ]);
    }
    const [cookie = ""] = (again.response.headers.getSetCookie()[0] ?? "").split(";");
    const bound = { "x-svc-session": again.body.binding };
    const ask = (sent: string) =>
      browser.ask("GET /api/me/sessions", { headers: { cookie: sent, ...bound } });
    expect((await ask(cookie)).status).toBe(200);
    // Any page of a neighbouring host could have set this one.
    expect((await ask(cookie.replace("__Host-", ""))).status).toBe(401);
    const out = await browser.ask("DELETE /api/session", { headers: { cookie, ...bound } });
    expect(out.response.headers.getSetCookie()[0]).toEndWith("; Secure");
    expect((await ask(cookie)).status).toBe(401);
  });
});

describe("what is typed wrong", () => {
  test.each([
    [{ email: "no address", password }, "email"],
    [{ email: "short@example.com", password: "short" }, "password"],
    [{ email: "same@example.com", password: "same@example.com" }, "password"],
    [{ email: "repeat@example.com", password: "aaaaaaaaaaaaaa" }, "password"],
    [{ email: "name@example.com", password, name: " " }, "name"],
  ])("is told at its field: %o", async (given, field) => {
    const token = (await newLink()).split("#")[1];
    const { status, body } = await nobody(gateway.platformUrl).ask("POST /api/invites/accept", {
      body: { token, name: "Ada", ...given },
    });
    expect([status, body.error.field]).toEqual([400, field]);
    expect(body.error.message).not.toContain("--");
  });
});
