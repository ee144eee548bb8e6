/** When an Idempotency-Key is refused, and when it may be used again. */

import { describe, expect, test } from "bun:test";
import { chatJson, chatStreams, speechReplies } from "../../fake/recordings.ts";
import { cutAfter, type Script } from "../../fake/script.ts";
import { BodyReader, type ErrorBody, parseStream } from "../../replies/event-stream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { openPayer, type Payer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

const keyed = (key: string) => ({ headers: { "idempotency-key": key } });
const speech = { model: "svc-2.5-flash-tts", input: "Hello", voice: "Kore" };

/** An answer that comes when the test says so. */
function heldAnswer(): { readonly script: Script; readonly answer: () => void } {
  const gate = Promise.withResolvers<void>();
  return {
    script: [{ until: gate.promise }, { send: chatJson().bytes }],
    answer: () => gate.resolve(),
  };
}

/** A 409 in the one shape, with what clients are to do about it. */
async function conflictOf(response: Response) {
  const { status, code, message, type } = await refusalOf(response.clone());
  const { headers } = response;
  const firstId = headers.get("x-original-request-id") ?? "";
  expect({ status, type }).toEqual({ status: 409, type: "idempotency_error" });
  expect(message).toContain(firstId);
  return {
    code,
    firstId,
    shouldRetry: headers.get("x-should-retry"),
    retryAfter: headers.get("retry-after"),
    retryAfterMs: headers.get("retry-after-ms"),
  };
}

const noRetry = { shouldRetry: "false", retryAfter: null, retryAfterMs: null };

describe("another request under a used key", () => {
  async function used(key: string) {
    const payer = await openPayer(gateway);
    gateway.upstream.replyWith(chatJson());
    const first = await payer.chat({}, keyed(key));
    await first.json();
    return { payer, firstId: first.headers.get("x-request-id") ?? "" };
  }

  test("is refused for another model or one more field, and what is kept stays as it is", async () => {
    const { payer, firstId } = await used("used");
    for (const body of [{ seed: 1 }, { model: "svc-2-flash" }]) {
      const refused = await conflictOf(await payer.chat(body, keyed("used")));
      expect(refused).toEqual({ code: "idempotency_key_reused", firstId, ...noRetry });
    }
    expect(gateway.upstream.requests.length).toBe(1);
    await payer.settled(1);
    const again = await payer.chat({}, keyed("used"));
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });

  test("is refused at another endpoint", async () => {
    const { payer, firstId } = await used("elsewhere");
    const refused = await conflictOf(await payer.call("/audio/speech", speech, keyed("elsewhere")));
    expect(refused).toEqual({ code: "idempotency_key_reused", firstId, ...noRetry });
    const { messages } = { messages: [{ role: "user", content: "Say hello" }] };
    const same = { model: "svc-3-flash", messages };
    const toEmbeddings = await payer.call("/embeddings", same, keyed("elsewhere"));
    expect((await conflictOf(toEmbeddings)).code).toBe("idempotency_key_reused");
  });

  test("is refused while the first still runs", async () => {
    const payer = await openPayer(gateway);
    const { script, answer } = heldAnswer();
    gateway.upstream.replyOnce(script);
    const arrived = gateway.upstream.nextRequest();
    const first = payer.chat({}, keyed("both"));
    await arrived;
    const refused = await conflictOf(await payer.chat({ seed: 1 }, keyed("both")));
    answer();
    const firstId = (await first).headers.get("x-request-id") ?? "";
    expect(refused).toEqual({ code: "idempotency_key_reused", firstId, ...noRetry });
  });
});

test("of twenty of the same request at once one is served, and the others are told to come again", async () => {
  const payer = await openPayer(gateway);
  const { script, answer } = heldAnswer();
  gateway.upstream.replyWith(script);
  let refusals = 0;
  const call = async () => {
    const response = await payer.chat({}, keyed("together"));
    if (response.status === 409 && ++refusals === 19) answer();
    return response;
  };
  const all = await Promise.all(Array.from({ length: 20 }, call));
  const served = all.filter(({ status }) => status === 200);
  expect(served.length).toBe(1);
  expect(gateway.upstream.requests.length).toBe(1);
  const { id } = await payer.receipt();
  for (const response of all.filter(({ status }) => status !== 200))
    expect(await conflictOf(response)).toEqual({
      code: "idempotency_in_progress",
      firstId: id,
      shouldRetry: null,
      retryAfter: "1",
      retryAfterMs: "1000",
    });
});

