/** Requests and tokens a minute, and calls at a time: who is let in, and what the others are told. */

import { beforeEach, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatJson, chatStreams, failures } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import {
  clockAt,
  heldCall,
  leaver,
  openPayer,
  type Payer,
  type PayerOptions,
  waitUntil,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ clock: clockAt("2027-03-01T12:00:00Z") });
const usual = chatJson({ usage: usageOf({ prompt: 19, completion: 10 }) });
beforeEach(() => gateway.upstream.replyWith(usual));

interface LimitTexts {
  readonly rpm?: string;
  readonly tpm?: string;
  readonly concurrency?: string;
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
  const limited = { status: 429, code: "rate_limit_exceeded", type: "rate_limit_error" };
  await expectRefusal(response.clone(), limited);
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
});

describe("a call that was not made", () => {
  test("because its account is suspended uses up a request, and is always told why", async () => {
    const payer = await limited({ rpm: "2" });
    const { operations } = gateway.server;
    await operations.accounts.suspend({ account: payer.id });
    for (let again = 0; again < 4; again++)
      await expectRefusal(payer.chat(), { status: 402, code: "account_suspended" });
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

const holdMany = async (payer: Payer, count: number) => {
  const calls = [];
  for (let at = 0; at < count; at++) calls.push(await heldCall(gateway, () => payer.chat()));
  return calls;
};

async function expectFull(payer: Payer, places: number, owner = "key"): Promise<void> {
  const { status, code, message } = await refusalOf(payer.chat());
  expect({ status, code }).toEqual({ status: 429, code: "rate_limit_exceeded" });
  expect(message).toContain(
    `This ${owner} has reached its limit of ${places} concurrent request${places === 1 ? "" : "s"}`,
  );
}

describe("requests at a time", () => {
  test("three at a time: the fourth is refused until one is done", async () => {
    const payer = await limited({ concurrency: "3" });
    const [first, ...others] = await holdMany(payer, 3);
    await expectFull(payer, 3);
    await expectFull(payer, 3);
    expect(gateway.upstream.requests.length).toBe(3);
    await first?.answer();
    const fourth = await heldCall(gateway, () => payer.chat());
    await expectFull(payer, 3);
    for (const call of [...others, fourth]) await call.answer();
    await payer.settled(4);
    const again = await holdMany(payer, 3);
    await expectFull(payer, 3);
    for (const call of again) await call.answer();
  });

  describe("a place is given back", () => {
    test("after a failure of the upstream", async () => {
      const payer = await limited({ concurrency: "1" });
      gateway.upstream.replyWith(failures.internal());
      for (let again = 0; again < 3; again++) {
        expect((await payer.chat()).status).toBe(502);
        await payer.settled(again + 1);
      }
      gateway.upstream.replyWith(chatJson());
      await served(payer.chat());
    });

    test("after a refusal for want of money", async () => {
      const payer = await limited({ concurrency: "1" }, { credit: 1n });
      for (let again = 0; again < 3; again++) expect((await payer.chat()).status).toBe(402);
    });

    test("when a body does not come, though it takes one from the headers on", async () => {
      const payer = await limited({ concurrency: "1" });
      const { signal, leave } = leaver();
      const sent = Promise.withResolvers<void>();
      const body = new ReadableStream({
        pull() {
          sent.resolve();
          return new Promise(() => {});
        },
      });
      const call = payer.call("/chat/completions", "", { body, signal });
      await sent.promise;
      await waitUntil("its place to be taken", async () => {
        gateway.upstream.replyOnce(chatJson());
        return (await payer.chat()).status === 429;
      });
      await leave(call);
      await waitUntil("its place to be free", async () => (await payer.chat()).status === 200);
    });

    test("at the end of a stream, and not before", async () => {
      const payer = await limited({ concurrency: "1" });
      const gate = Promise.withResolvers<void>();
      const recording = chatStreams.openai();
      gateway.upstream.replyOnce(pausedAfter({ recording, parts: 2, until: gate.promise }));
      const body = new BodyReader(await payer.chat({ stream: true }));
      await body.until("Hello");
      await expectFull(payer, 1);
      gate.resolve();
      expect(await body.rest()).toEndWith("data: [DONE]\n\n");
      await served(payer.chat());
    });

    test("when a caller leaves a stream", async () => {
      const payer = await limited({ concurrency: "1" });
      const until = new Promise<never>(() => {});
      const recording = chatStreams.reasoning();
      gateway.upstream.replyOnce(pausedAfter({ recording, parts: 2, until }));
      const { signal, leave } = leaver();
      const body = new BodyReader(await payer.chat({ stream: true }, { signal }));
      await body.until("Six");
      await expectFull(payer, 1);
      await leave(Promise.resolve());
      await payer.settled(1);
      await served(payer.chat());
    });

    test("when a stream breaks", async () => {
      const payer = await limited({ concurrency: "1" });
      const recording = chatStreams.openai();
      const head = Buffer.concat([recording.head, ...recording.parts.slice(0, 2)]);
      gateway.upstream.replyOnce([{ send: head }, { close: true }]);
      await (await payer.chat({ stream: true })).text();
      await payer.settled(1);
      await served(payer.chat());
    });
  });
});
