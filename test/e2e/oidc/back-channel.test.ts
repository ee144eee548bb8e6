/** Sign-outs that the identity provider reports, and what only looks like one. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  type Lie,
  type LyingProvider,
  lyingClient,
  startLyingProvider,
} from "../../fake/lying-provider.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { freePort, nobody, type Visitor, visitor } from "../../setup/platform-home.ts";
import { cookieOf, TestClock } from "../../setup/second-factor.ts";

const clock = new TestClock();
const path = "/api/session/oidc/back-channel";
let provider: LyingProvider;
let gateway: TestGateway;
let who: Visitor;

beforeAll(async () => {
  provider = await startLyingProvider(freePort());
  gateway = await startTestGateway({
    clock,
    environment: {
      SVC_OIDC_ISSUER: provider.issuer,
      SVC_OIDC_CLIENT_ID: lyingClient,
      SVC_OIDC_ROLES: "team=test:developer",
    },
  });
});
// Keys and descriptions are read again, and failures are forgotten.
beforeEach(async () => {
  clock.ms += 3_600_000;
  who = await signIn();
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

async function signIn(): Promise<Visitor> {
  provider.lie = {};
  const begun = await nobody(gateway.platformUrl).ask("POST /api/session/oidc");
  const { url, ticket } = begun.body;
  const ended = await nobody(gateway.platformUrl).ask("POST /api/session/oidc/finish", {
    body: { ticket, search: provider.answer(url) },
    headers: { cookie: cookieOf(begun, "svc_sign_in") },
  });
  return visitor(gateway.platformUrl, { cookie: cookieOf(ended, "svc_session") });
}

const isIn = async () => (await who.ask("GET /api/me/sessions")).status === 200;

async function send(form: Readonly<Record<string, string>>) {
  const body = new URLSearchParams(form);
  const reply = await fetch(`${gateway.platformUrl}${path}`, { method: "POST", body });
  const { error } = (await reply.json()) as { readonly error?: { readonly message: string } };
  return { status: reply.status, message: error?.message, headers: reply.headers };
}

async function report(lie: Lie = {}) {
  provider.lie = lie;
  return send({ logout_token: await provider.logoutToken() });
}

test("ends the user's sessions of the provider, and is not to be stored", async () => {
  const other = await signIn();
  const { status, headers } = await report();
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect([await isIn(), (await other.ask("GET /api/me/sessions")).status]).toEqual([false, 401]);
});

test("a token works once: a copy of it ends no later session", async () => {
  provider.lie = {};
  const form = { logout_token: await provider.logoutToken(), more: "is ignored" };
  expect((await send(form)).status).toBe(200);
  who = await signIn();
  expect((await send(form)).message).toContain("it was used before");
  expect(await isIn()).toBe(true);
});

test("somebody who never signed in here is no error", async () => {
  expect((await report({ claims: { sub: "another person" } })).status).toBe(200);
  expect(await isIn()).toBe(true);
});

test("a key that the provider has replaced works", async () => {
  await provider.rotate();
  expect((await report()).status).toBe(200);
  expect(await isIn()).toBe(false);
});

const nowS = () => Math.floor(Date.now() / 1_000);
const event = "http://schemas.openid.net/event/backchannel-logout";
describe("is refused and ends nothing:", () => {
  const lies: Readonly<Record<string, () => Lie>> = {
    "another issuer": () => ({ claims: { iss: "https://elsewhere.example" } }),
    "another audience": () => ({ claims: { aud: "another application" } }),
    "an ID token in its place": () => ({ omit: ["events"] }),
    "another event": () => ({ claims: { events: { "urn:other": {} } } }),
    "an event that is no object": () => ({ claims: { events: { [event]: true } } }),
    "a nonce": () => ({ claims: { nonce: "n" } }),
    "no subject": () => ({ omit: ["sub"], claims: { sid: "s" } }),
    "a subject that is too long": () => ({ claims: { sub: "x".repeat(256) } }),
    "no id": () => ({ omit: ["jti"] }),
    "no issue time": () => ({ omit: ["iat"] }),
    "no end": () => ({ omit: ["exp"] }),
    "an old one": () => ({ claims: { iat: nowS() - 3_600, exp: nowS() + 3_600 } }),
    "an expired one": () => ({ claims: { iat: nowS() - 300, exp: nowS() - 60 } }),
    "the signature of a foreign key": () => ({ signedBy: "foreign" }),
    "no signature": () => ({ alg: "none" }),
    "a signature with what is public": () => ({ alg: "HS256" }),
  };
  for (const [name, lie] of Object.entries(lies))
    test(name, async () => {
      const { status, message } = await report(lie());
      expect([status, message]).toEqual([
        400,
        expect.stringMatching(/^logout_token is not valid: /),
      ]);
      expect(await isIn()).toBe(true);
    });

  test("what is no token, and no form", async () => {
    for (const text of ["x", "a.b.c", "e30.e30.e30", ".."])
      expect((await send({ logout_token: text })).status).toBe(400);
    for (const form of [{ other: "x" }, { logout_token: "" }, { logout_token: "x".repeat(8_001) }])
      expect((await send(form)).status).toBe(400);
    const json = await fetch(`${gateway.platformUrl}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(json.status).toBe(415);
    expect(await isIn()).toBe(true);
  });
});

test("a provider whose keys cannot be read ends nothing, and is asked once in a while", async () => {
  let asked = 0;
  const broken = () => {
    asked += 1;
    return new Response("{}", { status: 500 });
  };
  const lie = { replies: { "/jwks": broken } };
  expect((await report(lie)).status).toBe(503);
  expect((await report(lie)).status).toBe(503);
  expect([asked, await isIn()]).toEqual([1, true]);
  clock.ms += 5_000;
  expect((await report()).status).toBe(200);
});

test("who sends wrong ones from one network is slowed down, before anything is checked", async () => {
  let last = 0;
  for (let sent = 0; sent < 60 && last !== 429; sent++)
    last = (await send({ logout_token: "x" })).status;
  expect(last).toBe(429);
  clock.ms += 3_600_000;
  expect((await report()).status).toBe(200);
});
