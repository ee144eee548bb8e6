/** A sign-in through the provider that is not complete when its user signs out there. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  type BackChannelHome,
  isSignedIn,
  startBackChannelHome,
} from "../../setup/back-channel-home.ts";
import { type Answer, joinOperator, nobody, type Visitor } from "../../setup/platform-home.ts";
import { addApp, cookieOf, signedIn, type WithApp } from "../../setup/second-factor.ts";

let home: BackChannelHome;
let operator: Visitor;
let withApp: WithApp;

beforeAll(async () => {
  home = await startBackChannelHome({ SVC_OIDC_SECOND_FACTOR: "require" });
  operator = await joinOperator(home.gateway);
  withApp = await addApp(await home.signIn(), home.clock);
});
beforeEach(() => {
  home.provider.lie = {};
  // Each code of an app works once.
  home.clock.next();
});
afterAll(() => home.stop());

/** After the provider's step. */
async function firstStep(): Promise<Answer> {
  home.provider.lie = {};
  const answer = await (await home.begin())();
  expect([answer.status, answer.body.ok]).toEqual([200, false]);
  return answer;
}

const secondStep = (first: Answer) =>
  nobody(home.gateway.platformUrl).ask("POST /api/session/second-step", {
    body: { ticket: first.body.second_factor.ticket, code: withApp.app.code() },
    headers: { cookie: cookieOf(first, "svc_sign_in") },
  });

function expectNoSession({ status, body, response }: Answer): void {
  expect([status, body.error?.code]).toEqual([409, "expired"]);
  expect(response.headers.getSetCookie().join()).not.toContain("svc_session");
}

test("one that waits for its second factor ends, and the next one works", async () => {
  const first = await firstStep();
  expect((await home.report()).status).toBe(200);
  expectNoSession(await secondStep(first));
  const next = await secondStep(await firstStep());
  expect(next.status).toBe(200);
  expect(await isSignedIn(signedIn(home.gateway.platformUrl, next))).toBe(true);
});

test("one whose user is still at the provider ends", async () => {
  const finish = await home.begin();
  expect((await home.report()).status).toBe(200);
  expectNoSession(await finish());
});

test("a sign-out of somebody else ends neither", async () => {
  const finish = await home.begin();
  const first = await firstStep();
  expect((await home.report({ claims: { sub: "somebody else" } })).status).toBe(200);
  expect((await secondStep(first)).status).toBe(200);
  home.provider.lie = {};
  expect((await finish()).status).not.toBe(409);
});

test("one of a user who is new here ends, and no user is created", async () => {
  const claims = { sub: "a new person", email: "new@example.com" };
  const finish = await home.begin();
  expect((await home.report({ claims })).status).toBe(200);
  expectNoSession(await finish());
  const emails = (await operator.ask("GET /api/people")).body.people.map(
    ({ email }: { readonly email: string }) => email,
  );
  expect(emails).not.toContain("new@example.com");
  expect((await (await home.begin())()).status).toBe(200);
});

test("an earlier sign-out that arrives on a slow clock does not shorten a later one", async () => {
  const finish = await home.begin();
  expect((await home.report()).status).toBe(200);
  home.clock.ms -= 1_000;
  expect((await home.report()).status).toBe(200);
  home.clock.ms += 1_000;
  expectNoSession(await finish());
});

test("a sign-out while the clock was ahead voids no sign-in after it was set back, and hides no sign-out", async () => {
  home.clock.ms += 3_600_000;
  expect((await home.report()).status).toBe(200);
  home.clock.ms -= 3_600_000;
  expect((await secondStep(await firstStep())).status).toBe(200);
  home.clock.next();
  const first = await firstStep();
  expect((await home.report()).status).toBe(200);
  expectNoSession(await secondStep(first));
});

test("one that waits for its second factor ends when an operator disconnects the user", async () => {
  const first = await firstStep();
  const { people } = (await operator.ask("GET /api/people")).body;
  const { id } = people.find(
    ({ email }: { readonly email: string }) => email === "honest@example.com",
  );
  const { status } = await operator.ask("DELETE /api/people/:id/identity", { params: { id } });
  expect(status).toBe(200);
  expectNoSession(await secondStep(first));
});
