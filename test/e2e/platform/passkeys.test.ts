/** Passkeys against pages, authenticators and people that lie. */

import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  type Answer,
  joinMember,
  nobody,
  password,
  type Visitor,
} from "../../setup/platform-home.ts";
import { cookieOf, firstStep, TestClock } from "../../setup/second-factor.ts";
import { SoftAuthenticator, type Twist } from "../../setup/soft-authenticator.ts";
import { usePlatform } from "../../setup/use-platform.ts";

let origin: string;
let headers: Readonly<Record<string, string>>;
const clock = new TestClock();

const { gateway, operator } = usePlatform({
  clock,
  environment: { SVC_TRUSTED_PROXIES: "127.0.0.1" },
});
beforeAll(async () => {
  origin = gateway.platformUrl.replace("127.0.0.1", "localhost");
  headers = { origin, host: new URL(origin).host };
});
beforeEach(() => {
  // Failed attempts are forgotten.
  clock.ms += 3_600_000;
});

interface Owner {
  readonly who: Visitor;
  readonly email: string;
  readonly passkey: SoftAuthenticator;
}

async function newOwner(options: { readonly counts?: boolean } = {}): Promise<Owner> {
  const email = `${crypto.randomUUID()}@example.com`;
  const { account } = gateway;
  const who = await joinMember(gateway, operator, { account, role: "viewer", email });
  return { who, email, passkey: new SoftAuthenticator(origin, options) };
}

const setUp = (who: Visitor) => who.ask("POST /api/me/passkeys/setup", { headers });
const add = (who: Visitor, ticket: string, response: object) =>
  who.ask("POST /api/me/passkeys", { body: { ticket, name: "Key", response }, headers });

async function register({ who, passkey }: Owner, twist: Twist = {}): Promise<Answer> {
  const { body } = await setUp(who);
  return add(who, body.ticket, passkey.create(body.options, twist));
}

async function ownerWithPasskey(options: { readonly counts?: boolean } = {}): Promise<Owner> {
  const owner = await newOwner(options);
  expect((await register(owner)).status).toBe(200);
  return owner;
}

const visit = nobody;
async function asked() {
  const reply = await visit(gateway.platformUrl).ask("POST /api/session/passkey-options", {
    headers,
  });
  const { ticket, options } = reply.body;
  return { ticket, options, cookie: cookieOf(reply, "svc_sign_in") };
}

const give = (body: object, cookie: string, more: Readonly<Record<string, string>> = {}) =>
  visit(gateway.platformUrl).ask("POST /api/session/passkey", {
    body,
    headers: { ...headers, cookie, ...more },
  });

async function signIn({ passkey }: Owner, twist: Twist = {}): Promise<Answer> {
  const { ticket, options, cookie } = await asked();
  return give({ ticket, passkey: passkey.get(options, twist) }, cookie);
}

const isIn = (answer: Answer) =>
  answer.response.headers.getSetCookie().some((text) => /^svc_session=[^;]/.test(text));

const wrongs: Readonly<Record<string, Twist>> = {
  "another origin": { origin: "https://evil.example" },
  "the origin of another port": { origin: "http://localhost:1" },
  "another host name": { rpId: "evil.example" },
  "another challenge": { challenge: "AAAA" },
  "another type": { type: "payment.get" },
  "no person": { isPresent: false },
  "a page of another site around it": { crossOrigin: true },
};

describe("a passkey is not added", () => {
  test.each(Object.entries(wrongs))("with %s", async (_, twist) => {
    const owner = await newOwner();
    const { status, body } = await register(owner, twist);
    expect([status, body.error?.code]).toEqual([401, "wrong_passkey"]);
    expect((await owner.who.ask("GET /api/me/factors")).body.passkeys).toEqual([]);
  });

  const text = (word: string) => [0x60 + word.length, ...Buffer.from(word)];
  const formed = (format: string, statement: readonly number[]) => (good: Buffer) =>
    Buffer.concat([
      Buffer.from([0xa3, ...text("fmt"), ...text(format), ...text("attStmt"), ...statement]),
      good.subarray(good.indexOf("authData") - 1),
    ]);
  const nested = Array<number>(40_000).fill(0x81);
  const certificates = [0xa1, ...text("x5c"), 0x81, 0x59, 0x9c, 0x40];
  test.each<[string, (good: Buffer) => Buffer]>([
    ["of an unknown algorithm", (good) => good.fill(0x2e, good.indexOf("\x01\x02\x03\x26") + 3)],
    ["with 40,000 nested lists", formed("none", nested)],
    ["with a map of 2^63 entries", formed("none", [0xbb, 0x7f, ...Array<number>(7).fill(0xff)])],
    ["of an unknown format", formed("evil", [0xa0])],
    ["with a certificate of 40,000 levels", formed("apple", [...certificates, ...nested])],
  ])("%s", async (_, change) => {
    const owner = await newOwner();
    const { body } = await setUp(owner.who);
    const made = owner.passkey.create(body.options);
    const good = Buffer.from(made.response.attestationObject, "base64url");
    const attestationObject = change(good).toString("base64url");
    const answer = await add(owner.who, body.ticket, {
      ...made,
      response: { ...made.response, attestationObject },
    });
    expect(answer.body.error?.code).toBe("wrong_passkey");
  });

  test("with a ticket that was used, or that another person or session got", async () => {
    const [one, other] = [await newOwner(), await newOwner()];
    const { body } = await setUp(one.who);
    const response = one.passkey.create(body.options);
    expect((await add(other.who, body.ticket, response)).status).toBe(409);
    expect((await add(one.who, body.ticket, response)).status).toBe(200);
    const again = new SoftAuthenticator(origin).create(body.options);
    expect((await add(one.who, body.ticket, again)).status).toBe(409);
  });

  test("that another person has", async () => {
    const owner = await ownerWithPasskey();
    const thief = { ...(await newOwner()), passkey: owner.passkey };
    expect((await register(thief)).status).toBe(409);
    expect(isIn(await signIn(owner, { userHandle: "" }))).toBe(true);
  });
});

