/** Sign-outs that the identity provider reports, and what only looks like one. */

import { describe, expect, test } from "bun:test";
import { decodeProtectedHeader } from "jose";
import type { Lie } from "../../fake/lying-provider.ts";
import { backChannel, isSignedIn, useBackChannelHome } from "../../setup/back-channel-home.ts";

const home = useBackChannelHome();

test("ends the user's sessions of the provider, and is not to be stored", async () => {
  const other = await home.signIn();
  const { status, headers } = await home.report();
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect([await home.isIn(), await isSignedIn(other)]).toEqual([false, false]);
});

test("a token works once: a copy of it ends no later session", async () => {
  const form = { logout_token: await home.token(), more: "is ignored" };
  expect((await home.send(form)).status).toBe(200);
  await home.signInAgain();
  expect((await home.send(form)).message).toContain("it was already used");
  expect(await home.isIn()).toBe(true);
});

test("a user who never signed in here is no error", async () => {
  expect((await home.report({ claims: { sub: "another person" } })).status).toBe(200);
  expect(await home.isIn()).toBe(true);
});

test("a token for such a user works once, too", async () => {
  const form = { logout_token: await home.token({ claims: { sub: "another person" } }) };
  expect((await home.send(form)).status).toBe(200);
  expect((await home.send(form)).message).toContain("it was already used");
});

test("a key that the provider has replaced works", async () => {
  await home.provider.rotate();
  expect((await home.report()).status).toBe(200);
  expect(await home.isIn()).toBe(false);
});

const nowS = () => Math.floor(home.clock.ms / 1_000);
const event = "http://schemas.openid.net/event/backchannel-logout";
describe("is refused and ends nothing:", () => {
  const lies: Readonly<Record<string, readonly [() => Lie, string]>> = {
    "another issuer": [() => ({ claims: { iss: "https://elsewhere.example" } }), "issuer (iss)"],
    "another audience": [() => ({ claims: { aud: "another application" } }), "audience (aud)"],
    "an ID token in its place": [() => ({ omit: ["events"] }), "logout event"],
    "another event": [() => ({ claims: { events: { "urn:other": {} } } }), "logout event"],
    "an event that is no object": [() => ({ claims: { events: { [event]: true } } }), "event"],
    "a nonce": [() => ({ claims: { nonce: "n" } }), "nonce"],
    "no subject": [() => ({ omit: ["sub"], claims: { sid: "s" } }), "subject (sub)"],
    "a subject that is too long": [() => ({ claims: { sub: "x".repeat(256) } }), "subject (sub)"],
    "no ID": [() => ({ omit: ["jti"] }), "ID (jti)"],
    "no issue time": [() => ({ omit: ["iat"] }), "times"],
    "no end": [() => ({ omit: ["exp"] }), "times"],
    "an old one": [() => ({ claims: { iat: nowS() - 3_600, exp: nowS() + 3_600 } }), "times"],
    "an expired one": [() => ({ claims: { iat: nowS() - 300, exp: nowS() - 60 } }), "times"],
    "one of the future": [
      () => ({ claims: { iat: nowS() + 60, exp: nowS() + 300 } }),
      "times (iat, exp)",
    ],
    "the signature of a foreign key": [() => ({ signedBy: "foreign" }), "signature"],
    "no signature": [() => ({ alg: "none" }), "signature"],
    "a signature with what is public": [() => ({ alg: "HS256" }), "signature"],
  };
  for (const [name, [lie, reason]] of Object.entries(lies))
    test(name, async () => {
      const { status, message } = await home.report(lie());
      expect(status).toBe(400);
      expect(message).toStartWith("logout_token is not valid: ");
      expect(message).toContain(reason);
      expect(await home.isIn()).toBe(true);
    });

  test("what is no token, and no form", async () => {
    for (const text of ["x", "a.b.c", "e30.e30.e30", ".."])
      expect((await home.send({ logout_token: text })).status).toBe(400);
    for (const form of [{ other: "x" }, { logout_token: "" }, { logout_token: "x".repeat(8_001) }])
      expect((await home.send(form)).status).toBe(400);
    const json = await fetch(`${home.gateway.platformUrl}${backChannel}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(json.status).toBe(415);
    expect(await home.isIn()).toBe(true);
  });
});

test("clocks may differ by half a minute", async () => {
  const claims = { iat: nowS() + 20, exp: nowS() + 300 };
  expect((await home.report({ claims })).status).toBe(200);
});

describe("the provider's keys", () => {
  const keys = (reply: () => Response): Lie => ({ replies: { "/jwks": reply } });

  test("that cannot be read end nothing, and are asked for once in a while", async () => {
    let asked = 0;
    const broken = keys(() => {
      asked += 1;
      return new Response("{}", { status: 500 });
    });
    expect((await home.report(broken)).status).toBe(503);
    expect((await home.report(broken)).status).toBe(503);
    expect([asked, await home.isIn()]).toEqual([1, true]);
    home.clock.ms += 5_000;
    expect((await home.report()).status).toBe(200);
  });

  test.each([
    ["no list", {}],
    ["an empty list", { keys: [] }],
    ["a number", { keys: [1] }],
    ["a key without its numbers", { keys: [{ kty: "RSA", kid: "the kid of the token" }] }],
  ])("of a wrong form are the provider's fault: %s", async (_, document) => {
    const token = await home.token();
    const { kid = "" } = decodeProtectedHeader(token);
    const text = JSON.stringify(document).replace("the kid of the token", kid);
    home.provider.lie = keys(() => new Response(text));
    expect((await home.send({ logout_token: token })).status).toBe(503);
    expect(await home.isIn()).toBe(true);
  });

  test("that were replaced a moment ago: the provider can send the token again", async () => {
    expect((await home.report()).status).toBe(200);
    await home.signInAgain();
    await home.provider.rotate();
    const form = { logout_token: await home.token() };
    expect([(await home.send(form)).status, await home.isIn()]).toEqual([503, true]);
    home.clock.ms += 5_000;
    expect([(await home.send(form)).status, await home.isIn()]).toEqual([200, false]);
  });

  test("without the one that signed the token refuse it", async () => {
    const form = { logout_token: await home.token() };
    await home.provider.rotate();
    const { status, message } = await home.send(form);
    expect([status, await home.isIn()]).toEqual([400, true]);
    expect(message).toContain("does not publish the key");
  });
});
