/** What POST /v1/audio/speech accepts, and the audio that callers get: WAV or PCM, as it comes. */

import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import {
  ALL_FORMATS,
  BufferSource,
  EncodedPacketSink,
  Input,
} from "../../../engine/test/mediabunny.ts";
import { httpReply, speechReplies, tone } from "../../fake/recordings.ts";
import { cutAfter, pausedAfter } from "../../fake/script.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { expectRefusal, thrownBy } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const flash = "svc-2.5-flash-tts";
const pcm = tone(0.5);

const gateway = useTestGateway();

const speak = (fields: object = {}, init: RequestInit = {}) =>
  gateway.call("/audio/speech", { model: flash, input: "Hello", voice: "Kore", ...fields }, init);

/** Reads a canonical header field by field, sharing no code with the gateway. */
function parseWav(bytes: Uint8Array) {
  const buffer = Buffer.from(bytes);
  const samples: Buffer = buffer.subarray(44);
  const name = (at: number) => buffer.toString("latin1", at, at + 4);
  return {
    names: [name(0), name(8), name(12), name(36)],
    riffBytes: buffer.readUInt32LE(4),
    formatBytes: buffer.readUInt32LE(16),
    format: buffer.readUInt16LE(20),
    channels: buffer.readUInt16LE(22),
    sampleRate: buffer.readUInt32LE(24),
    bytesPerSecond: buffer.readUInt32LE(28),
    frameBytes: buffer.readUInt16LE(32),
    bitsPerSample: buffer.readUInt16LE(34),
    dataBytes: buffer.readUInt32LE(40),
    samples,
  };
}

const promised = {
  names: ["RIFF", "WAVE", "fmt ", "data"],
  formatBytes: 16,
  format: 1,
  channels: 1,
  sampleRate: 24_000,
  bytesPerSecond: 48_000,
  frameBytes: 2,
  bitsPerSample: 16,
};
const exactly = (samples: Buffer) => ({
  ...promised,
  riffBytes: samples.length + 36,
  dataBytes: samples.length,
  samples,
});
const streaming = { ...promised, riffBytes: 0xffff_ffff, dataBytes: 0xffff_ffff, samples: pcm };

async function audioOf(reply: { arrayBuffer(): Promise<ArrayBuffer> }): Promise<Buffer> {
  return Buffer.from(await reply.arrayBuffer());
}

describe("audio through the SDK", () => {
  const create = (format?: "wav" | "pcm") =>
    gateway.client().audio.speech.create({
      model: flash,
      input: "Hello",
      voice: "Kore",
      ...(format === undefined ? {} : { response_format: format }),
    });

  test("is a WAV with exact sizes when the upstream told its length", async () => {
    gateway.upstream.replyWith(speechReplies.pcmWithLength());
    for (const format of [undefined, "wav"] as const) {
      const reply = await create(format);
      expect(reply.headers.get("content-type")).toBe("audio/wav");
      expect(parseWav(await audioOf(reply))).toEqual(exactly(pcm));
    }
  });

  test("is a WAV in the streaming form when it did not", async () => {
    for (const recording of [speechReplies.pcmChunked(), speechReplies.pcmUntilClose()]) {
      gateway.upstream.replyWith(recording);
      expect(parseWav(await audioOf(await create("wav")))).toEqual(streaming);
    }
  });

  test("is bare PCM when asked for, under its own type", async () => {
    for (const recording of [speechReplies.pcmChunked(), speechReplies.pcmWithLength()]) {
      gateway.upstream.replyWith(recording);
      const reply = await create("pcm");
      expect(reply.headers.get("content-type")).toBe("audio/pcm");
      expect(await audioOf(reply)).toEqual(pcm);
    }
  });
});

