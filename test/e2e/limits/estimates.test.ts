/** What a call counts for before anybody knows what it uses, and how an answer is made to fit. */

import { beforeEach, describe, expect, test } from "bun:test";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatJson, chatStreams, embeddingsReply, speechReplies } from "../../fake/recordings.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import {
  clockAt,
  heldCall,
  hello,
  helloMost,
  mostOf,
  openPayer,
  type Payer,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

// It stands still: what is waited for is exact.
const clock = clockAt("2027-03-01T12:00:00Z");
const gateway = useTestGateway({ clock });
const usual = chatJson({ usage: usageOf({ prompt: 19, completion: 10 }) });
beforeEach(() => gateway.upstream.replyWith(usual));

/** What the prompt of `hello` is thought to have: a token for four of the bytes it may be. */
const helloAbout = 23;

async function limited(tpm: number): Promise<Payer> {
  const payer = await openPayer(gateway);
  await gateway.server.operations.keys.setLimits({ id: payer.keyId, tpm: String(tpm) });
  return payer;
}

async function expectNever(call: Promise<Response>, tokens: number): Promise<void> {
  const asked = gateway.upstream.requests.length;
  const response = await call;
  const { status, code, message } = await refusalOf(response.clone());
  expect({ status, code }).toEqual({ status: 429, code: "rate_limit_exceeded" });
  expect(message).toContain(`needs about ${tokens.toLocaleString("en")} tokens`);
  expect(message).toContain("more than the key's limit of");
  const { headers } = response;
  expect(headers.get("x-should-retry")).toBe("false");
  expect([headers.get("retry-after"), headers.get("retry-after-ms")]).toEqual([null, null]);
  expect(gateway.upstream.requests.length).toBe(asked);
}

/** A 429 that may be tried again, and how long it is told to wait. */
async function waitOf(call: Promise<Response>): Promise<number> {
  const asked = gateway.upstream.requests.length;
  const response = await call;
  await expectRefusal(response.clone(), { status: 429, code: "rate_limit_exceeded" });
  expect(response.headers.get("x-should-retry")).toBeNull();
  expect(gateway.upstream.requests.length).toBe(asked);
  return Number(response.headers.get("retry-after-ms"));
}

async function served(call: Promise<Response>): Promise<Response> {
  const response = await call;
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  return response;
}

/** As a call that is refused for another reason is told. */
async function remaining(payer: Payer): Promise<number> {
  const refused = await payer.chat({ temperature: 9 });
  expect(refused.status).toBe(400);
  return Number(refused.headers.get("x-ratelimit-remaining-tokens"));
}

/** For so many tokens too many, at so many a minute. */
const wait = (tokens: number, tpm: number) => Math.ceil((tokens * 60_000) / tpm);

describe("a chat counts for", () => {
  test("the length that it names", async () => {
    const payer = await limited(helloAbout + 1_000);
    await expectNever(payer.chat({ max_tokens: 1_001 }), helloAbout + 1_001);
    await served(payer.chat({ max_tokens: 1_000 }));
  });

  test("that length as often as it asks for answers", async () => {
    const payer = await limited(1_000);
    await expectNever(payer.chat({ n: 8, max_tokens: 200 }), helloAbout + 1_600);
    await served(payer.chat({ n: 4, max_tokens: 200 }));
    const other = await limited(helloAbout + 1_000);
    await expectNever(other.chat({ n: 8, max_tokens: 126 }), helloAbout + 1_008);
    await served(other.chat({ n: 8, max_tokens: 125 }));
  });

  test("about a thousand an answer where it names none, until the truth is known", async () => {
    const payer = await limited(100_000);
    const call = await heldCall(gateway, () => payer.chat({ n: 3 }), usual);
    expect(await remaining(payer)).toBe(100_000 - helloAbout - 3 * 1_024);
    await served(call.answer());
    expect(await remaining(payer)).toBe(100_000 - 29);
  });

  test("no more than it may become where that is less", async () => {
    const payer = await limited(1_000);
    const call = await heldCall(gateway, () => payer.chat({ n: 2 }));
    expect(await remaining(payer)).toBe(1_000 - helloAbout - 2 * 488);
    await served(call.answer());
  });
});

describe("speech counts for its text and for about as long as it takes to say it", () => {
  const speech = { model: "svc-2.5-flash-tts", voice: "Kore", input: "a".repeat(600) };
  // 616 bytes with what is around, and 40 seconds at 25 tokens.
  const about = 154 + 1_000;
  const say = (payer: Payer, input = speech.input) =>
    payer.call("/audio/speech", { ...speech, input });

  beforeEach(() => gateway.upstream.replyWith(speechReplies.pcmWithLength()));

  test("and is refused where that is more than the limit", async () => {
    await expectNever(say(await limited(about - 1)), about);
    await served(say(await limited(about)));
    // Each of these is three bytes and one character.
    const wide = Math.ceil((3 * 600 + 16) / 4) + 1_000;
    await expectNever(say(await limited(wide - 1), "字".repeat(600)), wide);
  });

  test("then for what it used, which the next one waits for", async () => {
    const payer = await limited(2_000);
    gateway.upstream.replyOnce(speechReplies.pcmWithLength({ seconds: 40 }));
    await served(say(payer));
    const { input = 0, audio_output: audio } = (await payer.receipt()).units;
    expect(audio).toBe(1_000);
    expect(await remaining(payer)).toBe(1_000 - input);
    expect(await waitOf(say(payer))).toBe(wait(1_000 + input + about - 2_000, 2_000));
  });
});

