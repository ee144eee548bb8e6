/** Embeddings and speech: exact charges by token, image, second of video and second of audio. */

import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { embeddingsReply, httpReply, speechReplies, tone } from "../../fake/recordings.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { refusalOf } from "../../replies/refusal.ts";
import {
  countTokens,
  flashTts,
  moneyManifest,
  openPayer,
  type Payer,
  warmCounter,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: moneyManifest });
let payer: Payer;
beforeAll(() => warmCounter(gateway));
beforeEach(async () => {
  payer = await openPayer(gateway);
});

const base64Of = (name: string) => Buffer.from(fixtureBytes(name)).toString("base64");
const png = `data:image/png;base64,${base64Of("tiny.png")}`;

function oneVectorEach(request: RecordedRequest) {
  const { input } = request.json as { readonly input: unknown };
  const count = Array.isArray(input) ? input.length : 1;
  return embeddingsReply({ vectors: Array.from({ length: count }, () => [0.5]) });
}

describe("embeddings", () => {
  beforeEach(() => gateway.upstream.replyWith(oneVectorEach));

  async function embed(model: string, input: unknown) {
    const response = await payer.call("/embeddings", { model, input });
    expect(response.status).toBe(200);
    const { usage } = (await response.json()) as { readonly usage: unknown };
    const { hold, charged, units, estimated } = await payer.receipt();
    return { usage, hold, charged, units, estimated };
  }

  test("of texts cost what the upstream counted, and hold a token a byte and eight a text", async () => {
    const texts = ["a river", "Zürich", "的"];
    const { charged, hold, units, estimated } = await embed("svc-embedding-2", texts);
    expect({ charged, estimated, tokens: units.input }).toEqual({
      charged: 9n * 20n,
      estimated: false,
      tokens: 9,
    });
    expect(hold).toBe(BigInt(7 + 7 + 3 + 3 * 8) * 20n);
  });

  test("of token ids hold a token each and eight a list", async () => {
    const { charged, hold } = await embed("svc-embedding-2", [[1, 2, 3], [4]]);
    expect({ charged, hold }).toEqual({ charged: 9n * 20n, hold: 20n * 20n });
  });

  const media = "multimodal-embedding-1";
  test("of images cost by the image, whatever the upstream counts", async () => {
    const { charged, hold, usage, units } = await embed(media, [png, png, png]);
    expect({ charged, hold }).toEqual({ charged: 300_000n, hold: 300_000n });
    expect(units).toMatchObject({ image: 3, input: 0 });
    expect(usage).toEqual({ prompt_tokens: 0, total_tokens: 0, images: 3 });
  });

  for (const [file, seconds] of [
    ["h264-1s.mp4", 1],
    ["h264-3s.mp4", 3],
    ["h264-6s-ntsc.mp4", 6],
  ] as const)
    test(`of a video (${file}) cost ${seconds} whole seconds`, async () => {
      const video = { video: { bytesBase64Encoded: base64Of(file) } };
      const { charged, hold, usage, units, estimated } = await embed(media, video);
      const cost = BigInt(seconds) * 500_000n;
      expect({ charged, hold, estimated }).toEqual({ charged: cost, hold: cost, estimated: false });
      expect(units.video_second).toBe(seconds);
      expect(usage).toEqual({ prompt_tokens: 0, total_tokens: 0, video_seconds: seconds });
    });

  test("that are refused for what they are cost nothing and leave no receipt", async () => {
    const body = { model: media, input: [png, "data:image/png;base64,AAAA"] };
    expect((await refusalOf(payer.call("/embeddings", body))).status).toBe(400);
    expect(await payer.settled(0)).toEqual([]);
  });
});

