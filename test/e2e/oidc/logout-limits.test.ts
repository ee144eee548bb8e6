/** How many logout tokens are looked at: invalid ones are limited, those of the provider are not. */

import { expect, test } from "bun:test";
import { useBackChannelHome } from "../../setup/back-channel-home.ts";
import { nobody } from "../../setup/platform-home.ts";

const home = useBackChannelHome();

const invalid = 50;
const many = <T>(count: number, one: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => one(at)));
/** How many replies have each of some statuses. */
const counts = (replies: readonly { readonly status: number }[], ...statuses: readonly number[]) =>
  statuses.map((status) => replies.filter((reply) => reply.status === status).length);
const sendAll = (tokens: readonly string[]) =>
  Promise.all(tokens.map((logout_token) => home.send({ logout_token })));
const logged = (text: string) => home.lines.filter((line) => line.includes(text)).length;

async function sendInvalid(): Promise<void> {
  for (let sent = 0; sent < invalid; sent++)
    expect((await home.send({ logout_token: "x" })).status).toBe(400);
}

test("a provider that signs everybody out at once is not slowed down", async () => {
  // Its keys are read now: below, all connections of this process are in use.
  expect((await home.report({ claims: { sub: "the first of many" } })).status).toBe(200);
  const tokens = await many(150, (at) =>
    home.token({ claims: { sub: `person of the many ${at}` } }),
  );
  expect(counts(await sendAll(tokens), 200)).toEqual([150]);
  expect([(await home.report()).status, await home.isIn()]).toEqual([200, false]);
});

test("after 50 invalid ones from a network, not even a valid one is checked", async () => {
  await sendInvalid();
  const form = { logout_token: await home.token() };
  const { status, message, headers } = await home.send(form);
  expect([status, message, headers.get("retry-after")]).toEqual([
    429,
    "Too many failed attempts. Try again in 1 minute.",
    "20",
  ]);
  expect(await home.isIn()).toBe(true);
  // The attempt has not used it up.
  home.clock.ms += 20_000;
  expect([(await home.send(form)).status, await home.isIn()]).toEqual([200, false]);
});

test("wrong signatures count, also many at once", async () => {
  const tokens = await many(120, () => home.token({ signedBy: "foreign" }));
  expect(counts(await sendAll(tokens), 400, 429)).toEqual([invalid, 120 - invalid]);
});

test("tokens of an unknown key count, and the keys are read for the first of them alone", async () => {
  const tokens = await many(invalid + 20, () => home.token());
  await home.provider.rotate();
  const asked = () => home.provider.requests.filter((path) => path === "/jwks").length;
  const before = asked();
  expect(counts(await sendAll(tokens), 400, 503, 429)).toEqual([1, invalid - 1, 20]);
  home.clock.ms += 5_000;
  expect((await home.report()).status).toBe(429);
  expect(asked() - before).toBe(1);
});

test("what the provider signed does not count, even if it is refused", async () => {
  const used = { logout_token: await home.token() };
  expect((await home.send(used)).status).toBe(200);
  const withoutSubject = await home.token({ omit: ["sub"], claims: { sid: "s" } });
  const old = await home.token({ claims: { iat: 1, exp: 2 } });
  for (const form of [used, { logout_token: withoutSubject }, { logout_token: old }]) {
    const replies = await many(invalid + 1, () => home.send(form));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([400]));
  }
  expect((await home.report()).status).toBe(200);
});

test("nor does what cannot be checked", async () => {
  const broken = { replies: { "/jwks": () => new Response("{}", { status: 500 }) } };
  const form = { logout_token: await home.token(broken) };
  const replies = await many(invalid + 1, () => home.send(form));
  expect(counts(replies, 503)).toEqual([invalid + 1]);
  expect(logged("a logout token could not be checked")).toBe(1);
  home.provider.lie = {};
  home.clock.ms += 5_000;
  expect((await home.send(form)).status).toBe(200);
});

test("sign-ins of the network and its sign-outs have limits of their own", async () => {
  await sendInvalid();
  expect((await home.report()).status).toBe(429);
  await home.signInAgain();
  expect(await home.isIn()).toBe(true);
  home.clock.ms += 3_600_000;
  const wrong = { body: { ticket: "x", search: "?x" } };
  const finish = () => nobody(home.gateway.platformUrl).ask("POST /api/session/oidc/finish", wrong);
  const attempts = await many(invalid + 1, finish);
  expect(counts(attempts, 429)).toEqual([1]);
  expect((await home.report()).status).toBe(200);
});

test("the log has a network that has to wait, once per minute", async () => {
  await sendInvalid();
  const text = "sign-outs of the identity provider are refused";
  const sendThree = async () => {
    for (let sent = 0; sent < 3; sent++) await home.send({ logout_token: "x" });
  };
  await sendThree();
  expect([logged(text), logged("an invalid logout token was refused")]).toEqual([1, 1]);
  expect(home.lines.find((line) => line.includes(text))).toContain('"network":"127.0.0.1"');
  home.clock.ms += 60_000;
  for (let sent = 0; sent < 3; sent++) await home.send({ logout_token: "x" });
  await sendThree();
  expect([logged(text), logged("an invalid logout token was refused")]).toEqual([2, 2]);
});
