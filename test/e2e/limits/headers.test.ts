/** Every reply to a caller with limits tells what is left of them, and what the client makes of it. */

import { beforeEach, describe, expect, test } from "bun:test";
import { OpenAI } from "openai";
import { usageOf } from "../../fake/openai/chat-json.ts";
import {
  chatJson,
  chatStreams,
  embeddingsReply,
  failures,
  speechReplies,
} from "../../fake/recordings.ts";
import { thrownBy } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import {
  clockAt,
  hello,
  openPayer,
  type Payer,
  type PayerOptions,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const clock = clockAt("2027-03-01T12:00:00Z");
const gateway = useTestGateway({ clock });

const limits = { rpm: "10", tpm: "100000" };
const names = ["limit", "remaining", "reset"].flatMap((word) =>
  ["requests", "tokens"].map((of) => `x-ratelimit-${word}-${of}`),
);
const toldBy = ({ headers }: Response) =>
  Object.fromEntries(names.map((name) => [name.slice("x-ratelimit-".length), headers.get(name)]));
const full = {
  "limit-requests": "10",
  "limit-tokens": "100000",
  "remaining-requests": "10",
  "remaining-tokens": "100000",
  "reset-requests": "0ms",
  "reset-tokens": "0ms",
};
/** After one request that used so many tokens. */
const afterOne = (tokens: number, reset: string) => ({
  ...full,
  "remaining-requests": "9",
  "reset-requests": "6s",
  "remaining-tokens": String(100_000 - tokens),
  "reset-tokens": reset,
});

let payer: Payer;
beforeEach(async () => {
  payer = await limited();
});

async function limited(options: PayerOptions = {}): Promise<Payer> {
  const payer = await openPayer(gateway, options);
  await gateway.server.operations.keys.setLimits({ id: payer.keyId, ...limits });
  return payer;
}

const get = (payer: Payer, path: string) => payer.call(path, undefined, { method: "GET" });
const speech = { model: "svc-2.5-flash-tts", input: "Hello", voice: "Kore" };

describe("told on", () => {
  test("a whole reply, as it is after it", async () => {
    gateway.upstream.replyOnce(chatJson({ usage: usageOf({ prompt: 900, completion: 100 }) }));
    expect(toldBy(await payer.chat())).toEqual(afterOne(1_000, "600ms"));
  });

  test("embeddings", async () => {
    gateway.upstream.replyOnce(embeddingsReply({ usage: { prompt_tokens: 5, total_tokens: 5 } }));
    const body = { model: "svc-embedding-2", input: ["a", "b", "c"] };
    expect(toldBy(await payer.call("/embeddings", body))).toEqual(afterOne(5, "3ms"));
  });

  test("a stream, by the estimate at its head; the truth counts from its end on", async () => {
    const usage = usageOf({ prompt: 900, completion: 100 });
    gateway.upstream.replyOnce(chatStreams.openai({ usage }));
    const response = await payer.chat({ stream: true, max_tokens: 477 });
    // A quarter of the bytes, and the answer's whole length.
    expect(toldBy(response)).toEqual(afterOne(23 + 477, "300ms"));
    await response.text();
    expect(toldBy(await get(payer, "/models"))).toEqual(afterOne(1_000, "600ms"));
  });

  test("speech", async () => {
    gateway.upstream.replyOnce(speechReplies.pcmChunked({ seconds: 4 }));
    const response = await payer.call("/audio/speech", speech);
    expect(toldBy(response)).toMatchObject({ "limit-tokens": "100000", "remaining-requests": "9" });
    await response.bytes();
    const { units } = await payer.receipt();
    const used = (units.input ?? 0) + (units.audio_output ?? 0);
    expect(units.audio_output).toBe(100);
    expect(toldBy(await get(payer, "/models"))).toMatchObject({
      "remaining-tokens": String(100_000 - used),
    });
  });

  test("the models, which use up nothing", async () => {
    for (const path of ["/models", "/models/svc-3-flash", "/models/nobody's"])
      expect(toldBy(await get(payer, path))).toEqual(full);
  });

  for (const [what, body, status] of [
    ["a request that is not valid", { temperature: 9 }, 400],
    ["a body that is no JSON", "{", 400],
    ["a model that is not allowed", { model: "nobody's" }, 403],
    ["the wrong endpoint", { model: "svc-embedding-2" }, 400],
  ] as const)
    test(`${what}: ${status}`, async () => {
      const sent = typeof body === "string" ? body : { ...hello, ...body };
      const response = await payer.call("/chat/completions", sent);
      expect(response.status).toBe(status);
      expect(toldBy(response)).toEqual(afterOne(0, "0ms"));
    });

  test("too little money: 402", async () => {
    const response = await (await limited({ credit: 1n })).chat();
    expect(response.status).toBe(402);
    expect(toldBy(response)).toEqual(afterOne(0, "0ms"));
  });

  test("a limit that is reached: 429", async () => {
    const usage = usageOf({ prompt: 90_000, completion: 10_000 });
    gateway.upstream.replyOnce(chatJson({ usage }));
    await (await payer.chat()).json();
    const response = await payer.chat();
    expect(response.status).toBe(429);
    expect(toldBy(response)).toEqual({
      ...afterOne(100_000, "1m0s"),
      "remaining-requests": "8",
      "reset-requests": "12s",
    });
  });

  test("an upstream that fails: 502", async () => {
    gateway.upstream.replyWith(failures.internal());
    const response = await payer.chat();
    expect(response.status).toBe(502);
    expect(toldBy(response)).toMatchObject({ "limit-requests": "10", "remaining-requests": "9" });
  });

  test("a reply that is given again, which uses up a request and no tokens", async () => {
    gateway.upstream.replyOnce(chatJson({ usage: usageOf({ prompt: 4, completion: 1 }) }));
    const headers = { "idempotency-key": "again" };
    await (await payer.chat({}, { headers })).json();
    const again = await payer.chat({}, { headers });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(toldBy(again)).toEqual({
      ...afterOne(5, "3ms"),
      "remaining-requests": "8",
      "reset-requests": "12s",
    });
  });
});

test("nothing is told to a key without limits, nor to who has no key", async () => {
  const payer = await openPayer(gateway);
  gateway.upstream.replyWith(chatJson());
  const { operations } = gateway.server;
  const unlimited = Object.fromEntries(Object.keys(full).map((name) => [name, null]));
  for (const call of [
    () => payer.chat(),
    () => payer.chat({ temperature: 9 }),
    () => get(payer, "/models"),
  ])
    expect(toldBy(await call())).toEqual(unlimited);
  // A budget and a number at a time are no rates.
  await operations.keys.setLimits({ id: payer.keyId, budget: "5", concurrency: "4" });
  expect(toldBy(await payer.chat())).toEqual(unlimited);
  const headers = { authorization: "Bearer sk-svc-nobodys" };
  expect(toldBy(await payer.chat({}, { headers }))).toEqual(unlimited);
});

describe("the openai client", () => {
  const body = { model: "svc-3-flash", messages: [{ role: "user" as const, content: "Hi" }] };

  /** The client, and the status of each reply that it got. */
  function watched(of: TestGateway, apiKey: string) {
    const replies: Response[] = [];
    const client = new OpenAI({
      baseURL: of.baseUrl,
      apiKey,
      maxRetries: 2,
      async fetch(input, init) {
        const reply = await fetch(input, init);
        replies.push(reply.clone());
        return reply;
      },
    });
    return { client, replies };
  }

  test("comes again when it was told to, and is let in then", async () => {
    // Time stands still until the refusal has come, however slow the machine is.
    const heard: { replies?: readonly Response[] } = {};
    const startMs = Date.now();
    const clock = {
      nowMs: () => startMs + (heard.replies?.some(({ status }) => status === 429) ? 1_000 : 0),
    };
    const live = await startTestGateway({ clock });
    try {
      const { id, key } = await live.server.operations.keys.create({ account: live.account });
      await live.server.operations.keys.setLimits({ id, tpm: "60000" });
      const { client, replies } = watched(live, key);
      heard.replies = replies;
      // A token a millisecond: all of the minute is used up, and a small request has a short wait.
      live.upstream.replyOnce(chatJson({ usage: usageOf({ prompt: 59_000, completion: 1_000 }) }));
      live.upstream.replyOnce(chatJson());
      await client.chat.completions.create(body);
      await client.chat.completions.create({ ...body, max_tokens: 200 });
      expect(replies.map(({ status }) => status)).toEqual([200, 429, 200]);
      const waitMs = Number(replies[1]?.headers.get("retry-after-ms"));
      expect(waitMs).toBeGreaterThan(0);
      expect(waitMs).toBeLessThanOrEqual(300);
    } finally {
      await live.stop();
    }
  });

  test("does not try again what can never be let in", async () => {
    const payer = await openPayer(gateway);
    await gateway.server.operations.keys.setLimits({ id: payer.keyId, tpm: "50" });
    const { client, replies } = watched(gateway, payer.key);
    const thrown = await thrownBy(client.chat.completions.create({ ...body, max_tokens: 100 }));
    expect(thrown.status).toBe(429);
    expect(replies.length).toBe(1);
  });
});