describe("a reply that is not kept", () => {
  async function expectNotKept(payer: Payer, again: Promise<Response>) {
    const { id, charged } = await payer.receipt();
    expect(charged > 0n).toBe(true);
    expect(await conflictOf(await again)).toEqual({
      code: "idempotency_reply_not_kept",
      firstId: id,
      ...noRetry,
    });
    expect(gateway.upstream.requests.length).toBe(1);
    await payer.settled(1);
  }

  test("is one of more than a million bytes", async () => {
    const payer = await openPayer(gateway);
    gateway.upstream.replyOnce(chatJson({ text: "a".repeat(1_000_000) }));
    expect((await (await payer.chat({}, keyed("large"))).text()).length).toBeGreaterThan(1_000_000);
    await expectNotKept(payer, payer.chat({}, keyed("large")));
  });

  test("is long audio", async () => {
    const payer = await openPayer(gateway);
    const long = { ...speech, input: "word ".repeat(100) };
    gateway.upstream.replyOnce(speechReplies.pcmChunked({ seconds: 21, partBytes: 60_001 }));
    const first = await payer.call("/audio/speech", long, keyed("audio"));
    expect((await first.bytes()).length).toBe(44 + 21 * 48_000);
    await expectNotKept(payer, payer.call("/audio/speech", long, keyed("audio")));
  });

  test("is not one of just below a million", async () => {
    const payer = await openPayer(gateway);
    gateway.upstream.replyOnce(chatJson({ text: "a".repeat(999_000) }));
    const first = await (await payer.chat({}, keyed("nearly"))).text();
    const again = await payer.chat({}, keyed("nearly"));
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await again.text()) === first).toBe(true);
  });
});

describe("a failure frees the key:", () => {
  /** The failure is told while its receipt is still being written: until then it counts as running. */
  async function afterwards(call: () => Promise<Response>): Promise<Response> {
    for (;;) {
      const response = await call();
      if (response.status !== 409) return response;
      const { error } = (await response.json()) as ErrorBody;
      if (error.code !== "idempotency_in_progress") throw new Error(error.code);
    }
  }

  async function expectServed(payer: Payer, key: string): Promise<void> {
    gateway.upstream.replyOnce(chatJson({ text: "at last" }));
    const response = await afterwards(() => payer.chat({}, keyed(key)));
    expect(response.status).toBe(200);
    expect(response.headers.get("idempotent-replayed")).toBeNull();
    expect(await response.text()).toContain("at last");
    const again = await payer.chat({}, keyed(key));
    expect(again.headers.get("x-original-request-id")).toBe(response.headers.get("x-request-id"));
  }

  test("a request that is not valid", async () => {
    const payer = await openPayer(gateway);
    expect((await payer.chat({ temperature: 9 }, keyed("invalid"))).status).toBe(400);
    expect((await payer.chat({ model: "nobody's" }, keyed("invalid"))).status).toBe(403);
    await expectServed(payer, "invalid");
    await payer.settled(1);
  });

  test("too little money", async () => {
    const payer = await openPayer(gateway, { credit: 1n });
    expect((await payer.chat({}, keyed("poor"))).status).toBe(402);
    const { operations } = gateway.server;
    await operations.entries.add({ account: payer.id, kind: "credit", usd: "1", reference: "2" });
    await expectServed(payer, "poor");
  });

  test("a limit", async () => {
    const payer = await openPayer(gateway);
    const { operations } = gateway.server;
    await operations.keys.setLimits({ id: payer.keyId, rpm: "1" });
    gateway.upstream.replyOnce(chatJson());
    await (await payer.chat()).json();
    expect((await payer.chat({}, keyed("limited"))).status).toBe(429);
    await operations.keys.setLimits({ id: payer.keyId, rpm: "none" });
    await expectServed(payer, "limited");
  });

  test("a stream that broke, though what it delivered is paid", async () => {
    const payer = await openPayer(gateway);
    const call = () => payer.chat({ stream: true }, keyed("broken"));
    const seen = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    gateway.upstream.replyOnce(cutAfter({ recording, parts: 2, by: "reset", until: seen.promise }));
    const body = new BodyReader(await call());
    await body.until("Hello");
    seen.resolve();
    expect(parseStream(await body.rest()).isDone).toBe(false);
    gateway.upstream.replyOnce(chatStreams.openai());
    expect((await afterwards(call)).status).toBe(200);
    const broken = (await payer.settled(2)).find(({ outcome }) => outcome !== "ok");
    expect(broken?.charged).toBeGreaterThan(0n);
  });
});

describe("the header", () => {
  for (const [what, value] of Object.entries({
    "256 characters": "k".repeat(256),
    "a blank": "two words",
    "no character": "",
    "a letter beyond ASCII": "clé",
    "two values": "one, two",
  }))
    test(`with ${what} is refused by its name`, async () => {
      const payer = await openPayer(gateway);
      const refused = await refusalOf(payer.chat({}, keyed(value)));
      expect({ status: refused.status, code: refused.code, param: refused.param }).toEqual({
        status: 400,
        code: "invalid_request",
        param: "Idempotency-Key",
      });
      expect(refused.message).toContain("Idempotency-Key");
      expect(gateway.upstream.requests.length).toBe(0);
    });

  test("may have 255 visible characters", async () => {
    const payer = await openPayer(gateway);
    gateway.upstream.replyOnce(chatJson());
    const value = `!~${"k".repeat(253)}`;
    await (await payer.chat({}, keyed(value))).json();
    expect((await payer.chat({}, keyed(value))).headers.get("idempotent-replayed")).toBe("true");
  });
});
