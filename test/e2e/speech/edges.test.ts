import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { httpReply, type Recording, tone } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

const pcm = tone(0.25);
const unknownSize = 0xffff_ffff;

let gateway: TestGateway;
beforeAll(async () => {
  // What hangs in a test that fails must not hold up the end.
  gateway = await startTestGateway({ environment: { SVC_GRACE_S: "0.05" } });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

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

describe("samples of another width than 16-bit whole numbers are a 502:", () => {
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
      expect(await refusalOf(speak())).toMatchObject({ status: 502, code: "upstream_error" });
    });
});

test("a header is read up to 64 KiB, and one that is larger is a 502", async () => {
  gateway.upstream.replyWith(audio([wav({ junkBytes: 60_000 })]));
  expect(described(await heard(await speak("pcm")))).toBe("the samples");
  for (const junkBytes of [66_000, 200_000]) {
    gateway.upstream.replyWith(audio([wav({ junkBytes })]));
    expect(await refusalOf(speak("pcm"))).toMatchObject({ status: 502, code: "upstream_error" });
  }
});

test("what follows the samples is never heard, however much of it there is", async () => {
  const tail = Array.from({ length: 20 }, () => chunk("LIST", Buffer.from("INFO")));
  gateway.upstream.replyWith(audio([wav(), ...tail]));
  expect(described(await heard(await speak("pcm")))).toBe("the samples");
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
      expect(await refusalOf(speak())).toMatchObject({ status: 502, code: "upstream_error" });
      expect(await isLetGo(await arrival)).toBe(true);
    });
});

test("the length of a packed reply says nothing of the sound's", async () => {
  const headers = { "content-type": "audio/pcm", "content-encoding": "gzip" };
  const packed = gzipSync(pcm);
  expect(packed.length).toBeLessThan(pcm.length);
  gateway.upstream.replyWith(httpReply({ headers, body: [packed], framing: "length" }));
  const given = await heard(await speak());
  if (given === "broken off") throw new Error(given);
  expect(given.readUInt32LE(40)).toBe(unknownSize);
  expect(described(given.subarray(44))).toBe("the samples");
});