test("bare PCM is taken under every name that vendors have for it", async () => {
  for (const type of [
    "audio/pcm",
    "audio/pcm;rate=24000",
    'audio/L16; rate="24000"',
    "application/octet-stream",
  ]) {
    const headers = { "content-type": type };
    gateway.upstream.replyOnce(httpReply({ headers, body: [pcm], framing: "chunked" }));
    expect(await audioOf(await speak({ response_format: "pcm" }))).toEqual(pcm);
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

test("the length of a packed reply says nothing of the sound's", async () => {
  const headers = { "content-type": "audio/pcm", "content-encoding": "gzip" };
  const packed = gzipSync(pcm);
  expect(packed.length).toBeLessThan(pcm.length);
  gateway.upstream.replyWith(httpReply({ headers, body: [packed], framing: "length" }));
  expect(parseWav(await audioOf(await speak()))).toEqual(streaming);
});

describe("an upstream that sends WAV all the same", () => {
  const listChunk = Buffer.from(fixtureBytes("sine-24khz-list-chunk.wav"));
  const wavReply = (body: readonly Uint8Array[], framing: "chunked" | "length" = "chunked") =>
    httpReply({ headers: { "content-type": "audio/wav" }, body, framing });

  test("has its header replaced by ours, or left out", async () => {
    for (const partBytes of [1, 3, 44, 4_801]) {
      gateway.upstream.replyWith(speechReplies.wavInsteadOfPcm({ partBytes }));
      expect(parseWav(await audioOf(await speak()))).toEqual(exactly(pcm));
      expect(await audioOf(await speak({ response_format: "pcm" }))).toEqual(pcm);
    }
  });

  test("has its names and dates left out with the header", async () => {
    const at = listChunk.indexOf("data", 0, "latin1");
    const samples = listChunk.subarray(at + 8);
    gateway.upstream.replyWith(wavReply([listChunk], "length"));
    expect(parseWav(await audioOf(await speak()))).toEqual(exactly(samples));
  });

  test("may not know its length: a size that cannot be true counts as unknown", async () => {
    for (const size of [0xffff_ffff, 0x7fff_ffff, 0x7fff_ffdb, 0]) {
      const wav = withoutFraming(speechReplies.wavInsteadOfPcm().parts);
      wav.writeUInt32LE(size, 40);
      gateway.upstream.replyWith(wavReply([wav]));
      expect(parseWav(await audioOf(await speak()))).toEqual(streaming);
    }
  });
});

describe("streaming", () => {
  test("the first audio reaches the caller before the upstream sends the rest", async () => {
    const rest = Promise.withResolvers<void>();
    const recording = speechReplies.pcmChunked();
    gateway.upstream.replyWith(pausedAfter({ recording, parts: 1, until: rest.promise }));
    const reader = (await speak()).body?.getReader();
    const first: Buffer = Buffer.from((await reader?.read())?.value ?? []);
    expect(first.subarray(44)).toEqual(pcm.subarray(0, first.length - 44));
    expect(first.length).toBeGreaterThan(44);
    rest.resolve();
    let sizeBytes = first.length;
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read())
      sizeBytes += read.value.length;
    expect(sizeBytes).toBe(pcm.length + 44);
  });

  test("a caller who leaves in mid-sentence ends the upstream's work", async () => {
    const recording = speechReplies.pcmChunked();
    gateway.upstream.replyWith(cutAfter({ recording, parts: 1, by: "hang" }));
    const arrival = gateway.upstream.nextRequest();
    const caller = new AbortController();
    const reply = await speak({}, { signal: caller.signal });
    await reply.body?.getReader().read();
    caller.abort();
    const request = await arrival;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  });

  for (const framing of ["chunked", "length"] as const)
    for (const by of ["reset", "close"] as const)
      test(`a ${framing} upstream that dies by ${by} breaks the caller's body off`, async () => {
        const seen = Promise.withResolvers<void>();
        const recording =
          framing === "chunked" ? speechReplies.pcmChunked() : speechReplies.pcmWithLength();
        gateway.upstream.replyWith(cutAfter({ recording, parts: 2, by, until: seen.promise }));
        const reply = await speak();
        expect(reply.status).toBe(200);
        const reader = reply.body?.getReader();
        await reader?.read();
        seen.resolve();
        const rest = (async () => {
          while (!(await reader?.read())?.done);
          return "a clean end";
        })();
        expect(await rest.catch(() => "broken off")).toBe("broken off");
      });
});

/** The body of a chunked recording. */
function withoutFraming(parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    parts.map((part) => {
      const start = Buffer.from(part).indexOf("\r\n") + 2;
      return part.subarray(start, part.length - 2);
    }),
  );
}

const pro = "svc-2.5-pro-tts";
const invalid = { code: "invalid_request", type: "invalid_request_error" };
const voices = ["Kore", "Puck", "Charon", "Fenrir", "Aoede"] as const;

test("the upstream is asked for PCM, by its own name of the model and with its own key", async () => {
  gateway.upstream.replyWith(speechReplies.pcmChunked());
  for (const response_format of ["wav", "pcm", undefined, null]) {
    const usual = { speed: 1, instructions: "", stream_format: "audio" };
    for (const fields of [{}, usual, { speed: null, instructions: null, stream_format: null }])
      await (await speak({ response_format, ...fields })).arrayBuffer();
    const request = gateway.upstream.requests.at(-1);
    expect(request).toMatchObject({
      path: "/v1/audio/speech",
      headers: { authorization: "Bearer vendor-secret" },
    });
    for (const { json } of gateway.upstream.requests)
      expect(json).toEqual({
        model: "upstream-tts",
        input: "Hello",
        voice: "Kore",
        response_format: "pcm",
      });
  }
});

describe("voices", () => {
  test("go upstream as the route maps them, or by the same name", async () => {
    gateway.upstream.replyWith(speechReplies.pcmChunked());
    for (const model of [flash, pro])
      for (const voice of voices) await (await speak({ model, voice })).arrayBuffer();
    const sent = gateway.upstream.requests.map(({ json }) => (json as { voice: string }).voice);
    expect(sent).toEqual([...voices, "a", "b", "c", "d", "e"]);
  });

  test("of other providers, misspelt, mapped or missing are refused with the list of ours", async () => {
    for (const voice of [
      "alloy",
      "kore",
      "KORE",
      "Kore ",
      "a",
      "",
      7,
      ["Kore"],
      { id: "voice_1234" },
      null,
      undefined,
    ]) {
      const refusal = await expectRefusal(speak({ model: pro, voice }), {
        status: 400,
        ...invalid,
        param: "voice",
      });
      for (const ours of voices) expect(refusal.message).toContain(ours);
    }
    const thrown = await thrownBy(
      gateway.client().audio.speech.create({ model: flash, input: "Hi", voice: "nova" }),
    );
    expect(thrown).toMatchObject({ status: 400, param: "voice" });
    expect(gateway.upstream.requests).toBeEmpty();
  });
});

describe("input", () => {
  test("of 5000 emoji passes, because characters are code points", async () => {
    gateway.upstream.replyWith(speechReplies.pcmChunked());
    const input = "👋".repeat(5000);
    expect((await speak({ input })).status).toBe(200);
    expect(gateway.upstream.requests[0]?.json).toMatchObject({ input });
    // A family is one character to the eye, and seven to the contract, which counts code points.
    const families = "👩‍👩‍👧‍👦".repeat(714);
    expect((await speak({ input: `${families}ab` })).status).toBe(200);
  });

  test("of 5001 characters, of none or of no text is refused by name", async () => {
    const families = `${"👩‍👩‍👧‍👦".repeat(714)}abc`;
    const texts = ["x".repeat(5001), "👋".repeat(5001), families];
    const wrong = [...texts, "", 7, ["Hi"], null, undefined];
    for (const input of wrong) {
      const refusal = await expectRefusal(speak({ input }), {
        status: 400,
        ...invalid,
        param: "input",
      });
      expect(refusal.message).toContain("5000");
    }
    expect(gateway.upstream.requests).toBeEmpty();
  });
});
