/** The same Idempotency-Key again: one reply, one call, one receipt; when it is refused, and free. */

import { beforeEach, describe, expect, test } from "bun:test";
import { OpenAI } from "openai";
import { chatJson, chatStreams, embeddingsReply, speechReplies } from "../../fake/recordings.ts";
import { cutAfter } from "../../fake/script.ts";
import { BodyReader, type ErrorBody, parseStream } from "../../replies/event-stream.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import {
  clockAt,
  heldCall,
  hello,
  openPayer,
  type Payer,
  type TestClock,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const day = (number: number, time = "12:00:00Z") => `2027-03-0${number}T${time}`;
const clock: TestClock = clockAt(day(1));
const gateway = useTestGateway({ clock });
beforeEach(() => {
  clock.set(day(1));
});

let payer: Payer;
beforeEach(async () => {
  payer = await openPayer(gateway);
});

const keyed = (key: string) => ({ headers: { "idempotency-key": key } });
const isReplayed = ({ headers }: Response) => headers.get("idempotent-replayed");
const firstIdOf = ({ headers }: Response) => headers.get("x-original-request-id");
const idOf = ({ headers }: Response) => headers.get("x-request-id");

const requests = {
  "/chat/completions": { model: "svc-3-flash", messages: [{ role: "user", content: "Grüße" }] },
  "/embeddings": { model: "svc-embedding-2", input: ["a", "b", "c"] },
  "/audio/speech": { model: "svc-2.5-flash-tts", input: "Hello", voice: "Kore" },
};
const replies = {
  "/embeddings": embeddingsReply(),
  "/audio/speech": speechReplies.pcmChunked({ seconds: 2 }),
};

for (const path of ["/embeddings", "/audio/speech"] as const)
  test(`gives the reply of ${path} again, byte for byte, and calls and charges once`, async () => {
    gateway.upstream.replyOnce(replies[path]);
    const first = await payer.call(path, requests[path], keyed("one"));
    const bytes = await first.bytes();
    expect({ status: first.status, isReplayed: isReplayed(first) }).toEqual({
      status: 200,
      isReplayed: null,
    });
    const { id } = await payer.receipt();
    expect(idOf(first)).toBe(id);
    for (let again = 0; again < 3; again++) {
      const second = await payer.call(path, requests[path], keyed("one"));
      expect(second.status).toBe(200);
      expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
      expect(isReplayed(second)).toBe("true");
      expect(firstIdOf(second)).toBe(id);
      expect(idOf(second)).not.toBe(id);
      expect(Buffer.from(await second.bytes()).equals(Buffer.from(bytes))).toBe(true);
    }
    expect(gateway.upstream.requests.length).toBe(1);
    await payer.settled(1);
  });

test("takes a body that differs in blanks and in nulls alone for the same", async () => {
  gateway.upstream.replyOnce(chatJson());
  const body = requests["/chat/completions"];
  await (await payer.call("/chat/completions", body, keyed("blanks"))).json();
  const spaced = JSON.stringify({ ...body, stop: null }, undefined, 3);
  expect(isReplayed(await payer.call("/chat/completions", spaced, keyed("blanks")))).toBe("true");
});

test("means nothing to another API key, also of the same account", async () => {
  const other = await gateway.server.operations.keys.create({ account: payer.id });
  const asOther = { authorization: `Bearer ${other.key}`, "idempotency-key": "shared" };
  gateway.upstream.replyOnce(chatJson({ text: "for the first" }));
  gateway.upstream.replyOnce(chatJson({ text: "for the second" }));
  await (await payer.chat({}, keyed("shared"))).json();
  const theirs = await payer.chat({}, { headers: asOther });
  expect(isReplayed(theirs)).toBeNull();
  expect(await theirs.text()).toContain("for the second");
  const ours = await payer.chat({}, keyed("shared"));
  expect(isReplayed(ours)).toBe("true");
  expect(await ours.text()).toContain("for the first");
  await payer.settled(2);
});

