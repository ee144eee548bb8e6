/** Files of one format that hold another one, which some decoder plays instead: all are refused. */

import { describe, expect, test } from "bun:test";
import {
  block,
  box,
  cluster,
  element,
  join,
  oggPage,
  opusPacket,
  opusTracks,
  secondsIn as read,
  repeated,
  webmOf,
} from "../../../test/fixtures/media/audio-bytes.ts";
import { fixtureBytes } from "../../../test/fixtures/media/fixture.ts";

const text = (words: string) => Buffer.from(words, "latin1");
const wav = fixtureBytes("speech.wav");
const mp3 = fixtureBytes("speech-cbr.mp3");
const flac = fixtureBytes("speech.flac");
const opus = fixtureBytes("speech-opus.ogg");
const m4a = fixtureBytes("speech.m4a");

/** Bytes without any pattern. */
function noise(sizeBytes: number): Uint8Array<ArrayBuffer> {
  let state = 1;
  return Uint8Array.from({ length: sizeBytes }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 16;
  });
}

/** Each unit begins with these bytes and is filled with noise. */
function rows(start: readonly number[], unitBytes: number, units = 40): Uint8Array<ArrayBuffer> {
  const bytes = noise(unitBytes * units);
  for (let at = 0; at < bytes.length; at += unitBytes) bytes.set(start, at);
  return bytes;
}

const foreign = {
  "MPEG-TS": rows([0x47, 0x01, 0x00, 0x10], 188),
  "MPEG-TS with gaps": rows([0x47, 0x01, 0x00, 0x10], 188).map((byte, at) =>
    at % (188 * 3) === 0 ? 0 : byte,
  ),
  "MPEG-TS of discs": rows([0x47, 0x01, 0x00, 0x10], 192),
  ADTS: rows([0xff, 0xf1, 0x50, 0x40, 0x0c, 0x80], 100),
  LOAS: rows([0x56, 0xe0, 97], 100),
  "AC-3": rows([0x0b, 0x77, 0, 0, 0, 0x40], 128),
  DTS: rows([0x7f, 0xfe, 0x80, 0x01], 512),
  TrueHD: rows([0, 0, 0, 0, 0xf8, 0x72, 0x6f, 0xba], 512),
  "IEC 61937": rows([0x72, 0xf8, 0x1f, 0x4e], 6144, 8),
  "Dolby E": rows([0x72, 0xf8, 0x96, 0x1f, 0x4e, 0xa5], 512),
  MXF: join(
    noise(100),
    Uint8Array.from([6, 14, 43, 52, 2, 5, 1, 1, 13, 1, 2, 1, 1, 2]),
    noise(100),
  ),
  Bonk: join(noise(100), text("\0BONK\0"), noise(100)),
  NSV: join(text("NSVs"), new Uint8Array(20), Uint8Array.from([0xef, 0xbe])),
  NUT: Uint8Array.from([0x4e, 0x4d, 0x7a, 0x56, 0x1f, 0x5f, 0x04, 0xad]),
  "3DO": join(text("SNDS"), noise(12), text("SHDR")),
};

/** A WAV with these samples. */
function wavOf(samples: Uint8Array): Uint8Array {
  const head = Buffer.from(wav.slice(0, 44));
  head.writeUInt32LE(samples.length, 40);
  return join(head, samples);
}

/** Frames of MPEG 1, layer II, 384 kbit/s, 48 kHz: 1,152 bytes, of which four are a header. */
function mp3Of(content: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = noise(1152 * Math.max(20, Math.ceil((content.length + 100) / 1148)));
  bytes.set(content, 100);
  for (let at = 0; at < bytes.length; at += 1152) bytes.set([0xff, 0xfd, 0xe4, 0], at);
  return bytes;
}

function id3(content: Uint8Array): Uint8Array {
  const sizes = [21, 14, 7, 0].map((shift) => (content.length >> shift) & 127);
  return join(text("ID3\u0004\0\0"), Uint8Array.from(sizes), content);
}

