import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Lie, type LyingProvider, lyingClient } from "../../fake/lying-provider.ts";
import { type BackChannelHome, startBackChannelHome } from "../../setup/back-channel-home.ts";
import type { TestGateway } from "../../setup/harness.ts";
import {
  type Answer,
  joinOperator,
  signInWith,
  userOf,
  type Visitor,
} from "../../setup/platform-home.ts";
import { signedIn } from "../../setup/second-factor.ts";

let home: BackChannelHome;
let gateway: TestGateway;
let provider: LyingProvider;
let operator: Visitor;

beforeAll(async () => {
  home = await startBackChannelHome({
    SVC_OIDC_NAME: "Example Corp",
    SVC_OIDC_ROLES: "team=test:developer; ghosts=nowhere:viewer",
  });
  ({ gateway, provider } = home);
  operator = await joinOperator(gateway);
});
beforeEach(() => {
  provider.lie = {};
  // What was read of the provider is forgotten, and so are failed attempts.
  home.clock.ms += 3_600_000;
});
afterAll(() => home.stop());

async function signIn(lie: Lie = {}): Promise<Answer> {
  provider.lie = lie;
  return (await home.begin())();
}

async function expectRefused(lie: Lie, message: string, status = 403): Promise<void> {
  const people = async () => (await operator.ask("GET /api/people")).body.people.length;
  const before = await people();
  // Nobody who is known: another test lets the honest one in.
  const claims = { sub: "stranger", email: "stranger@example.com", ...lie.claims };
  const answer = await signIn({ ...lie, claims });
  expect(answer.body.error?.message).toContain(message);
  expect(answer.status).toBe(status);
  expect(answer.response.headers.getSetCookie().join()).not.toContain("svc_session");
  expect(await people()).toBe(before);
}

const nowS = () => Math.floor(Date.now() / 1_000);

describe("a provider that lies lets nobody in, and one sentence says what is wrong", () => {
  const signing = (alg: "none" | "HS256"): Lie => ({
    alg,
    discovery: { id_token_signing_alg_values_supported: [alg, "RS256"] },
  });
  const elsewhere = { _claim_names: { groups: "src1" } };
  test.each<[string, () => Lie, string]>([
    ["the audience", () => ({ claims: { aud: "another-app" } }), "(wrong audience)"],
    ["several audiences", () => ({ claims: { aud: [lyingClient, "another-app"] } }), "wrong"],
    ["the authorized party", () => ({ claims: { aud: [lyingClient, "b"], azp: "b" } }), "azp"],
    ["the authorized party of one audience", () => ({ claims: { azp: "b" } }), "wrong azp"],
    ["the issuer", () => ({ claims: { iss: "https://evil.example" } }), "of another issuer"],
    ["the issuer of the answer", () => ({ iss: "https://evil.example" }), "is not valid"],
    ["the state", () => ({ state: "another" }), "is not valid"],
    ["the nonce", () => ({ claims: { nonce: "another" } }), "wrong nonce"],
    ["a missing nonce", () => ({ omit: ["nonce"] }), "is not valid"],
    ["the time, expired", () => ({ claims: { exp: nowS() - 3_600 } }), "has expired"],
    ["the time, not yet", () => ({ claims: { nbf: nowS() + 3_600 } }), "not valid yet"],
    ["no signature", () => ({ alg: "none" }), "is not valid"],
    ["no signature, and it says that this is how it signs", () => signing("none"), "is not valid"],
    ["a signature with its public key as a secret", () => signing("HS256"), "is not valid"],
    ["a signature with another key", () => ({ signedBy: "foreign" }), "is not valid"],
    ["no subject", () => ({ omit: ["sub"] }), "is not valid"],
    ["an unverified address", () => ({ claims: { email_verified: false } }), "is verified"],
    ["an address that may be verified", () => ({ omit: ["email_verified"] }), "is verified"],
    ["no address", () => ({ omit: ["email"] }), "did not send your email address"],
    ["no groups", () => ({ omit: ["groups"] }), "none of your groups"],
    ["groups left out", () => ({ omit: ["groups"], claims: elsewhere }), "too many"],
    ["a group of no account", () => ({ claims: { groups: ["ghosts"] } }), "none of your groups"],
  ])("%s", (_, lie, message) => expectRefused(lie(), message));
});