test("keeps a reply for 24 hours, and makes the call anew after them", async () => {
  gateway.upstream.replyOnce(chatJson({ text: "of the first day" }));
  const first = await payer.chat({}, keyed("a-day"));
  await first.json();
  clock.set(day(2, "11:59:59.999Z"));
  expect(await (await payer.chat({}, keyed("a-day"))).text()).toContain("of the first day");
  clock.set(day(2));
  gateway.upstream.replyOnce(chatJson({ text: "of the second day" }));
  const anew = await payer.chat({}, keyed("a-day"));
  expect(isReplayed(anew)).toBeNull();
  expect(await anew.text()).toContain("of the second day");
  const replayed = await payer.chat({}, keyed("a-day"));
  expect(firstIdOf(replayed)).toBe(idOf(anew));
  await payer.settled(2);
});

test("gives a suspended account no reply that was kept for it", async () => {
  gateway.upstream.replyOnce(chatJson());
  await (await payer.chat({}, keyed("kept"))).json();
  await gateway.server.operations.accounts.suspend({ account: payer.id });
  await expectRefusal(payer.chat({}, keyed("kept")), { status: 402, code: "account_suspended" });
});

describe("the openai client", () => {
  class KeyedOpenAI extends OpenAI {
    // The library sends its option `idempotencyKey` under this name, and without one not at all.
    override idempotencyHeader = "Idempotency-Key";
  }
  const body = { model: "svc-3-flash", messages: [{ role: "user" as const, content: "Hi" }] };

  test("gets the same completion for the same idempotencyKey", async () => {
    const client = new KeyedOpenAI({ baseURL: gateway.baseUrl, apiKey: payer.key, maxRetries: 0 });
    gateway.upstream.replyOnce(chatJson({ text: "once" }));
    const named = () => client.chat.completions.create(body, { idempotencyKey: "from-the-option" });
    const first = await named();
    const { data, response } = await named().withResponse();
    expect(data).toEqual(first);
    expect(isReplayed(response)).toBe("true");
    await payer.settled(1);
  });
});

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
    const refused = await conflictOf(
      await payer.call("/audio/speech", requests["/audio/speech"], keyed("elsewhere")),
    );
    expect(refused).toEqual({ code: "idempotency_key_reused", firstId, ...noRetry });
    const toEmbeddings = await payer.call("/embeddings", hello, keyed("elsewhere"));
    expect((await conflictOf(toEmbeddings)).code).toBe("idempotency_key_reused");
  });

  test("is refused while the first still runs", async () => {
    const first = await heldCall(gateway, () => payer.chat({}, keyed("both")));
    const refused = await conflictOf(await payer.chat({ seed: 1 }, keyed("both")));
    const firstId = (await first.answer()).headers.get("x-request-id") ?? "";
    expect(refused).toEqual({ code: "idempotency_key_reused", firstId, ...noRetry });
  });
});

test("of twenty of the same request at once one is served, and the others are told to come again", async () => {
  const { promise: until, resolve: answer } = Promise.withResolvers<void>();
  gateway.upstream.replyWith([{ until }, { send: chatJson().bytes }]);
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
    gateway.upstream.replyOnce(chatJson({ text: "a".repeat(1_000_000) }));
    expect((await (await payer.chat({}, keyed("large"))).text()).length).toBeGreaterThan(1_000_000);
    await expectNotKept(payer, payer.chat({}, keyed("large")));
  });

  test("is long audio", async () => {
    const long = { ...requests["/audio/speech"], input: "word ".repeat(100) };
    gateway.upstream.replyOnce(speechReplies.pcmChunked({ seconds: 21, partBytes: 60_001 }));
    const first = await payer.call("/audio/speech", long, keyed("audio"));
    expect((await first.bytes()).length).toBe(44 + 21 * 48_000);
    await expectNotKept(payer, payer.call("/audio/speech", long, keyed("audio")));
  });

  test("is not one of just below a million", async () => {
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
    const { operations } = gateway.server;
    await operations.keys.setLimits({ id: payer.keyId, rpm: "1" });
    gateway.upstream.replyOnce(chatJson());
    await (await payer.chat()).json();
    expect((await payer.chat({}, keyed("limited"))).status).toBe(429);
    await operations.keys.setLimits({ id: payer.keyId, rpm: "none" });
    await expectServed(payer, "limited");
  });

  test("a stream that broke, though what it delivered is paid", async () => {
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
    gateway.upstream.replyOnce(chatJson());
    const value = `!~${"k".repeat(253)}`;
    await (await payer.chat({}, keyed(value))).json();
    expect((await payer.chat({}, keyed(value))).headers.get("idempotent-replayed")).toBe("true");
  });
});
