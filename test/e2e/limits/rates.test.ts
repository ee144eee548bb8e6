/** Requests and tokens a minute: who is let in, and what those who are not are told. */

import { beforeEach, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatJson, embeddingsReply, failures } from "../../fake/recordings.ts";
import { refusalOf } from "../../replies/refusal.ts";
import {
  clockAt,
  hello,
  openPayer,
  type Payer,
  type PayerOptions,
  type TestClock,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const beginMs = Date.parse("2027-03-01T12:00:00Z");
const clock: TestClock = clockAt(new Date(beginMs).toISOString());
const moveClock = (ms: number) => clock.set(new Date(clock.nowMs() + ms).toISOString());
const gateway = useTestGateway({ clock });
beforeEach(() => {
  gateway.upstream.replyWith(chatJson({ usage: usageOf({ prompt: 19, completion: 10 }) }));
});

interface LimitTexts {
  readonly rpm?: string;
  readonly tpm?: string;
}

async function limited(limits: LimitTexts, options: PayerOptions = {}): Promise<Payer> {
  const payer = await openPayer(gateway, options);
  await gateway.server.operations.keys.setLimits({ id: payer.keyId, ...limits });
  return payer;
}

/** Another key of the same account. */
async function secondKey(payer: Payer, limits: LimitTexts = {}) {
  const { key } = await gateway.server.operations.keys.create({ account: payer.id, ...limits });
  const headers = { authorization: `Bearer ${key}` };
  return (body: Record<string, unknown> = {}) => payer.chat(body, { headers });
}

/** What is left, as the reply tells it. */
function leftOf({ headers }: Response, of: "requests" | "tokens") {
  return [
    headers.get(`x-ratelimit-limit-${of}`),
    headers.get(`x-ratelimit-remaining-${of}`),
    headers.get(`x-ratelimit-reset-${of}`),
  ];
}

const none = [null, null, null];

async function served(call: Promise<Response>): Promise<Response> {
  const response = await call;
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status: 200, text });
  return response;
}

/** A 429 that may be tried again: how long it is told to wait. */
async function waitOf(call: Promise<Response>): Promise<number> {
  const response = await call;
  const { status, code, type } = await refusalOf(response.clone());
  expect({ status, code, type }).toEqual({
    status: 429,
    code: "rate_limit_exceeded",
    type: "rate_limit_error",
  });
  const { headers } = response;
  const waitMs = Number(headers.get("retry-after-ms"));
  expect(headers.get("retry-after")).toBe(String(Math.ceil(waitMs / 1_000)));
  expect(headers.get("x-should-retry")).toBeNull();
  return waitMs;
}

describe("requests a minute", () => {
  test("a minute's worth at once, then each refused caller is sent to the next slot, spread by seconds", async () => {
    const payer = await limited({ rpm: "3" });
    for (let at = 0; at < 3; at++) await served(payer.chat());
    expect(await waitOf(payer.chat())).toBe(20_000);
    expect(await waitOf(payer.chat())).toBe(21_000);
    expect(await waitOf(payer.chat())).toBe(22_000);
    const { message } = await refusalOf(payer.chat());
    expect(message).toContain("This key has reached its limit of 3 requests per minute");
    expect(gateway.upstream.requests.length).toBe(3);
    await payer.settled(3);
  });

  test("of an account are shared by its keys", async () => {
    const payer = await openPayer(gateway);
    const other = await secondKey(payer);
    await gateway.server.operations.accounts.setLimits({ account: payer.id, rpm: "2" });
    await served(payer.chat());
    await served(other());
    expect(await waitOf(payer.chat())).toBe(30_000);
    expect(await waitOf(other())).toBe(31_000);
    const { message } = await refusalOf(other());
    expect(message).toContain("This account has reached its limit of 2 requests per minute");
  });

  test("of one key are nothing to another of the same account", async () => {
    const payer = await limited({ rpm: "1" });
    const other = await secondKey(payer, { rpm: "1" });
    await served(payer.chat());
    await waitOf(payer.chat());
    await served(other());
    await waitOf(other());
  });

  test("can be given with the account and with the key", async () => {
    const { operations } = gateway.server;
    const { id } = await operations.accounts.create({ name: "limited from birth", rpm: "9" });
    await operations.entries.add({ account: id, kind: "credit", usd: "1" });
    const { key } = await operations.keys.create({ account: id, tpm: "5000" });
    const headers = { authorization: `Bearer ${key}` };
    const response = await served((await openPayer(gateway)).chat({}, { headers }));
    expect(leftOf(response, "requests")).toEqual(["9", "8", "7s"]);
    expect(leftOf(response, "tokens")).toEqual(["5000", "4971", "348ms"]);
  });
});

