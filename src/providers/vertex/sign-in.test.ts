import { describe, expect, test } from "bun:test";
import { jsonReply } from "../../../test/fake/http/reply.ts";
import {
  accountEmail,
  accountKeyPem,
  authorizedUser,
  readAssertion,
  serviceAccount,
  signInRefusals,
  tokenReply,
} from "../../../test/fake/vendors/vertex-account.ts";
import { vertexRefusals } from "../../../test/fake/vendors/vertex-replies.ts";
import { embed, errorOf, startMs, VertexScene } from "../../../test/fake/vendors/vertex-scene.ts";
import { Dialer } from "../kit/dial.ts";
import { SignIn } from "./sign-in.ts";

const scene = new VertexScene();
const lifeMs = 3_599_000;
const bearers = () => scene.calls.map(({ headers }) => headers["authorization"]);

/** A sign-in that is answered when the test says so. */
function heldToken(token: string) {
  const gate = Promise.withResolvers<void>();
  scene.token = () => [{ until: gate.promise }, { send: tokenReply(token).bytes }];
  return { asked: scene.next(/token/), answer: gate.resolve };
}

describe("a sign-in", () => {
  test("proves itself with a token that only the account's key can have signed", async () => {
    await embed(scene.provider());
    const [signIn] = scene.signIns;
    expect(signIn?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    const nowS = startMs / 1000;
    expect(readAssertion(signIn?.body ?? "")).toEqual({
      grantType: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      head: { alg: "RS256", typ: "JWT", kid: "4f1c9a7be0" },
      claims: {
        iss: accountEmail,
        scope: "https://www.googleapis.com/auth/cloud-platform",
        aud: scene.tokenUrl,
        iat: nowS,
        exp: nowS + 3600,
      },
    });
    expect(bearers()).toEqual(["Bearer token-1"]);
  });

  test("is made once for calls that come together, and kept for those that follow", async () => {
    const provider = scene.provider();
    const { asked, answer } = heldToken("token-1");
    const calls = [embed(provider), embed(provider), embed(provider)];
    await asked;
    answer();
    await Promise.all(calls);
    await embed(provider);
    expect(scene.signIns).toHaveLength(1);
    expect(bearers()).toEqual(Array(4).fill("Bearer token-1"));
  });

  test("is waited for by those who stay when the caller who began it leaves", async () => {
    const provider = scene.provider();
    const { asked, answer } = heldToken("token-1");
    const leaving = new AbortController();
    const left = embed(provider, undefined, { signal: leaving.signal }).catch((error) => error);
    const staying = embed(provider);
    await asked;
    const reason = new Error("the caller has left");
    leaving.abort(reason);
    expect(await left).toBe(reason);
    answer();
    await staying;
    expect(scene.signIns).toHaveLength(1);
  });

  test("reads a key whose line ends were escaped once too often", async () => {
    const private_key = accountKeyPem.replaceAll("\n", "\\n");
    const credentials = serviceAccount(scene.tokenUrl, { private_key });
    await embed(scene.provider({ credentials }));
    expect(readAssertion(scene.signIns[0]?.body ?? "").claims["iss"]).toBe(accountEmail);
  });

  test("works with a person's own sign-in, and names the project that pays", async () => {
    await embed(scene.provider({ credentials: authorizedUser(scene.tokenUrl) }));
    expect(Object.fromEntries(new URLSearchParams(scene.signIns[0]?.body))).toEqual({
      grant_type: "refresh_token",
      client_id: "764086051850-operators.apps.googleusercontent.com",
      client_secret: "d-secret-of-the-client",
      refresh_token: "1//0refresh-of-the-operator",
    });
    expect(scene.calls[0]?.headers).toMatchObject({
      authorization: "Bearer token-1",
      "x-goog-user-project": "operators-project",
    });
  });

  test("that is not answered ends in time, and is the upstream's fault", async () => {
    scene.token = () => [{ hang: true }];
    const signIn = new SignIn({
      source: {
        provider: "cloud",
        text: serviceAccount(scene.tokenUrl),
        file: undefined,
        allowPrivate: true,
      },
      dialer: new Dialer({ provider: "cloud", allowPrivate: true }),
      clock: scene.clock,
      headers: {},
      withinMs: 20,
    });
    const error = await errorOf(Promise.resolve(signIn.pass(new AbortController().signal)));
    expect(error).toMatchObject({ code: "upstream_timeout", upstream: { reason: "timeout" } });
  });
});

describe("a token", () => {
  test("is made anew five minutes before its end, while calls go on with the old one", async () => {
    const provider = scene.provider();
    await embed(provider);
    scene.clock.now = startMs + lifeMs - 300_001;
    await embed(provider);
    const { asked: refreshing, answer } = heldToken("token-2");
    const refreshAtMs = startMs + lifeMs - 300_000;
    scene.clock.now = refreshAtMs;
    await embed(provider);
    const refresh = await refreshing;
    expect(readAssertion(refresh.body).claims.iat).toBe(refreshAtMs / 1000);
    await embed(provider);
    await embed(provider);
    expect(bearers()).toEqual(Array(5).fill("Bearer token-1"));
    answer();
    scene.clock.now = startMs + lifeMs;
    await embed(provider);
    expect(bearers().at(-1)).toBe("Bearer token-2");
    expect(scene.signIns).toHaveLength(2);
  });

  test.each([
    ["that has ended is waited for", 0],
    ["is not given in its last ten seconds", 10_000],
  ])("%s", async (_, leftMs) => {
    const provider = scene.provider();
    await embed(provider);
    scene.clock.now = startMs + lifeMs - leftMs;
    await embed(provider);
    expect(bearers()).toEqual(["Bearer token-1", "Bearer token-2"]);
  });

  test("whose refresh failed stays in force while it is good, and is made anew a quarter of a minute later", async () => {
    const provider = scene.provider();
    await embed(provider);
    scene.token = signInRefusals.badSignature;
    const failedMs = startMs + lifeMs - 60_000;
    scene.clock.now = failedMs;
    const failing = scene.next(/token/);
    await embed(provider);
    await (await failing).closed;
    for (let call = 0; call < 5; call++) await embed(provider);
    scene.clock.now = failedMs + 14_999;
    for (let call = 0; call < 5; call++) await embed(provider);
    expect(scene.signIns).toHaveLength(2);
    expect(bearers()).toEqual(Array(12).fill("Bearer token-1"));
    scene.clock.now = failedMs + 15_000;
    // Replies arrive on another thread: the failure may be known only after the calls above.
    while (scene.signIns.length < 3) await embed(provider);
    scene.clock.now = startMs + lifeMs;
    const before = scene.signIns.length;
    while (scene.signIns.length === before)
      expect((await errorOf(embed(provider))).upstream?.reason).toBe("auth");
  });

  test("without a told life is not kept for long", async () => {
    scene.token = (_request, count) =>
      jsonReply({ body: { access_token: `token-${count}`, token_type: "Bearer" } });
    const provider = scene.provider();
    await embed(provider);
    scene.clock.now = startMs + 600_000;
    await embed(provider);
    expect(bearers()).toEqual(["Bearer token-1", "Bearer token-2"]);
  });
});

describe("a token that the upstream refuses", () => {
  const refuseOnly = (token: string) => {
    const good = scene.api;
    scene.api = (request) =>
      request.headers["authorization"] === `Bearer ${token}`
        ? vertexRefusals.endedToken()
        : typeof good === "function"
          ? good(request)
          : good;
  };

  test("is made anew once, and the call goes on", async () => {
    const provider = scene.provider();
    await embed(provider);
    scene.clock.now += 60_000;
    refuseOnly("token-1");
    expect((await embed(provider)).vectors).toEqual([[1, 0]]);
    expect(bearers()).toEqual(["Bearer token-1", "Bearer token-1", "Bearer token-2"]);
    await embed(provider);
    expect(scene.signIns).toHaveLength(2);
  });

  test("is made anew once for all calls that were refused together", async () => {
    const provider = scene.provider();
    await embed(provider);
    scene.clock.now += 60_000;
    refuseOnly("token-1");
    await Promise.all([embed(provider), embed(provider), embed(provider)]);
    expect(scene.signIns).toHaveLength(2);
  });

  test("is told as the operator's affair when a new one is refused too", async () => {
    const provider = scene.provider();
    await embed(provider);
    scene.clock.now += 60_000;
    scene.api = vertexRefusals.endedToken();
    const error = await errorOf(embed(provider));
    expect(error).toMatchObject({ code: "upstream_unavailable", upstream: { reason: "auth" } });
    expect(scene.signIns).toHaveLength(2);
    expect(scene.calls).toHaveLength(3);
    // It is new: another one would be refused as well.
    await errorOf(embed(provider));
    expect(scene.signIns).toHaveLength(2);
  });

  test("stays when only the permission is missing", async () => {
    const provider = scene.provider();
    await embed(provider);
    scene.clock.now += 60_000;
    scene.api = vertexRefusals.noPermission();
    expect((await errorOf(embed(provider))).upstream?.reason).toBe("auth");
    expect(scene.signIns).toHaveLength(1);
    expect(scene.calls).toHaveLength(2);
  });
});

describe("a sign-in that is refused", () => {
  test.each([
    ["badSignature", "the key was removed, or belongs to another account"],
    ["wrongClock", "this machine's clock may be wrong"],
    ["noAccount", "the account does not exist"],
    ["revoked", "the user must sign in again"],
    ["disabled", "the account is disabled"],
  ] as const)("%s is the operator's affair, and named", async (name, hint) => {
    scene.token = signInRefusals[name];
    const error = await errorOf(embed(scene.provider()));
    expect(error).toMatchObject({
      code: "upstream_unavailable",
      status: 502,
      upstream: { reason: "auth" },
    });
    expect(error.detail).toStartWith("cloud: the sign-in failed with 40");
    expect(error.detail).toEndWith(hint);
    expect(error.message).not.toMatch(/google|vertex|sign|key/i);
    expect(scene.calls).toEqual([]);
  });

  test("is not tried again with every call, but again after a second", async () => {
    scene.token = signInRefusals.badSignature;
    const provider = scene.provider();
    await errorOf(embed(provider));
    scene.token = () => tokenReply("token-2");
    scene.clock.now += 999;
    expect((await errorOf(embed(provider))).upstream?.reason).toBe("auth");
    expect(scene.signIns).toHaveLength(1);
    scene.clock.now += 1;
    await embed(provider);
    expect(scene.signIns).toHaveLength(2);
  });

  test("by a server that is broken passes, and is nobody's key", async () => {
    scene.token = signInRefusals.broken;
    expect(await errorOf(embed(scene.provider()))).toMatchObject({
      code: "upstream_overloaded",
      upstream: { reason: "overloaded" },
    });
    scene.token = () => [{ reset: true }];
    expect(await errorOf(embed(scene.provider()))).toMatchObject({
      code: "upstream_error",
      upstream: { reason: "unreachable" },
    });
  });

  test("by a redirect does not carry the proof elsewhere", async () => {
    scene.token = (request) =>
      jsonReply({
        status: 307,
        headers: { location: `http://${request.headers["host"]}/token2` },
        body: {},
      });
    expect((await errorOf(embed(scene.provider()))).upstream?.reason).toBe("auth");
    expect(scene.upstream.requests).toHaveLength(1);
  });

  test.each([
    ["no token", { id_token: "eyJ" }],
    ["a token that would break the header", { access_token: "a\r\nx-evil: 1" }],
    ["no object", "token"],
  ])("by %s in a good reply is the upstream's failure", async (_name, body) => {
    scene.token = () => jsonReply({ body });
    expect(await errorOf(embed(scene.provider()))).toMatchObject({
      code: "upstream_error",
      detail: "cloud: the sign-in returned no token",
    });
    expect(scene.calls).toEqual([]);
  });
});