/** A block of metadata behind STREAMINFO. */
function flacWith(type: number, content: Uint8Array): Uint8Array {
  const first = flac.slice(0, 42);
  first[4] = 0;
  const head = Uint8Array.from([type, content.length >> 16, content.length >> 8, content.length]);
  const rest = flac.slice(42);
  return join(
    first,
    head,
    content,
    flac[4] === 0x80 ? Uint8Array.from([0x81, 0, 0, 0]) : new Uint8Array(),
    rest,
  );
}

const blocks = (count: number) => cluster(repeated(block(opusPacket), count));

test("noise in the same places is accepted", async () => {
  expect(await read(wavOf(noise(32_000)))).toBeCloseTo(1, 6);
  expect(await read(mp3Of(noise(100)))).toBeCloseTo(0.48, 6);
  expect(await read(flacWith(2, noise(8000)))).toBeCloseTo(3.98, 2);
  const picture = element("1254c367", noise(500));
  expect(await read(webmOf(opusTracks, picture, blocks(50)))).toBeCloseTo(1, 6);
  expect(await read(join(m4a, box("udta", box("skip", noise(500)))))).toBeCloseTo(4.096, 3);
});

test.each(Object.entries(foreign))("%s is found in every format", async (_, inner) => {
  const outer = [wavOf(inner), mp3Of(inner), flacWith(2, inner)];
  outer.push(webmOf(opusTracks, element("1254c367", inner), blocks(50)));
  outer.push(join(m4a, box("free", inner)));
  for (const file of outer) expect(await read(file)).toContain("holds a stream of");
});

describe("MP3 frames", () => {
  test.each([
    ["narrow", 0x04, 13],
    ["wide", 0x04, 18],
  ])("with AMR of a %s band inside are refused", async (_, first, sizeBytes) => {
    const amr = rows([first], sizeBytes, 100);
    expect(await read(mp3Of(amr))).toContain("a stream of AMR");
    expect(await read(join(id3(amr), mp3))).toContain("a stream of AMR");
  });

  test("with two packets of a program stream inside are refused", async () => {
    const pack = join(Uint8Array.from([0, 0, 1, 0xba, 0x44]), noise(9));
    const packet = join(Uint8Array.from([0, 0, 1, 0xc0, 1, 0, 0x80]), noise(200));
    expect(await read(mp3Of(join(pack, packet)))).toContain("holds a stream of");
  });

  test("follow tags of at most 960 KiB", async () => {
    const duration = await read(mp3);
    expect(await read(join(id3(noise(900 * 1024)), mp3))).toBe(duration);
    expect(await read(join(id3(noise(970 * 1024)), mp3))).toContain("its tags are too long");
  });

  test("are refused in the samples of a WAV and in the metadata of a FLAC", async () => {
    expect(await read(wavOf(mp3.subarray(0, 1080)))).toContain("a stream of MP3");
    expect(await read(flacWith(2, mp3.subarray(0, 1080)))).toContain("a stream of MP3");
  });

  test("behind the head of AMR, AU or AIFF are not an MP3", async () => {
    for (const head of ["#!AMR\n", ".snd\0\0\0\x20", "FORM\0\0\x20\0AIFFANNO"])
      for (const gap of [0, 200])
        expect(await read(join(text(head), noise(gap), mp3))).toContain("is not a WAV, MP3");
  });
});

test("a format whose mark stands at a fixed place is refused in an MP3", async () => {
  for (const [at, mark] of [
    [4, "moov"],
    [4, "free"],
    [12, "xobX"],
    [1080, "M.K."],
    [1080, "32CH"],
  ] as const) {
    const file = mp3Of(noise(10));
    file.set(text(mark), at);
    expect(await read(file)).toContain("another format");
  }
  // Frames of GSM every 33 bytes.
  const file = mp3Of(noise(10));
  for (let at = 33; at < 4096; at += 33) if (file[at] !== 0xff) file[at] = 0xd0;
  expect(await read(file)).toContain("GSM");
});