describe("a passkey alone signs nobody in", () => {
  const more: Readonly<Record<string, Twist>> = {
    ...wrongs,
    "the type of a creation": { type: "webauthn.create" },
    "a signature of another key": { isForged: true },
    "a person whom it did not check": { isVerified: false },
    "the name of another person": { userHandle: Buffer.from("user_other").toString("base64url") },
  };
  let owner: Owner;
  beforeAll(async () => {
    owner = await ownerWithPasskey();
  });
  test.each(Object.entries(more))("with %s", async (_, twist) => {
    const answer = await signIn(owner, twist);
    expect([answer.body.error?.code, isIn(answer)]).toEqual(["wrong_passkey", false]);
  });

  test("with a ticket that was used, without its cookie, or with an answer from before", async () => {
    const { ticket, options, cookie } = await asked();
    const passkey = owner.passkey.get(options);
    expect((await give({ ticket, passkey }, "")).status).toBe(409);
    expect(isIn(await give({ ticket, passkey }, cookie))).toBe(true);
    expect((await give({ ticket, passkey }, cookie)).status).toBe(409);
    const next = await asked();
    expect((await give({ ticket: next.ticket, passkey }, next.cookie)).status).toBe(401);
  });

  test("when its counter goes back, and then not any more", async () => {
    const counting = await ownerWithPasskey({ counts: true });
    expect(isIn(await signIn(counting))).toBe(true);
    const copied = await signIn(counting, { counter: 1 });
    expect([copied.status, isIn(copied)]).toEqual([401, false]);
    expect(copied.body.error.message).toContain("may have been copied");
    expect(isIn(await signIn(counting, { counter: 0 }))).toBe(false);
  });

  test("with the ticket of a second step, and the other way round", async () => {
    const { ticket, cookie, factor } = await firstStepOf(owner);
    const passkey = owner.passkey.get(factor.passkey_options);
    expect((await give({ ticket, passkey }, cookie)).status).toBe(409);
    const alone = await asked();
    const answer = await visit(gateway.platformUrl).ask("POST /api/session/second-step", {
      body: { ticket: alone.ticket, passkey: owner.passkey.get(alone.options) },
      headers: { ...headers, cookie: alone.cookie },
    });
    expect(answer.status).toBe(409);
  });
});

const firstStepOf = ({ email }: Owner) => {
  const browser = visit(gateway.platformUrl);
  return firstStep(gateway.platformUrl, email, {
    ...browser,
    ask: (name, options = {}) =>
      browser.ask(name, { ...options, headers: { ...headers, ...options.headers } }),
  });
};

test("the second step takes no passkey of another person", async () => {
  const [owner, thief] = [await ownerWithPasskey(), await ownerWithPasskey()];
  const { finish, factor } = await firstStepOf(owner);
  const stolen = thief.passkey.get(factor.passkey_options, { userHandle: "" });
  const answer = await finish({ passkey: stolen });
  expect([answer.status, isIn(answer)]).toEqual([401, false]);
  const renamed = { ...stolen, id: owner.passkey.id, rawId: owner.passkey.id };
  expect((await finish({ passkey: renamed })).status).toBe(401);
  expect((await finish({ passkey: owner.passkey.get(factor.passkey_options) })).status).toBe(200);
});

test("options for a sign-in name nobody's passkeys", async () => {
  const { options } = await asked();
  expect(Object.keys(options)).not.toContain("allowCredentials");
});

test("a stranger who knows the id of a passkey keeps nobody from signing in", async () => {
  const owner = await ownerWithPasskey();
  const { ticket, options, cookie } = await asked();
  const passkey = owner.passkey.get(options, { isForged: true });
  const stranger = { "x-forwarded-for": "203.0.113.9" };
  for (let left = 110; left > 0; left--) await give({ ticket, passkey }, cookie, stranger);
  const body = { email: owner.email, password };
  expect((await visit(gateway.platformUrl).ask("POST /api/session", { body })).status).toBe(200);
});