describe("tokens a minute", () => {
  test("settle to what was really used", async () => {
    const payer = await limited({ tpm: "10000" });
    expect(leftOf(await served(payer.chat({ max_tokens: 9_000 })), "tokens")).toEqual([
      "10000",
      "9971",
      "174ms",
    ]);
    gateway.upstream.replyOnce(chatJson({ usage: usageOf({ prompt: 1_000, completion: 8_971 }) }));
    const most = await served(payer.chat({ max_tokens: 100 }));
    expect(leftOf(most, "tokens")).toEqual(["10000", "0", "1m0s"]);
  });

  test("embeddings count, too", async () => {
    const payer = await limited({ tpm: "1000" });
    gateway.upstream.replyOnce(embeddingsReply({ usage: { prompt_tokens: 9, total_tokens: 9 } }));
    const body = { model: "svc-embedding-2", input: ["a", "b", "c"] };
    const response = await served(payer.call("/embeddings", body));
    expect(leftOf(response, "tokens")).toEqual(["1000", "991", "540ms"]);
  });

  test("a request that no wait makes possible is told so", async () => {
    const payer = await limited({ tpm: "100" });
    const response = await payer.chat({ max_tokens: 78 });
    const { status, code, message } = await refusalOf(response.clone());
    expect({ status, code }).toEqual({ status: 429, code: "rate_limit_exceeded" });
    expect(message).toContain("more than the key's limit of 100 tokens per minute");
    const { headers } = response;
    expect(headers.get("x-should-retry")).toBe("false");
    expect([headers.get("retry-after"), headers.get("retry-after-ms")]).toEqual([null, null]);
    // It has used up no tokens: the largest that is possible is let in.
    await served(payer.chat({ max_tokens: 77 }));
  });

  test("are no obstacle for who names no length, however few there are", async () => {
    const payer = await limited({ tpm: "30" });
    expect(leftOf(await served(payer.chat()), "tokens")).toEqual(["30", "1", "58s"]);
    moveClock(60_000);
    await served(payer.chat());
  });

  test("are none either where the account has fewer than the key", async () => {
    const payer = await limited({ tpm: "5000" });
    await gateway.server.operations.accounts.setLimits({ account: payer.id, tpm: "40" });
    expect(leftOf(await served(payer.chat()), "tokens")).toEqual(["40", "11", "44s"]);
  });
});

describe("a call that was not made", () => {
  for (const owner of ["key", "account"] as const)
    test(`for want of money uses up a request of the ${owner}, but no tokens`, async () => {
      const payer = await openPayer(gateway, { credit: 1n });
      const { operations } = gateway.server;
      const limits = { rpm: "2", tpm: "5000" };
      if (owner === "key") await operations.keys.setLimits({ id: payer.keyId, ...limits });
      else await operations.accounts.setLimits({ account: payer.id, ...limits });
      for (const left of ["1", "0"]) {
        const refused = await payer.chat();
        expect(refused.status).toBe(402);
        expect(leftOf(refused, "requests").slice(0, 2)).toEqual(["2", left]);
        expect(leftOf(refused, "tokens")).toEqual(["5000", "5000", "0ms"]);
      }
      await waitOf(payer.chat());
    });

  test("because it is not valid uses up a request, whatever is wrong with it", async () => {
    const bad = ["{", { ...hello, temperature: 9 }, { ...hello, model: "nobody's" }, "[]"];
    const payer = await limited({ rpm: String(bad.length), tpm: "5000" });
    for (const [at, body] of bad.entries()) {
      const refused = await payer.call("/chat/completions", body);
      expect(refused.status).toBeOneOf([400, 403]);
      expect(leftOf(refused, "requests")[1]).toBe(String(bad.length - 1 - at));
      expect(leftOf(refused, "tokens")).toEqual(["5000", "5000", "0ms"]);
    }
    await waitOf(payer.chat());
  });

  test("because its account is suspended uses up a request, and is always told why", async () => {
    const payer = await limited({ rpm: "2" });
    const { operations } = gateway.server;
    await operations.accounts.suspend({ account: payer.id });
    for (let again = 0; again < 4; again++)
      expect(await refusalOf(payer.chat())).toMatchObject({
        status: 402,
        code: "account_suspended",
      });
    await operations.accounts.resume({ account: payer.id });
    await waitOf(payer.chat());
  });

  test("is refused before its body is looked at, or even has come", async () => {
    const payer = await limited({ rpm: "1" });
    await served(payer.chat());
    const never = new ReadableStream({ pull: () => new Promise(() => {}) });
    await waitOf(payer.call("/chat/completions", "", { body: never }));
    await waitOf(payer.call("/chat/completions", "{"));
  });

  test("well uses up the request, but no tokens", async () => {
    const payer = await limited({ rpm: "2", tpm: "5000" });
    gateway.upstream.replyWith(failures.internal());
    await payer.chat();
    await payer.settled(1);
    const after = await payer.chat({ temperature: 9 });
    expect(leftOf(after, "requests")).toEqual(["2", "0", "1m0s"]);
    expect(leftOf(after, "tokens")).toEqual(["5000", "5000", "0ms"]);
  });
});

describe("limits that change", () => {
  const set = (payer: Payer, limits: LimitTexts) =>
    gateway.server.operations.keys.setLimits({ id: payer.keyId, ...limits });

  test("that are taken away are gone, and no header speaks of them", async () => {
    const payer = await limited({ rpm: "1", tpm: "9000" });
    await served(payer.chat());
    await set(payer, { rpm: "none" });
    const response = await served(payer.chat());
    expect(leftOf(response, "requests")).toEqual(none);
    expect(leftOf(response, "tokens")[0]).toBe("9000");
    await set(payer, { tpm: "none" });
    expect(leftOf(await served(payer.chat()), "tokens")).toEqual(none);
  });

  test("hold for a key that had none until now", async () => {
    const payer = await openPayer(gateway);
    expect(leftOf(await served(payer.chat()), "requests")).toEqual(none);
    await set(payer, { rpm: "1" });
    await served(payer.chat());
    await waitOf(payer.chat());
  });
});