test("a recorder's file that begins like a WAV is refused", async () => {
  const samples = new Uint8Array(2048);
  expect(await read(wavOf(samples))).toBeCloseTo(0.064, 6);
  samples[256 - 44] = 0x84;
  expect(await read(wavOf(samples))).toContain("ACT");
});

test("a WAV has known chunks around its samples", async () => {
  const unknown = join(text("evil"), Uint8Array.from([4, 0, 0, 0]), noise(4));
  const size = Uint8Array.from([4, 0, 0, 0]);
  expect(await read(join(wav, text("LIST"), size, noise(4)))).toBeCloseTo(3.98, 2);
  expect(await read(join(wav, unknown))).toContain("more data around its audio");
  expect(await read(join(wav.subarray(0, 36), unknown, wav.subarray(36)))).toContain(
    "more data around its audio",
  );
  // Without the byte that pads odd samples, the same bytes are a chunk of samples.
  const odd = wavOf(new Uint8Array(3));
  const hidden = join(
    text("\0LIS"),
    Uint8Array.from([84, 0, 0, 0]),
    new Uint8Array(84),
    text("data"),
  );
  expect(await read(join(odd, hidden, new Uint8Array(400)))).toContain("more data around");
});

test("an Ogg has pages without gaps, flags that exist, and packets that go on", async () => {
  const serial = Buffer.from(opus).readUInt32LE(14);
  const page = (flags: number, segments?: number[]) =>
    oggPage({ body: noise(255), flags, serial, ...(segments === undefined ? {} : { segments }) });
  expect(await read(join(opus, page(0)))).toBeNumber();
  expect(await read(join(opus, noise(100)))).toContain("bytes between its pages");
  expect(await read(join(opus, page(8)))).toContain("unknown flags");
  expect(await read(join(opus, page(1)))).toContain("does not go on");
  expect(await read(join(opus, page(0, [255]), page(0)))).toContain("does not go on");
});

test("a FLAC has metadata that is known, empty padding, and blocks of 16 samples at least", async () => {
  const small = flac.slice();
  small.set([0, 8], 8);
  expect(await read(small)).toContain("sizes of its blocks");
  expect(await read(flacWith(7, noise(10)))).toContain("of an unknown kind");
  expect(await read(flacWith(1, noise(10)))).toContain("padding is not empty");
  expect(await read(join(flac, noise(200_000)))).toContain("more bytes than audio");
});

test("a WebM has known elements, empty space, and a short header", async () => {
  const evil = element("1941a469", noise(500));
  expect(await read(webmOf(opusTracks, evil, blocks(50)))).toContain("unknown element");
  const full = element("ec", noise(500));
  expect(await read(webmOf(opusTracks, full, blocks(50)))).toContain("not empty");
  const long = element(
    "1a45dfa3",
    element("4282", text("webm")),
    element("ec", new Uint8Array(900)),
  );
  const rest = webmOf(opusTracks, blocks(50)).subarray(5 + 4 + 6 + 3);
  expect(await read(join(long, rest))).toContain("header is too long");
  const tags = element("1254c367", noise(1_100_000));
  expect(await read(webmOf(opusTracks, tags, blocks(50)))).toContain("too much besides");
  const fat = element("a3", Uint8Array.from([0x81, 0, 0, 0x80]), opusPacket, noise(20_000));
  expect(await read(webmOf(opusTracks, cluster(fat)))).toContain("more bytes than audio");
});

test("an MP4 has known boxes, and no more sound than its tables list", async () => {
  expect(await read(join(m4a, box("evil", noise(8))))).toContain("a box that is not known");
  expect(await read(join(m4a, box("mdat", noise(200_000))))).toContain("more bytes than audio");
});
