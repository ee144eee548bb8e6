/** POST /v1/audio/transcriptions: what callers send, what upstreams get, what it costs. */

import { beforeEach, describe, expect, test } from "bun:test";
import { toFile } from "openai";
import { failures, TRANSCRIPT, transcriptionReplies } from "../../fake/recordings.ts";
import { cutAfter, pausedAfter } from "../../fake/script.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { replyProblems } from "../../replies/conformance.ts";
import { expectRefusal, refusalOf, thrownBy } from "../../replies/refusal.ts";
import { openPayer, type Payer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";
import { type FormFields, formOf, speechFile } from "./form.ts";

const price = 'price: { audio_second: "0.0001" }';
/** Nano-USD. */
const perSecond = 100_000n;
const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  openai: { kind: openai, vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  whisper: { endpoint: transcription, ${price}, routes: [{ provider: fake, model: whisper-1 }] }
  plain: { endpoint: transcription, ${price}, routes: [{ provider: openai, model: gpt-4o-mini-transcribe }] }
  both: { endpoint: transcription, ${price}, routes: [{ provider: openai, model: gpt-4o-mini-transcribe, priority: 1 }, { provider: fake, model: whisper-1, priority: 2 }] }
  chat: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: fake, model: c }] }
`;

const gateway = useTestGateway({ manifest });
let payer: Payer;
beforeEach(async () => {
  gateway.upstream.replyWith(transcriptionReplies.asAsked);
  payer = await openPayer(gateway);
});

const send = async (fields: FormFields, init: RequestInit = {}) => {
  const response = await fetch(`${gateway.baseUrl}/audio/transcriptions`, {
    method: "POST",
    ...init,
    body: formOf({ model: "whisper", file: speechFile(), ...fields }),
    headers: { authorization: `Bearer ${payer.key}`, ...init.headers },
  });
  expect(await replyProblems("/audio/transcriptions", response)).toEqual([]);
  return response;
};

describe("formats", () => {
  test("json, text, srt, vtt and verbose_json", async () => {
    expect(await (await send({})).json()).toEqual({
      text: TRANSCRIPT,
      usage: { type: "duration", seconds: 4 },
    });
    const text = await send({ response_format: "text" });
    expect(text.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await text.text()).toBe(`${TRANSCRIPT}\n`);
    expect(await (await send({ response_format: "srt" })).text()).toBe(
      "1\n00:00:00,000 --> 00:00:02,500\nThe quick brown fox.\n\n2\n00:00:02,500 --> 00:00:03,980\nThen it sleeps.\n",
    );
    expect(await (await send({ response_format: "vtt" })).text()).toBe(
      "WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nThe quick brown fox.\n\n00:00:02.500 --> 00:00:03.980\nThen it sleeps.\n",
    );
    expect(await (await send({ response_format: "verbose_json" })).json()).toMatchObject({
      task: "transcribe",
      language: "english",
      duration: 3.98,
      segments: [{ id: 0, start: 0, end: 2.5, avg_logprob: -0.25 }, { id: 1 }],
    });
  });

  test("words only where they are asked for, and segments unless only words are", async () => {
    const verbose = { response_format: "verbose_json" };
    const words = await (await send({ ...verbose, "timestamp_granularities[]": "word" })).json();
    expect(words).toMatchObject({
      words: [{ word: "The", start: 0, end: 0.25 }, { word: "quick" }],
    });
    expect(words).not.toHaveProperty("segments");
    const both = await send({ ...verbose, "timestamp_granularities[]": ["word", "segment"] });
    expect(await both.json()).toMatchObject({ words: [{}, {}], segments: [{}, {}] });
    expect(await (await send(verbose)).json()).not.toHaveProperty("words");
  });

  test("the SDK reads every one of them", async () => {
    const { transcriptions } = gateway.client().audio;
    const file = () => toFile(fixtureBytes("speech.flac"), "speech.flac");
    const ask = { model: "whisper" };
    const json = await transcriptions.create({ ...ask, file: await file() });
    expect(json.text).toBe(TRANSCRIPT);
    const verbose = await transcriptions.create({
      ...ask,
      file: await file(),
      response_format: "verbose_json",
      timestamp_granularities: ["word", "segment"],
    });
    expect([verbose.segments?.length, verbose.words?.length]).toEqual([2, 2]);
    for (const response_format of ["text", "srt", "vtt"] as const)
      expect(
        await transcriptions.create({ ...ask, file: await file(), response_format }),
      ).toContain("The quick brown fox.");
    const stream = await transcriptions.create({ ...ask, file: await file(), stream: true });
    let text = "";
    const types = new Set<string>();
    for await (const event of stream) {
      types.add(event.type);
      if (event.type === "transcript.text.delta") text += event.delta;
      if (event.type === "transcript.text.done") expect(event.text).toBe(TRANSCRIPT);
    }
    expect(text).toBe(TRANSCRIPT);
    expect([...types]).toEqual(["transcript.text.delta", "transcript.text.done"]);
    const failed = await thrownBy(
      transcriptions.create({ ...ask, file: await toFile(Buffer.from("no audio"), "a.wav") }),
    );
    expect(failed).toMatchObject({ status: 400, param: "file" });
  });
});

describe("upstreams", () => {
  test("get the file and the fields as they are, and nothing else", async () => {
    const asked = gateway.upstream.nextRequest();
    await send({ language: "en", prompt: 'A "fox"\r\nand a dog', temperature: "0.5", user: "me" });
    const { body, bytes, headers, path: asPath } = await asked;
    expect(asPath).toBe("/v1/audio/transcriptions");
    expect(headers["authorization"]).toBe("Bearer vendor-secret");
    expect(bytes.indexOf(fixtureBytes("speech.wav"))).toBeGreaterThan(0);
    expect([...body.matchAll(/; name="([^"]+)"/g)].map(([, name]) => name)).toEqual([
      "model",
      "response_format",
      "language",
      "prompt",
      "temperature",
      "file",
    ]);
    for (const value of ["whisper-1", "json", "en", 'A "fox"\r\nand a dog', "0.5"])
      expect(body).toContain(`\r\n\r\n${value}\r\n`);
    expect(body).toContain('filename="audio.wav"\r\nContent-Type: audio/wav');
  });

  test("that stream chunks of a chat, or do not stream, are streamed all the same", async () => {
    for (const reply of [transcriptionReplies.chunks(), transcriptionReplies.json()]) {
      gateway.upstream.replyWith(reply);
      const text = await (await send({ stream: "true" })).text();
      expect(text).toEndWith(
        `data: {"type":"transcript.text.done","text":"${TRANSCRIPT}","usage":{"type":"duration","seconds":4}}\n\n`,
      );
    }
  });

  test("without timestamps are not asked for them", async () => {
    for (const response_format of ["srt", "vtt", "verbose_json"]) {
      const refused = await expectRefusal(send({ model: "plain", response_format }), {
        status: 400,
        param: "response_format",
      });
      expect(refused.message).toContain("json or text for plain");
    }
    expect(gateway.upstream.requests).toHaveLength(0);
    const asked = gateway.upstream.nextRequest();
    expect((await send({ model: "both", response_format: "srt" })).status).toBe(200);
    expect((await asked).body).toContain("whisper-1");
    // One that nobody knew of shows it by its reply.
    gateway.upstream.replyWith(transcriptionReplies.json());
    await expectRefusal(send({ response_format: "vtt" }), {
      status: 400,
      param: "response_format",
    });
  });

  test("that fail give their status, and nothing is charged", async () => {
    gateway.upstream.replyWith(failures.internal());
    expect((await refusalOf(send({}))).status).toBe(502);
    expect((await refusalOf(send({ stream: "true" }))).status).toBe(502);
    gateway.upstream.replyWith(
      cutAfter({ recording: transcriptionReplies.stream(), parts: 2, by: "reset" }),
    );
    const broken = await (await send({ stream: "true" })).text();
    expect(broken).toContain("transcript.text.delta");
    expect(broken).toContain('data: {"error":');
    expect(broken).not.toContain("transcript.text.done");
    const receipts = await payer.settled(3);
    expect(receipts.map(({ charged }) => charged)).toEqual([0n, 0n, 0n]);
  });
});

describe("money", () => {
  test("the hold is the charge: seconds as measured, rounded up", async () => {
    for (const [name, seconds] of [
      ["speech.wav", 4],
      ["speech-cbr.mp3", 5],
      ["speech.flac", 4],
      ["speech-vorbis.ogg", 4],
      ["speech-opus.ogg", 4],
      ["speech.m4a", 5],
      ["speech-opus.webm", 4],
      ["sine-24khz-list-chunk.wav", 1],
    ] as const) {
      const own = await openPayer(gateway);
      const response = await send(
        { file: new File([fixtureBytes(name)], "whatever.bin") },
        { headers: { authorization: `Bearer ${own.key}` } },
      );
      expect(await response.json()).toMatchObject({ usage: { seconds } });
      const receipt = await own.receipt();
      const cost = BigInt(seconds) * perSecond;
      expect(receipt).toMatchObject({ hold: cost, cost, charged: cost, outcome: "ok" });
      expect(receipt.units.audio_second).toBe(seconds);
      expect(receipt.terms?.hold.audioSeconds).toBe(seconds);
    }
  });

  test("a stream costs the same, and so does one that the caller leaves", async () => {
    await (await send({ stream: "true" })).text();
    const recording = transcriptionReplies.stream();
    const never = new Promise<void>(() => {});
    gateway.upstream.replyWith(pausedAfter({ recording, parts: 2, until: never }));
    const leaving = new AbortController();
    const left = await send({ stream: "true" }, { signal: leaving.signal });
    await left.body?.getReader().read();
    leaving.abort();
    const receipts = await payer.settled(2);
    expect(receipts.map(({ charged, outcome }) => [charged, outcome])).toEqual([
      [4n * perSecond, "ok"],
      [4n * perSecond, "left"],
    ]);
  });

  test("what is not covered is refused before an upstream is asked", async () => {
    const poor = await openPayer(gateway, { credit: 4n * perSecond - 1n });
    const headers = { authorization: `Bearer ${poor.key}` };
    await expectRefusal(send({}, { headers }), { status: 402, code: "insufficient_quota" });
    expect(gateway.upstream.requests).toHaveLength(0);
    const exact = await openPayer(gateway, { credit: 4n * perSecond });
    const response = await send({}, { headers: { authorization: `Bearer ${exact.key}` } });
    expect(response.status).toBe(200);
    expect((await exact.standing()).balance).toBe(0n);
  });

  test("the same Idempotency-Key is served once, whatever the boundary", async () => {
    const headers = { "idempotency-key": "one", authorization: `Bearer ${payer.key}` };
    for (const fields of [{}, { response_format: "srt" }, { stream: "true" }]) {
      const key = { ...headers, "idempotency-key": JSON.stringify(fields).replace(/\W/g, "-") };
      const first = await send(fields, { headers: key });
      const again = await send(fields, { headers: key });
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
      expect(await again.text()).toBe(await first.text());
      const other = { ...fields, file: new File([fixtureBytes("speech.flac")], "a.flac") };
      await expectRefusal(send(other, { headers: key }), { code: "idempotency_key_reused" });
    }
    expect(gateway.upstream.requests).toHaveLength(3);
    expect(await payer.settled(3)).toHaveLength(3);
  });
});
