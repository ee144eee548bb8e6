/** A new secret for the same key, without a moment in which callers are refused. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { OpenAI } from "openai";
import { connectControl } from "../../../src/platform/control-socket.ts";
import { chatJson } from "../../fake/recordings.ts";
import { thrownBy } from "../../replies/refusal.ts";
import { createHome } from "../../setup/child.ts";
import { standardManifest, startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { clockAt, hello, openPayer, type TestClock } from "../../setup/money-home.ts";

interface KeyWords {
  readonly id: string;
  readonly key: string;
  readonly last_used_at: string | null;
}

const start = "2027-03-01T12:00:00Z";
const clock: TestClock = clockAt(start);
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ clock });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.upstream.reset();
  gateway.upstream.replyWith(chatJson());
  clock.set(start);
});

const chatWith = (key: string, headers: Record<string, string> = {}) =>
  gateway.call("/chat/completions", hello, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
async function statusWith(key: string): Promise<number> {
  const response = await chatWith(key);
  await response.arrayBuffer();
  return response.status;
}
async function codeOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { code: string } };
  return error.code;
}

describe("a rotated key", () => {
  test("works with both secrets, then with the new one alone", async () => {
    const { operations } = gateway.server;
    const made = await openPayer(gateway);
    const rotated = await operations.keys.rotate({ id: made.keyId, overlap: "1h" });
    expect(await statusWith(made.key)).toBe(200);
    expect(await statusWith(rotated.key)).toBe(200);
    clock.set("2027-03-01T12:59:59.999Z");
    expect(await statusWith(made.key)).toBe(200);
    clock.set("2027-03-01T13:00:00Z");
    const refused = await chatWith(made.key);
    expect(refused.status).toBe(401);
    expect(await codeOf(refused)).toBe("invalid_api_key");
    expect(await statusWith(rotated.key)).toBe(200);
    const receipts = await made.settled(4);
    expect(new Set(receipts.map(({ keyId }) => keyId))).toEqual(new Set([made.keyId]));
  });

  test("is refused with both secrets at once when it is revoked", async () => {
    const { operations } = gateway.server;
    const made = await openPayer(gateway);
    const { key } = await operations.keys.rotate({ id: made.keyId });
    expect(await statusWith(made.key)).toBe(200);
    await operations.keys.revoke({ id: made.keyId });
    expect(await statusWith(made.key)).toBe(401);
    expect(await statusWith(key)).toBe(401);
  });

  test("has one limit and one budget for both secrets", async () => {
    const { operations } = gateway.server;
    const limited = await openPayer(gateway);
    await operations.keys.setLimits({ id: limited.keyId, rpm: "2" });
    const second = await operations.keys.rotate({ id: limited.keyId });
    expect(await statusWith(limited.key)).toBe(200);
    expect(await statusWith(second.key)).toBe(200);
    expect(await statusWith(limited.key)).toBe(429);
    expect(await statusWith(second.key)).toBe(429);

    const poor = await openPayer(gateway, { budget: "0.000001" });
    const third = await operations.keys.rotate({ id: poor.keyId });
    for (const key of [poor.key, third.key])
      expect(await codeOf(await chatWith(key))).toBe("budget_exceeded");
  });

  test("pays once for an Idempotency-Key, whichever secret it comes with", async () => {
    const made = await openPayer(gateway);
    const once = { "idempotency-key": "order-1" };
    expect((await chatWith(made.key, once)).status).toBe(200);
    const { key } = await gateway.server.operations.keys.rotate({ id: made.keyId });
    const again = await chatWith(made.key, once);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    await again.arrayBuffer();
    // The reply is sealed with the secret that asked for it; nobody else gets it, and nobody pays.
    const other = await chatWith(key, once);
    expect(other.status).toBe(409);
    expect(other.headers.get("x-original-request-id")).toStartWith("req_");
    expect(await codeOf(other)).toBe("idempotency_key_reused");
    await made.settled(1);
    expect(gateway.upstream.requests).toHaveLength(1);
  });
});

test("what a key may call changes at once, and its name with it", async () => {
  const { operations } = gateway.server;
  const made = await openPayer(gateway);
  expect(await statusWith(made.key)).toBe(200);
  await operations.keys.update({ id: made.keyId, name: "narrow", models: ["svc-embedding-2"] });
  expect(await codeOf(await chatWith(made.key))).toBe("model_not_allowed");
  await operations.keys.update({ id: made.keyId, models: null });
  expect(await statusWith(made.key)).toBe(200);
  const [key] = await operations.keys.list({ account: made.id });
  expect(key).toMatchObject({ name: "narrow", models: null });
});

test("the last use of a key is seen at once, and is that of the newest call", async () => {
  const { operations } = gateway.server;
  const made = await openPayer(gateway);
  const lastUse = async () => (await operations.keys.list({ account: made.id }))[0]?.last_used_at;
  expect(await lastUse()).toBeNull();
  expect(await statusWith(made.key)).toBe(200);
  await made.settled(1);
  expect(await lastUse()).toBe(start);
  clock.set("2027-03-02T00:00:00Z");
  expect(await statusWith(made.key)).toBe(200);
  await made.settled(2);
  expect(await lastUse()).toBe("2027-03-02T00:00:00Z");
});

test("the last use of a key is written at the latest when the server stops", async () => {
  const home = createHome();
  try {
    home.writeConfig(standardManifest.replaceAll("UPSTREAM", gateway.upstream.baseUrl));
    await home.json("account create acme".split(" "));
    await home.json("account credit acme 5".split(" "));
    const made = await home.json<KeyWords>("key create --account acme".split(" "));
    const server = await home.serve({ FAKE_KEY: "x" });
    const client = new OpenAI({ baseURL: server.baseUrl, apiKey: made.key, maxRetries: 0 });
    await client.chat.completions.create(hello as never);

    const rotated = await home.json<KeyWords>(`key rotate ${made.id} --overlap 7d`.split(" "));
    const told = await home.svc(`key rotate ${made.id} --overlap 0`.split(" "));
    expect(told.stdout).toContain("The previous secret no longer works.");
    for (const apiKey of [made.key, rotated.key]) {
      const old = new OpenAI({ baseURL: server.baseUrl, apiKey, maxRetries: 0 });
      expect(await thrownBy(old.models.list())).toMatchObject({ status: 401 });
    }
    const renamed = await home.svc(`key update ${made.id} --name ci --models all`.split(" "));
    expect(renamed.stdout).toContain("ci, all models");
    await server.stop();
    const [after] = await home.json<readonly KeyWords[]>(["key", "list"]);
    expect(after).toMatchObject({ id: made.id, name: "ci", last_used_at: expect.any(String) });
  } finally {
    await home.remove();
  }
});

test("billing adds up to the account's balance, here and over the control socket", async () => {
  const made = await openPayer(gateway);
  await Promise.all(Array.from({ length: 8 }, () => statusWith(made.key)));
  await made.settled(8);
  const { operations } = gateway.server;
  const shown = await operations.billing.show({ account: made.id });
  const { balance_usd } = await operations.accounts.show({ account: made.id });
  expect(shown).toMatchObject({
    balance_usd,
    ledger: { opening_usd: "0.00", closing_usd: balance_usd },
    spend: { receipts: 8 },
  });
  const control = await connectControl(gateway.dataDir);
  expect(await control?.operations.billing.show({ account: made.id })).toEqual(shown);
});
