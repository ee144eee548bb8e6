/** Speech beyond text and voice: speed, instructions, and audio as events. */

import { beforeEach, describe, expect, test } from "bun:test";
import { failures, speechReplies, tone } from "../../fake/recordings.ts";
import { cutAfter, pausedAfter } from "../../fake/script.ts";
import { expectRefusal } from "../../replies/refusal.ts";
import { countTokens, flashTts, openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const voices = "voices: same";
const price = 'price: { input: "0.50", audio_output: 10 }';
const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  groq: { kind: openai, vendor: groq, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  openai: { kind: openai, vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  google: { kind: gemini, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  svc-2.5-flash-tts: { endpoint: speech, ${price}, routes: [{ provider: fake, model: upstream-tts, ${voices} }] }
  both: { endpoint: speech, ${price}, routes: [{ provider: google, model: g, priority: 1, ${voices} }, { provider: fake, model: upstream-tts, priority: 2, ${voices} }] }
  google-tts: { endpoint: speech, ${price}, routes: [{ provider: google, model: g, ${voices} }] }
  on-groq: { endpoint: speech, ${price}, routes: [{ provider: groq, model: orpheus, ${voices} }] }
  older: { endpoint: speech, ${price}, routes: [{ provider: openai, model: tts-1-hd, ${voices} }] }
  newer: { endpoint: speech, ${price}, routes: [{ provider: openai, model: gpt-4o-mini-tts, ${voices} }] }
  bounded: { endpoint: speech, max_audio_seconds: 20, ${price}, routes: [{ provider: fake, model: upstream-tts, ${voices} }] }
`;
const pcm = tone(0.5);
const hello = { model: "svc-2.5-flash-tts", input: "Hello", voice: "Kore" };

const gateway = useTestGateway({ manifest });
beforeEach(() => gateway.upstream.replyWith(speechReplies.pcmChunked()));

const speak = (fields: object = {}, init: RequestInit = {}) =>
  gateway.call("/audio/speech", { ...hello, ...fields }, init);

/** What each event says; everything in the text must be a comment or an event of one line. */
function eventsIn(text: string): readonly Record<string, unknown>[] {
  expect(text).toEndWith("\n\n");
  return text
    .split("\n\n")
    .slice(0, -1)
    .filter((event) => !event.startsWith(":"))
    .map((event) => {
      expect(event).toStartWith("data: {");
      expect(event).not.toContain("\n");
      return JSON.parse(event.slice("data: ".length));
    });
}

const audioOf = (events: readonly Record<string, unknown>[]) =>
  Buffer.concat(
    events.flatMap(({ audio }) =>
      typeof audio === "string" ? [Buffer.from(audio, "base64")] : [],
    ),
  );

describe("speed and instructions", () => {
  test("go to a target that takes them", async () => {
    const instructions = "Speak like a pirate.";
    for (const speed of [0.25, 1.5, 4]) {
      expect((await speak({ speed, instructions })).status).toBe(200);
      expect(gateway.upstream.requests.at(-1)?.json).toEqual({
        model: "upstream-tts",
        input: "Hello",
        voice: "Kore",
        response_format: "pcm",
        speed,
        instructions,
      });
    }
  });

  test("are 400 where no target of the model takes them, and cost nothing", async () => {
    for (const [field, value] of [
      ["speed", 2],
      ["instructions", "whisper"],
    ] as const) {
      const refusal = await expectRefusal(speak({ model: "google-tts", [field]: value }), {
        status: 400,
        code: "invalid_request",
        param: field,
      });
      expect(refusal.message).toStartWith(`${field} `);
    }
    expect(gateway.upstream.requests).toBeEmpty();
  });

  test("are taken as the vendor says of its models", async () => {
    for (const model of ["on-groq", "older"]) {
      await expectRefusal(speak({ model, instructions: "whisper" }), {
        status: 400,
        param: "instructions",
      });
      expect((await speak({ model, speed: 2 })).status).toBe(200);
    }
    expect((await speak({ model: "newer", speed: 2, instructions: "whisper" })).status).toBe(200);
    expect(gateway.upstream.requests).toHaveLength(3);
  });

  test("leave out the targets that would ignore them", async () => {
    await (await speak({ model: "both", speed: 2 })).arrayBuffer();
    expect(gateway.upstream.requests.map(({ path }) => path)).toEqual(["/v1/audio/speech"]);
  });

  test("that are longer than may be, or no text, are refused by name", async () => {
    for (const instructions of ["x".repeat(4097), "\ud800"])
      await expectRefusal(speak({ instructions }), { status: 400, param: "instructions" });
    expect(gateway.upstream.requests).toBeEmpty();
  });

  test("are held and charged: instructions as text, slow speech as long audio", async () => {
    const payer = await openPayer(gateway);
    const instructions = "Speak slowly and clearly, as to a child.";
    // At a quarter of the speed, five characters may take up to 45 seconds, not 12.
    gateway.upstream.replyWith(speechReplies.pcmChunked({ seconds: 40, partBytes: 100_000 }));
    const reply = await payer.call("/audio/speech", { ...hello, speed: 0.25, instructions });
    expect((await reply.arrayBuffer()).byteLength).toBe(40 * 48_000 + 44);
    const receipt = await payer.receipt();
    const input = countTokens(hello.input) + countTokens(instructions);
    expect(receipt.units).toMatchObject({ input, output: 0, audio_output: 1000 });
    expect(receipt.charged).toBe(BigInt(input) * flashTts.input + 1000n * flashTts.audio);
    expect(receipt.cost).toBe(receipt.charged);
  });

  test("do not make speech longer than the model's own maximum", async () => {
    gateway.upstream.replyWith(speechReplies.pcmChunked({ seconds: 21, partBytes: 100_000 }));
    const reply = await speak({ model: "bounded", speed: 0.25 });
    expect(await reply.arrayBuffer().catch(() => "broken off")).toBe("broken off");
  });
});

describe("stream_format sse", () => {
  test("is events of base64 audio, the last one with the usage", async () => {
    for (const response_format of ["pcm", "wav"] as const) {
      const reply = await speak({ stream_format: "sse", response_format });
      expect(reply.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
      const events = eventsIn(await reply.text());
      expect(events.length).toBeGreaterThanOrEqual(2);
      for (const event of events.slice(0, -1)) {
        expect(event).toEqual({ type: "speech.audio.delta", audio: expect.any(String) });
        expect(event["audio"]).not.toBe("");
      }
      const input = countTokens("Hello");
      expect(events.at(-1)).toEqual({
        type: "speech.audio.done",
        usage: { input_tokens: input, output_tokens: 13, total_tokens: input + 13 },
      });
      // Together the pieces are the file that the other format sends.
      const whole = Buffer.from(await (await speak({ response_format })).arrayBuffer());
      expect(audioOf(events)).toEqual(whole);
      expect(audioOf(events).subarray(-pcm.length).equals(pcm)).toBe(true);
    }
  });

  test("sends a piece as soon as the upstream does", async () => {
    const rest = Promise.withResolvers<void>();
    const recording = speechReplies.pcmChunked();
    gateway.upstream.replyWith(pausedAfter({ recording, parts: 1, until: rest.promise }));
    const reply = await speak({ stream_format: "sse", response_format: "pcm" });
    const reader = reply.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    expect(audioOf(eventsIn(first)).length).toBeGreaterThan(0);
    rest.resolve();
    while (!(await reader?.read())?.done);
  });

  test("has pieces of bounded size, however the upstream sends them", async () => {
    const payload = speechReplies.pcmWithLength({ seconds: 12, partBytes: 10_000_000 });
    gateway.upstream.replyWith(payload);
    const events = eventsIn(await (await speak({ stream_format: "sse" })).text());
    for (const { audio } of events) expect(String(audio ?? "").length).toBeLessThan(400_000);
    expect(audioOf(events).length).toBe(12 * 48_000 + 44);
  });

  test("ends with an error event and no done event when the upstream dies", async () => {
    const seen = Promise.withResolvers<void>();
    const recording = speechReplies.pcmWithLength();
    gateway.upstream.replyWith(cutAfter({ recording, parts: 2, by: "close", until: seen.promise }));
    const reply = await speak({ stream_format: "sse" });
    expect(reply.status).toBe(200);
    seen.resolve();
    const events = eventsIn(await reply.text());
    expect(events.at(-1)).toMatchObject({ error: { type: "upstream_error" } });
    expect(events.some(({ type }) => type === "speech.audio.done")).toBe(false);
  });

  test("that fails before the first sound has its real status", async () => {
    gateway.upstream.replyWith(failures.internal());
    await expectRefusal(speak({ stream_format: "sse" }), { status: 502 });
  });

  test("has one receipt, and the same price as plain audio", async () => {
    const payer = await openPayer(gateway);
    const events = await payer.call("/audio/speech", { ...hello, stream_format: "sse" });
    await events.text();
    const plain = await payer.call("/audio/speech", hello);
    await plain.arrayBuffer();
    const [one, other] = await payer.settled(2);
    expect(one?.units).toEqual(other?.units ?? {});
    expect(one?.charged).toBe(other?.charged ?? 0n);
  });

  test("is repeated as it was under an Idempotency-Key", async () => {
    const headers = { "idempotency-key": "speech-events-1" };
    const first = await speak({ stream_format: "sse" }, { headers });
    const text = await first.text();
    const again = await speak({ stream_format: "sse" }, { headers });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(await again.text()).toBe(text);
    expect(gateway.upstream.requests).toHaveLength(1);
  });
});
