/** The same Idempotency-Key again: the same reply, one call, one receipt. */

import { beforeEach, describe, expect, test } from "bun:test";
import { OpenAI } from "openai";
import { chatJson, embeddingsReply, speechReplies } from "../../fake/recordings.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { clockAt, openPayer, type TestClock } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const day = (number: number, time = "12:00:00Z") => `2027-03-0${number}T${time}`;
const clock: TestClock = clockAt(day(1));
const gateway = useTestGateway({ clock });
beforeEach(() => {
  clock.set(day(1));
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
    const payer = await openPayer(gateway);
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
  const payer = await openPayer(gateway);
  gateway.upstream.replyOnce(chatJson());
  const body = requests["/chat/completions"];
  await (await payer.call("/chat/completions", body, keyed("blanks"))).json();
  const spaced = JSON.stringify({ ...body, stop: null }, undefined, 3);
  expect(isReplayed(await payer.call("/chat/completions", spaced, keyed("blanks")))).toBe("true");
});

test("means nothing to another API key, also of the same account", async () => {
  const payer = await openPayer(gateway);
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

test("calls anew without a key, and with a new one", async () => {
  const payer = await openPayer(gateway);
  gateway.upstream.replyWith(chatJson());
  for (const init of [keyed("first"), {}, keyed("second"), {}])
    expect(isReplayed(await payer.chat({}, init))).toBeNull();
  expect(gateway.upstream.requests.length).toBe(4);
  await payer.settled(4);
});

test("keeps a reply for 24 hours, and makes the call anew after them", async () => {
  const payer = await openPayer(gateway);
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
  const payer = await openPayer(gateway);
  gateway.upstream.replyOnce(chatJson());
  await (await payer.chat({}, keyed("kept"))).json();
  await gateway.server.operations.accounts.suspend({ account: payer.id });
  expect(await refusalOf(payer.chat({}, keyed("kept")))).toMatchObject({
    status: 402,
    code: "account_suspended",
  });
});

describe("the openai client", () => {
  class KeyedOpenAI extends OpenAI {
    // The library sends its option `idempotencyKey` under this name, and without one not at all.
    override idempotencyHeader = "Idempotency-Key";
  }
  const body = { model: "svc-3-flash", messages: [{ role: "user" as const, content: "Hi" }] };

  test("gets the same completion for the same idempotencyKey", async () => {
    const payer = await openPayer(gateway);
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
