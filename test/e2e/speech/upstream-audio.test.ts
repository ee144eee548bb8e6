/** What upstreams send in place of PCM: a WAV is read, all else is refused, and nobody hears noise. */

import { describe, expect, test } from "bun:test";
import { httpReply, type Recording, tone } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { expectRefusal } from "../../replies/refusal.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const pcm = tone(0.25);

// What hangs in a test that fails must not hold up the end.
const gateway = useTestGateway({ environment: { SVC_GRACE_S: "0.05" } });

const speak = (response_format: "wav" | "pcm" = "wav") =>
  gateway.call("/audio/speech", {
    model: "svc-2.5-flash-tts",
    input: "Hello",
    voice: "Kore",
    response_format,
  });

interface WavOptions {
  readonly samples?: Buffer;
  /** What the data chunk says of its length. */
  readonly dataBytes?: number;
  readonly format?: number;
  readonly bits?: number;
  /** A chunk of this many bytes before the samples. */
  readonly junkBytes?: number;
}

function wav({
  samples = pcm,
  dataBytes = samples.length,
  format = 1,
  bits = 16,
  junkBytes,
}: WavOptions = {}): Buffer {
  const fields = Buffer.alloc(16);
  fields.writeUInt16LE(format, 0);
  fields.writeUInt16LE(1, 2);
  fields.writeUInt32LE(24_000, 4);
  fields.writeUInt32LE((24_000 * bits) / 8, 8);
  fields.writeUInt16LE(bits / 8, 12);
  fields.writeUInt16LE(bits, 14);
  const chunks = Buffer.concat([
    chunk("fmt ", fields),
    junkBytes === undefined ? Buffer.alloc(0) : chunk("JUNK", Buffer.alloc(junkBytes)),
    chunk("data", samples, dataBytes),
  ]);
  return chunk("RIFF", Buffer.concat([Buffer.from("WAVE"), chunks]));
}

function chunk(name: string, content: Buffer, sizeBytes = content.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(sizeBytes, 4);
  return Buffer.concat([head, content]);
}

const audio = (body: readonly Uint8Array[], type = "audio/wav") =>
  httpReply({ headers: { "content-type": type }, body, framing: "chunked" });

/** All of the reply's body, or that it was broken off. */
async function heard(reply: Response): Promise<Buffer | "broken off"> {
  expect(reply.status).toBe(200);
  return reply.arrayBuffer().then(
    (bytes) => Buffer.from(bytes),
    () => "broken off" as const,
  );
}

/**
 * Whether the upstream's work was ended of purpose. A reply that nobody holds is also ended when
 * the runtime next collects what is left over: many calls later, and those are not waited for.
 */
async function isLetGo(request: RecordedRequest): Promise<boolean> {
  for (let calls = 0; calls < 300 && !request.abortedByClient; calls += 1)
    await (await fetch(`${gateway.origin}/healthz`)).text();
  return request.abortedByClient;
}

/** In words, because a list of samples says nothing. */
const described = (given: Buffer | "broken off") => {
  if (given === "broken off") return given;
  return given.equals(pcm) ? "the samples" : `${given.length} other bytes`;
};

describe("a WAV whose header promises more sound than comes", () => {
  for (const format of ["wav", "pcm"] as const)
    test(`is broken off, so that no half sentence passes for a whole ${format}`, async () => {
      for (const [dataBytes, isWhole] of [
        [pcm.length, true],
        [pcm.length + 2, false],
      ] as const) {
        const bytes = wav({ dataBytes });
        const recording = audio([bytes.subarray(0, 1_000), bytes.subarray(1_000)]);
        const rest = Promise.withResolvers<void>();
        gateway.upstream.replyWith(pausedAfter({ recording, parts: 1, until: rest.promise }));
        const reply = await speak(format);
        rest.resolve();
        expect((await heard(reply)) !== "broken off").toBe(isWhole);
      }
    });
});

describe("a WAV of other samples than 24 kHz, mono, 16-bit whole numbers is a 502:", () => {
  for (const [what, options] of Object.entries({
    "8 bits": { bits: 8 },
    "24 bits": { bits: 24 },
    "32 bits": { bits: 32 },
    "floats of 32 bits": { bits: 32, format: 3 },
    "floats of 16 bits": { format: 3 },
    "a-law in 16 bits": { format: 6 },
  }))
    test(what, async () => {
      gateway.upstream.replyWith(audio([wav(options)]));
      await expectRefusal(speak(), { status: 502, code: "upstream_error" });
    });

  test("another rate or layout", async () => {
    const stereo = wav();
    stereo.writeUInt16LE(2, 22);
    for (const body of [fixtureBytes("sine-48khz-extensible.wav"), stereo]) {
      gateway.upstream.replyWith(audio([body]));
      await expectRefusal(speak(), { status: 502, code: "upstream_error" });
    }
  });
});

