/** Speech is 24 kHz, mono, 16 bit, or it is an error: never noise from an upstream's other format. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from "mediabunny";
import { httpReply, speechReplies, tone } from "../../fake/recordings.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const speak = (fields: object = {}) =>
  gateway.call("/audio/speech", {
    model: "svc-2.5-flash-tts",
    input: "Hello",
    voice: "Kore",
    ...fields,
  });

const audio = (type: string, start: string | Uint8Array) =>
  httpReply({
    headers: { "content-type": type },
    body: [Buffer.concat([Buffer.from(start), tone(0.1)])],
    framing: "chunked",
  });

describe("an upstream that sends other audio than it was asked for is a 502:", () => {
  const id3 = Uint8Array.of(0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 0);
  const mpegFrame = Uint8Array.of(0xff, 0xfb, 0x90, 0x64);
  const others: Readonly<Record<string, readonly [type: string, start: string | Uint8Array]>> = {
    "MP3, said so": ["audio/mpeg", id3],
    "MP3 without tags": ["audio/mpeg", mpegFrame],
    "MP3, said to be nothing in particular": ["application/octet-stream", id3],
    Opus: ["audio/ogg", "OggS\0\x02"],
    FLAC: ["audio/flac", "fLaC\0\0\0\x22"],
    AAC: ["audio/aac", Uint8Array.of(0xff, 0xf1, 0x50, 0x80)],
    "PCM of another rate": ["audio/pcm;rate=16000", ""],
    "PCM of two channels": ["audio/pcm; rate=24000; channels=2", ""],
  };
  for (const [name, [type, start]] of Object.entries(others))
    test(name, async () => {
      for (const response_format of ["wav", "pcm"]) {
        gateway.upstream.replyOnce(audio(type, start));
        expect(await refusalOf(speak({ response_format }))).toMatchObject({
          status: 502,
          code: "upstream_error",
        });
      }
    });
});

test("bare PCM is taken under every name that vendors have for it", async () => {
  for (const type of ["audio/pcm", "audio/pcm;rate=24000", "application/octet-stream"]) {
    gateway.upstream.replyOnce(audio(type, ""));
    const reply = await speak({ response_format: "pcm" });
    expect(Buffer.from(await reply.arrayBuffer()) as Buffer).toEqual(tone(0.1));
  }
});

test("half a sample at the end is left out: the header counts whole ones, and so does the body", async () => {
  const whole: Buffer = tone(0.5).subarray(0, -2);
  const withLength = httpReply({
    headers: { "content-type": "audio/pcm" },
    body: [tone(0.5).subarray(0, -1)],
    framing: "length",
  });
  for (const recording of [withLength, speechReplies.oddLength()]) {
    gateway.upstream.replyOnce(recording);
    const wav = await (await speak()).arrayBuffer();
    expect(wav.byteLength).toBe(44 + whole.length);
    expect(await samplesOf(wav)).toEqual(whole);
  }
});

async function samplesOf(wav: ArrayBuffer): Promise<Buffer> {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(wav) });
  const track = await input.getPrimaryAudioTrack();
  if (track === null) throw new Error("the parser found no audio");
  const pieces: Uint8Array[] = [];
  for await (const { data } of new EncodedPacketSink(track).packets()) pieces.push(data);
  return Buffer.concat(pieces);
}

test("text, voice and format are named in the refusal, each by itself", async () => {
  for (const [fields, param] of [
    [{ input: "x".repeat(5001) }, "input"],
    [{ voice: "alloy" }, "voice"],
    [{ voice: { id: "voice_1234" } }, "voice"],
    [{ voice: undefined }, "voice"],
    [{ response_format: "mp3" }, "response_format"],
  ] as const)
    expect(await refusalOf(speak(fields))).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      param,
    });
  gateway.upstream.replyOnce(speechReplies.pcmChunked());
  // A family is one character to the eye, and seven to the contract, which counts code points.
  const families = "👩‍👩‍👧‍👦".repeat(714);
  expect((await speak({ input: `${families}ab` })).status).toBe(200);
  expect(await refusalOf(speak({ input: `${families}abc` }))).toMatchObject({ param: "input" });
});