describe("a provider that does not work", () => {
  const broken = (path: string, reply: () => Response): Lie => ({ replies: { [path]: reply } });
  const huge = () =>
    new Response("x".repeat(2_000_000), { headers: { "content-type": "application/json" } });
  // A valid reply, so that nothing but its compression is wrong.
  const unasked = () => {
    const { issuer } = provider;
    const [authorization_endpoint, token_endpoint, jwks_uri] = ["auth", "token", "jwks"].map(
      (name) => `${issuer}/${name}`,
    );
    const found = { issuer, authorization_endpoint, token_endpoint, jwks_uri };
    return new Response(Bun.gzipSync(JSON.stringify(found)), {
      headers: { "content-encoding": "gzip", "content-type": "application/json" },
    });
  };
  test.each<[string, Lie]>([
    ["fails", broken("/.well-known/openid-configuration", () => new Response("", { status: 500 }))],
    ["sends too much", broken("/.well-known/openid-configuration", huge)],
    ["sends what unpacks to more", broken("/.well-known/openid-configuration", unasked)],
    ["is no provider", broken("/.well-known/openid-configuration", () => new Response("<html>"))],
    ["is another one", { discovery: { issuer: "https://evil.example" } }],
    ["has no keys", { discovery: { jwks_uri: undefined } }],
    ["has its keys in a file", { discovery: { jwks_uri: "file:///etc/hostname" } }],
    ["has its keys in its document", { discovery: { jwks_uri: "data:application/json,{}" } }],
    ["fails at the token", broken("/token", () => new Response("", { status: 500 }))],
    ["sends too large a token", broken("/token", huge)],
    ["fails at the keys", broken("/jwks", () => new Response("", { status: 500 }))],
    ["redirects", broken("/token", () => Response.redirect("http://127.0.0.1:1/", 307))],
  ])("one that %s: one sentence, and a password still works", async (_, lie) => {
    await expectRefused(lie, "Example Corp does not respond correctly. Try again in a minute", 503);
    const { email } = await userOf(operator);
    expect((await signInWith(gateway.platformUrl, email)).status).toBe(200);
  });

  test("one that refuses the client says so to the operator", async () => {
    const reply = () => Response.json({ error: "invalid_client" }, { status: 401 });
    await expectRefused(
      { replies: { "/token": reply } },
      "did not accept this platform (invalid_client). Ask an operator to check SVC_OIDC_CLIENT_ID",
    );
  });
});

test("a provider that hangs does not delay a sign-out", async () => {
  const who = signedIn(gateway.platformUrl, await signIn());
  home.clock.ms += 11 * 60_000;
  const silent = () => new Response(new ReadableStream());
  provider.lie = { replies: { "/.well-known/openid-configuration": silent } };
  const { body } = await who.ask("DELETE /api/session");
  expect(body.provider_url).toStartWith(`${provider.issuer}/end?`);
  expect((await who.ask("GET /api/me/sessions")).status).toBe(401);
});

test("an honest provider is believed, and a key that it replaces works at once", async () => {
  expect((await signIn()).body.ok).toBe(true);
  await provider.rotate();
  expect((await signIn()).body.ok).toBe(true);
});

test("no token and no code is in the log", async () => {
  await signIn({ claims: { aud: "another-app" } });
  const text = home.lines.join("\n");
  expect(text).toContain("OAUTH_JWT_CLAIM_COMPARISON_FAILED");
  expect(text).not.toMatch(/eyJ|honest@|of no use|code=/);
});
