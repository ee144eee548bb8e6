import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { briefGateway, join, nobody, password } from "../../setup/platform-home.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ environment: { SVC_TRUSTED_PROXIES: "127.0.0.1, ::1" } });
});
afterAll(() => gateway.stop());

const newLink = async ({ server }: TestGateway) =>
  (await server.operations.operators.invite({})).link;

/** As a proxy passes it on: what the client sent, and then where it connected from. */
const signIn = (
  at: TestGateway,
  options: {
    readonly email: string;
    readonly given?: string;
    readonly from: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
) =>
  nobody(at.platformUrl).ask("POST /api/session", {
    body: { email: options.email, password: options.given ?? password },
    headers: { "x-forwarded-for": options.from, ...options.headers },
  });

async function failTimes(times: number, options: Parameters<typeof signIn>[1]): Promise<void> {
  for (let at = 0; at < times; at++)
    expect((await signIn(gateway, { ...options, given: "a guess" })).status).toBe(401);
}

describe("behind a trusted proxy", () => {
  test("ten failures of an attacker lock out the attacker's network, and nobody else", async () => {
    const email = "victim@example.com";
    await join(gateway.platformUrl, await newLink(gateway), { email });
    await failTimes(10, { email, from: "203.0.113.66" });
    expect((await signIn(gateway, { email, from: "203.0.113.66" })).status).toBe(429);
    expect((await signIn(gateway, { email, from: "192.0.2.1" })).status).toBe(200);
  });

  test("a client cannot claim another address by a header of its own", async () => {
    const email = "claimed@example.com";
    await join(gateway.platformUrl, await newLink(gateway), { email });
    for (let at = 0; at < 10; at++)
      await failTimes(1, { email, from: `198.51.100.${at}, 203.0.113.7` });
    const claimed = await signIn(gateway, { email, from: "198.51.100.200, 203.0.113.7" });
    expect(claimed.status).toBe(429);
  });

  test("the audit log and the list of sessions have the client's address", async () => {
    const email = "seen@example.com";
    await join(gateway.platformUrl, await newLink(gateway), { email });
    const { response } = await signIn(gateway, { email, from: "192.0.2.44:51000" });
    const cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const { body } = await nobody(gateway.platformUrl).ask("GET /api/me/sessions", {
      headers: { cookie },
    });
    expect(body.map(({ address }: { readonly address: string }) => address)).toContain(
      "192.0.2.44",
    );
  });
});

test("without trusted proxies the header is not read", async () => {
  await using plain = await briefGateway();
  const email = "plain@example.com";
  await join(plain.platformUrl, await newLink(plain), { email });
  const fail = (at: number) => signIn(plain, { email, given: "a guess", from: `198.51.100.${at}` });
  for (let at = 0; at < 10; at++) expect((await fail(at)).status).toBe(401);
  expect((await fail(10)).status).toBe(429);
});