describe("embeddings count for", () => {
  const model = "svc-embedding-2";
  const embed = (payer: Payer, input: unknown) => payer.call("/embeddings", { model, input });
  const reply = (tokens: number) =>
    embeddingsReply({ vectors: [[1]], usage: { prompt_tokens: tokens, total_tokens: tokens } });
  const text = "a".repeat(4_000);
  const about = 1_002;

  beforeEach(() => gateway.upstream.replyWith(reply(900)));

  test("a token for four of the bytes that their texts have", async () => {
    await expectNever(embed(await limited(about - 1), text), about);
    await served(embed(await limited(about), text));
    gateway.upstream.replyWith(embeddingsReply({ vectors: [[1], [1]] }));
    await expectNever(embed(await limited(2 * about - 1), [text, text]), 2 * about);
    await served(embed(await limited(2 * about), [text, text]));
  });

  test("each of the tokens that they are sent as", async () => {
    const ids = [Array.from({ length: 500 }, (_, at) => at)];
    await expectNever(embed(await limited(507), ids), 508);
    await served(embed(await limited(508), ids));
  });

  test("what they used from then on, which the next one waits for", async () => {
    const payer = await limited(1_500);
    await served(embed(payer, text));
    expect(await remaining(payer)).toBe(600);
    expect(await waitOf(embed(payer, text))).toBe(wait(900 + about - 1_500, 1_500));
  });
});

describe("an answer whose length nobody names is made to fit", () => {
  const told = ({ headers }: Response) => headers.get("x-svc-max-tokens");
  const capsSent = () =>
    gateway.upstream.requests.map(({ json }) => (json as { max_tokens?: number }).max_tokens);

  for (const { tpm, n, cap } of [
    { tpm: 500, n: 1, cap: 477 },
    { tpm: 500, n: 2, cap: 238 },
    { tpm: 501, n: 3, cap: 159 },
    { tpm: 8_214, n: 1, cap: 8_191 },
  ])
    test(`${n} of them in ${tpm} tokens a minute`, async () => {
      expect(helloAbout).toBe(Math.ceil(helloMost / 4));
      const payer = await limited(tpm);
      expect(told(await served(payer.chat({ n })))).toBe(String(cap));
      expect(capsSent()).toEqual([cap]);
    });

  test("unless there is not a token for each", async () => {
    await expectNever((await limited(30)).chat({ n: 8 }), helloAbout + 8);
    await served((await limited(31)).chat({ n: 8 }));
    expect(capsSent()).toEqual([1]);
  });

  test("beside a prompt that takes most of the limit", async () => {
    const messages = [{ role: "user", content: "long ".repeat(300) }];
    const about = Math.ceil(mostOf({ ...hello, messages }) / 4);
    expect(about).toBe(395);
    const payer = await limited(501);
    expect(told(await served(payer.chat({ messages, n: 2 })))).toBe("53");
    expect(capsSent()).toEqual([53]);
  });

  test("of the account's limit, where it is the lower one", async () => {
    const payer = await limited(5_000);
    const { operations } = gateway.server;
    await operations.accounts.setLimits({ account: payer.id, tpm: "123" });
    expect(told(await served(payer.chat()))).toBe("100");
    expect(capsSent()).toEqual([100]);
  });

  test("in a stream, too", async () => {
    const payer = await limited(123);
    gateway.upstream.replyOnce(chatStreams.openai());
    const response = await payer.chat({ stream: true });
    expect(told(response)).toBe("100");
    await new BodyReader(response).rest();
    expect(capsSent()).toEqual([100]);
  });

  test("of a model that costs nothing and has no longest answer", async () => {
    const payer = await limited(123);
    expect(told(await served(payer.chat({ model: "svc-2-flash" })))).toBe("100");
    expect(capsSent()).toEqual([100]);
  });

  test("but not where the whole of it fits", async () => {
    const payer = await limited(helloAbout + 8_192);
    expect(told(await served(payer.chat()))).toBeNull();
    expect(capsSent()).toEqual([8_192]);
  });

  test("and one whose length is named keeps it", async () => {
    for (const field of ["max_tokens", "max_completion_tokens"]) {
      const payer = await limited(500);
      expect(told(await served(payer.chat({ [field]: 477 })))).toBeNull();
      const other = await limited(500);
      expect(told(await served(other.chat({ [field]: 9 })))).toBeNull();
      await expectNever((await limited(500)).chat({ [field]: 478 }), 501);
    }
    expect(capsSent()).toEqual([477, 9, 477, 9]);
  });
});