describe("speech", () => {
  const text = "Hello there, how are you today? 你好";
  const characters = 34;
  const speak = (fields: object = {}) =>
    payer.call("/audio/speech", {
      model: "svc-2.5-flash-tts",
      input: text,
      voice: "Kore",
      response_format: "pcm",
      ...fields,
    });
  const inputCost = BigInt(countTokens(text)) * flashTts.input;

  for (const [seconds, tokens] of [
    [0.5, 13],
    [1, 25],
    [1.01, 26],
    [2, 50],
  ] as const)
    test(`of ${seconds} s costs its text and ${tokens} audio tokens`, async () => {
      gateway.upstream.replyOnce(speechReplies.pcmChunked({ seconds }));
      const audio = await (await speak()).bytes();
      expect(audio.length).toBe(tone(seconds).length);
      const { charged, hold, units, outcome, firstByteMs } = await payer.receipt();
      expect(units).toMatchObject({ input: countTokens(text), audio_output: tokens });
      expect(charged).toBe(inputCost + BigInt(tokens) * flashTts.audio);
      expect([...text].length).toBe(characters);
      // Ten seconds and a quarter for each character: 18.5, rounded up.
      const most = BigInt(Buffer.byteLength(text) + 16) * flashTts.input + 475n * flashTts.audio;
      expect(hold).toBe(most);
      expect(outcome).toBe("ok");
      expect(firstByteMs).toBeNumber();
    });

  test("as WAV does not cost its header", async () => {
    gateway.upstream.replyOnce(speechReplies.pcmWithLength({ seconds: 1 }));
    const audio = await (await speak({ response_format: "wav" })).bytes();
    expect(audio.length).toBe(44 + 48_000);
    expect((await payer.receipt()).charged).toBe(inputCost + 25n * flashTts.audio);
  });

  test("that is exactly as long as it may be is whole", async () => {
    gateway.upstream.replyOnce(speechReplies.pcmChunked({ seconds: 1 }));
    const audio = await (await speak({ model: "short-tts" })).bytes();
    expect(audio.length).toBe(48_000);
    const { charged, hold } = await payer.receipt();
    expect(charged).toBe(inputCost + 25n * flashTts.audio);
    expect(hold).toBe(BigInt(Buffer.byteLength(text) + 16) * flashTts.input + 25n * flashTts.audio);
  });

  test("that becomes longer than it may is broken off, and costs what was delivered", async () => {
    const audio = tone(2);
    const { head, parts } = httpReply({
      headers: { "content-type": "audio/pcm" },
      body: [audio.subarray(0, 40_000), audio.subarray(40_000)],
      framing: "chunked",
    });
    const seen = Promise.withResolvers<void>();
    const arrived = gateway.upstream.nextRequest();
    gateway.upstream.replyOnce([
      { send: Buffer.concat([head, ...parts.slice(0, 1)]) },
      { until: seen.promise },
      { send: Buffer.concat(parts.slice(1)) },
      { hang: true },
    ]);
    const reader = (await speak({ model: "short-tts" })).body?.getReader();
    let sizeBytes = 0;
    while (sizeBytes < 40_000) sizeBytes += (await reader?.read())?.value?.length ?? 0;
    seen.resolve();
    for (;;) {
      const piece = await reader?.read().catch(() => "broken off" as const);
      if (piece === "broken off") break;
      if (piece?.value === undefined) throw new Error("it ended as if it were whole");
      sizeBytes += piece.value.length;
    }
    expect(sizeBytes).toBeLessThanOrEqual(48_000);
    const { outcome, units, charged } = await payer.receipt();
    const tokens = Math.ceil((sizeBytes * 25) / 48_000);
    expect({ outcome, tokens: units.audio_output }).toEqual({ outcome: "upstream_error", tokens });
    expect(charged).toBe(inputCost + BigInt(tokens) * flashTts.audio);
    const request = await arrived;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  });

  test("that comes too long all at once costs no more than the longest that it may be", async () => {
    const { bytes } = httpReply({
      headers: { "content-type": "audio/pcm" },
      body: [tone(2)],
      framing: "chunked",
    });
    gateway.upstream.replyOnce(bytes);
    // The line may be broken off before the head of the reply is through.
    const response = await speak({ model: "short-tts" }).catch(() => undefined);
    const reader = response?.body?.getReader();
    let sizeBytes = 0;
    for (;;) {
      const piece = await reader?.read().catch(() => undefined);
      if (piece?.value === undefined) break;
      sizeBytes += piece.value.length;
    }
    // What had gone out when the line was broken off may have been lost on its way.
    const { units } = await payer.receipt();
    expect(units.audio_output ?? 0).toBeGreaterThanOrEqual(Math.ceil((sizeBytes * 25) / 48_000));
    expect(units.audio_output ?? 0).toBeLessThanOrEqual(25);
  });
});