describe("what is not the audio that was asked for is a 502 with a JSON error:", () => {
  const error = '{"error":{"message":"vendor key sk-123"}}';
  const id3 = Uint8Array.of(0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 0);
  const latin = (text: string) => Buffer.from(text, "latin1");
  const sounding = (start: string | Uint8Array) => Buffer.concat([Buffer.from(start), tone(0.1)]);
  const sent: Readonly<Record<string, readonly [type: string | undefined, bytes: Uint8Array]>> = {
    "MP3, said so": ["audio/mpeg", sounding(id3)],
    "MP3 without tags": ["audio/mpeg", sounding(Uint8Array.of(0xff, 0xfb, 0x90, 0x64))],
    "MP3, said to be nothing in particular": ["application/octet-stream", sounding(id3)],
    Opus: ["audio/ogg", sounding("OggS\0\x02")],
    FLAC: ["audio/flac", sounding("fLaC\0\0\0\x22")],
    AAC: ["audio/aac", sounding(Uint8Array.of(0xff, 0xf1, 0x50, 0x80))],
    "PCM of another rate": ["audio/pcm;rate=16000", sounding("")],
    "PCM of two channels": ["audio/pcm; rate=24000; channels=2", sounding("")],
    "PCM of eight bits": ["audio/pcm;bits=8", latin("\0\x01\0\x01\0\x01")],
    "a big-endian WAV": ["audio/wav", latin("RIFX\0\0\0\x24WAVEfmt ")],
    WebM: ["application/octet-stream", latin("\x1aE\xdf\xa3\x01\0\0\0\0\0\0\x1f")],
    "an error, said to be JSON": ["application/json", latin(error)],
    "an error without a type": [undefined, latin(error)],
    "an error as bytes": ["application/octet-stream", latin(error)],
    XML: ["application/xml", latin("<?xml version='1.0'?><error/>")],
    "a page of HTML": ["text/html", latin("<p>busy")],
    "several parts": ["multipart/mixed", latin("\0\x01\0\x01\0\x01\0\x01")],
    nothing: ["audio/pcm", Buffer.alloc(0)],
  };
  for (const [name, [type, bytes]] of Object.entries(sent))
    test(name, async () => {
      const headers = type === undefined ? {} : { "content-type": type };
      for (const framing of ["chunked", "length"] as const) {
        gateway.upstream.replyWith(httpReply({ headers, body: [bytes], framing }));
        for (const format of ["wav", "pcm"] as const)
          await expectRefusal(speak(format), { status: 502, code: "upstream_error" });
      }
    });
});

test("a header is read up to 64 KiB, and one that is larger is a 502", async () => {
  gateway.upstream.replyWith(audio([wav({ junkBytes: 60_000 })]));
  expect(described(await heard(await speak("pcm")))).toBe("the samples");
  for (const junkBytes of [66_000, 200_000]) {
    gateway.upstream.replyWith(audio([wav({ junkBytes })]));
    await expectRefusal(speak("pcm"), { status: 502, code: "upstream_error" });
  }
});

test("an upstream that talks on behind the samples is let go of", async () => {
  const { head, parts } = audio([wav(), chunk("LIST", Buffer.from("INFO"))]);
  gateway.upstream.replyWith([{ send: Buffer.concat([head, ...parts]) }, { hang: true }]);
  const arrival = gateway.upstream.nextRequest();
  expect(described(await heard(await speak("pcm")))).toBe("the samples");
  expect(await isLetGo(await arrival)).toBe(true);
});

describe("an upstream whose reply is refused is let go of, although it would talk on:", () => {
  const replies: Readonly<Record<string, Recording>> = {
    "a WAV of 8 bits": audio([wav({ bits: 8 })]),
    "a header without an end": audio([wav({ junkBytes: 200_000 })]),
    "a broken WAV": audio([Buffer.from("RIFF----AVI LIST")]),
    "an Ogg file": audio([Buffer.from("OggS\0\0\0\0")], "audio/pcm"),
    "a page of HTML": audio([Buffer.from("<p>busy")], "text/html"),
    "an MP3, by its own word": audio([pcm], "audio/mpeg"),
  };
  for (const [what, { head, parts }] of Object.entries(replies))
    test(what, async () => {
      gateway.upstream.replyWith([{ send: Buffer.concat([head, ...parts]) }, { hang: true }]);
      const arrival = gateway.upstream.nextRequest();
      await expectRefusal(speak(), { status: 502, code: "upstream_error" });
      expect(await isLetGo(await arrival)).toBe(true);
    });
});
