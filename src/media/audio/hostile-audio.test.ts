/** Files that one decoder plays for longer than another: each is refused, or lasts what all play. */

import { describe, expect, test } from "bun:test";
import {
  at,
  block,
  box,
  cluster,
  edited,
  element,
  fixedLace,
  join,
  oggOfOpenHeaders,
  oggPage,
  oggVorbis,
  opusPacket,
  opusTracks,
  secondsIn as read,
  repeated,
  vorbisSetup,
  webmOf,
  webmOfEmptyLaces,
  withChecksums,
} from "../../../test/fixtures/media/audio-bytes.ts";
import { fixtureBytes } from "../../../test/fixtures/media/fixture.ts";
import { webmAudioDurationS } from "./webm-audio.ts";

describe("WAV", () => {
  const wav = fixtureBytes("speech.wav");
  const format = wav.subarray(12, 36);
  const refusal = "do not match the bits per sample";

  test("two fmt chunks are refused, in front of the samples and behind them", async () => {
    const other = edited(format, 8, [0, 119, 1, 0]);
    for (const twice of [join(wav.subarray(0, 12), other, wav.subarray(12))])
      expect(await read(twice)).toContain("has two fmt chunks");
    expect(await read(join(wav, other))).toContain("more data around its audio");
  });

  test("samples of other bytes than bits are refused; a wrong byte rate does not count", async () => {
    expect(await read(edited(wav, 32, [1, 0]))).toContain(refusal);
    expect(await read(edited(wav, 34, [64, 0]))).toContain(refusal);
    const extensible = fixtureBytes("sine-48khz-extensible.wav");
    expect(await read(extensible)).toBeCloseTo(0.05, 3);
    expect(await read(edited(extensible, 38, [8, 0]))).toContain(refusal);
    expect(await read(edited(wav, 28, [1, 0, 0, 0]))).toBeCloseTo(3.98, 2);
  });

  test("floats of 8 or 16 bits, and rates that nobody records at, are refused", async () => {
    expect(await read(edited(wav, 20, [3, 0]))).toContain("bits long");
    expect(await read(edited(wav, 24, [0, 0, 16, 0]))).toContain("samples per second");
  });
});

describe("MP3", () => {
  const mp3 = fixtureBytes("speech-cbr.mp3");
  const frameBytes = 108;
  const tag = (version: number, revision: number) =>
    join(
      Uint8Array.from([
        0x49,
        0x44,
        0x33,
        version,
        revision,
        0,
        0,
        0,
        mp3.length >> 7,
        mp3.length & 127,
      ]),
      mp3,
      mp3.subarray(0, frameBytes * 20),
    );
  const free = mp3.slice();
  for (let start = 0; start < free.length; start += frameBytes)
    free[start + 2] = (free[start + 2] ?? 0) & 0x0f;

  test("an ID3 tag of another version, revision or flags than tags have is refused", async () => {
    for (const file of [tag(255, 0), tag(3, 255), tag(5, 0), tag(3, 0x66)])
      expect(await read(file)).toContain("is not a WAV, MP3");
    expect(await read(tag(3, 0))).toBeCloseTo(20 * 0.036, 3);
  });

  test("frames in a tag count where some decoder searches the tag", async () => {
    const whole = tag(3, 0);
    const inner = whole.subarray(0, 10 + mp3.length);
    expect(await read(join(mp3, inner))).toBeGreaterThan(2 * 4.068 - 0.1);
  });

  test("frames without a bitrate are refused at the start and midway", async () => {
    expect(await read(join(free.subarray(0, 1080), mp3))).toContain("is not a WAV, MP3");
    expect(await read(join(mp3, free))).toContain("belongs to no frame");
  });

  test("frames of another kind, and frames that hold frames, are refused", async () => {
    // MPEG 2.5, layer II, 160 kbit/s, 8 kHz: 2,880 bytes for 144 ms, that hide 26 frames.
    const cover = Uint8Array.from([0xff, 0xe5, 0xe8, 0xc0]);
    const covers = Array.from({ length: 4 }, () =>
      join(cover, mp3.subarray(0, 2_700), new Uint8Array(176)),
    );
    expect(await read(join(mp3, ...covers))).toContain("of different kinds");
    // MPEG 1, layer II, 384 kbit/s, 48 kHz: 1,152 bytes.
    const head = [0xff, 0xfd, 0xe4, 0];
    const frame = new Uint8Array(1152);
    for (const at of [0, 100, 200, 300]) frame.set(head, at);
    expect(await read(repeated(frame, 20))).toContain("frames inside of its frames");
  });
});

describe("FLAC", () => {
  const flac = fixtureBytes("speech.flac");
  // Behind the mark, the head of the block and ten bytes: rate, channels, bits.
  const info = 18;
  const [, , third = 0, fourth = 0] = flac.subarray(info);

  test("frames that contradict STREAMINFO are refused", async () => {
    const rate = edited(flac, info, [5, 220]);
    const channels = edited(flac, info + 2, [third ^ 2]);
    const bits = edited(flac, info + 3, [fourth ^ 0x40]);
    for (const file of [rate, channels, bits])
      expect(await read(file)).toContain("its frames contradict its STREAMINFO");
    expect(await read(edited(flac, info, [255, 255]))).toContain("samples per second");
  });

  test("a frame whose checksum is wrong is refused, which FFmpeg plays twice before the last one", async () => {
    const lastFrame = Buffer.from(flac).lastIndexOf(Buffer.from([0xff, 0xf8]));
    expect(await read(edited(flac, lastFrame - 1, [(flac[lastFrame - 1] ?? 0) ^ 1]))).toContain(
      "a checksum near its end is wrong",
    );
    // Frames of a recording that was cut, and a tag behind the last one.
    expect(await read(flac.subarray(0, flac.length - 100))).toBe(3.98);
    expect(await read(join(flac, Buffer.from("TAG".padEnd(128, "\0"))))).toBe(3.98);
  });

  test("a second STREAMINFO is refused, in the head and midway", async () => {
    const first = edited(flac.subarray(0, 42), 4, [0]);
    const twice = join(first, flac.subarray(4));
    expect(await read(twice)).toContain("its only STREAMINFO");
    expect(await read(join(flac, flac))).toContain("a second STREAMINFO");
  });
});

describe("Ogg", () => {
  const opus = fixtureBytes("speech-opus.ogg");
  const vorbis = fixtureBytes("speech-vorbis.ogg");

  test("a page with a wrong checksum is refused, so that no pages hide in it", async () => {
    for (const ogg of [opus, vorbis]) {
      const last = Buffer.from(ogg).lastIndexOf("OggS");
      expect(await read(edited(ogg, last + 22, [1, 2, 3, 4]))).toContain("checksum of a page");
      expect(await read(edited(ogg, ogg.length - 1, [1]))).toContain("checksum of a page");
      // In a page that all decoders take for one, other pages are bytes of a packet.
      const body = ogg.subarray(last);
      const whole = oggPage({ body, serial: Buffer.from(ogg).readUInt32LE(14) });
      const seconds = await read(join(ogg.subarray(0, last), whole));
      expect(seconds).toBeNumber();
      expect(seconds).toBeLessThan(4.2);
    }
  });

  test("a page that is cut off, or of an unknown version, is refused", async () => {
    expect(await read(opus.subarray(0, -1))).toContain("cut off");
    expect(await read(join(opus, Buffer.from("OggS")))).toContain("cut off");
    expect(await read(withChecksums(edited(opus, 4, [1])))).toContain("unknown version");
  });

  test("no more than 100 ms are left out at the start of an Opus stream", async () => {
    const all = withChecksums(edited(opus, at(opus, "OpusHead") + 10, [255, 255]));
    expect(await read(all)).toBeCloseTo(3.9935 + 312 / 48_000 - 0.1, 2);
  });

  test("modes of Vorbis are those that a decoder finds, not what looks like modes", async () => {
    const seconds = (99 * 2048) / 44_100;
    expect(await read(oggVorbis(vorbisSetup(), 100))).toBeCloseTo(seconds, 6);
    expect(await read(oggVorbis(vorbisSetup({ isTwofold: true }), 100))).toBeCloseTo(seconds, 6);
    expect(await read(oggVorbis(vorbisSetup().subarray(0, -1), 100))).toContain("cut off");
    const long = join(vorbisSetup(), new Uint8Array(64_700));
    expect(await read(join(oggVorbis(long.subarray(0, 60_000), 100)))).toBeCloseTo(seconds, 6);
  });

  test("unfinished headers of many streams are refused, and one header is bounded", async () => {
    expect(await read(oggOfOpenHeaders(64))).toContain("headers are incomplete");
    const page = oggPage({ body: new Uint8Array(255), flags: 1, segments: [255], serial: 0 });
    expect(await read(join(oggOfOpenHeaders(1), page, page, page))).toContain("too long");
  });
});

describe("M4A", () => {
  const m4a = fixtureBytes("speech.m4a");
  const movieAt = at(m4a, "moov") - 4;
  const movieEnd = movieAt + Buffer.from(m4a).readUInt32BE(movieAt);
  const movie = m4a.subarray(movieAt, movieEnd);

  test("a second movie inside of another box is refused, wherever it stands", async () => {
    for (const name of ["udta", "edts", "dinf", "tref", "gmhd", "meta", "wave", "iprp", "free"]) {
      expect(await read(join(m4a, box(name, movie)))).toContain("unusual place");
      const deep = box("udta", box("free", new Uint8Array(8)), box(name, movie));
      expect(await read(join(m4a, deep))).toContain("unusual place");
    }
    expect(await read(join(m4a, box("free", movie.subarray(8))))).toContain("mvhd box is in");
    expect(await read(join(m4a, box("free", new Uint8Array(4_000))))).toBeCloseTo(4.096, 3);
  });

  test("tables that a box for something else holds are refused", async () => {
    for (const name of ["trak", "mdia", "minf", "stbl", "stsz", "stts", "moof", "trun", "cmov"]) {
      const inside = box("udta", box(name, new Uint8Array(12)));
      const grown = join(movie, inside);
      new DataView(grown.buffer).setUint32(0, grown.length);
      // Behind everything, so that no offset changes.
      const file = join(edited(m4a, movieAt + 4, [...Buffer.from("free")]), grown);
      expect(await read(file)).toContain("unusual place");
    }
  });

  test("a track that hides that it is audio is refused", async () => {
    const kind = at(m4a, "soun");
    expect(await read(edited(m4a, kind, [...Buffer.from("text")]))).toContain("hides its sound");
    expect(await read(edited(m4a, kind, [...Buffer.from("vide")]))).toContain("no audio track");
  });
});

describe("WebM", () => {
  const blocks = (count: number) => cluster(repeated(block(opusPacket), count));

  test("tracks come once and before all clusters", async () => {
    expect(await read(webmOf(opusTracks, blocks(50)))).toBeCloseTo(1, 6);
    const late = webmOf(blocks(50), opusTracks, blocks(1));
    expect(await read(late)).toContain("its tracks are not at its start");
    const empty = webmOf(cluster(), opusTracks, blocks(1));
    expect(await read(empty)).toContain("its tracks are not at its start");
    const twice = webmOf(opusTracks, blocks(1), opusTracks, blocks(50));
    expect(await read(twice)).toContain("two lists of tracks");
  });

  test("a block of a track that is not declared is refused", async () => {
    const stray = edited(block(opusPacket), 5, [0x82]);
    expect(await read(webmOf(opusTracks, cluster(stray)))).toContain("belongs to no track");
  });

  test("a lace with more packets than bytes is refused; others last as long as their packets", async () => {
    expect(await read(webmOfEmptyLaces(1024))).toContain("more packets than bytes");
    const lace = fixedLace(4, repeated(opusPacket, 4));
    expect(await read(webmOf(opusTracks, cluster(lace)))).toBeCloseTo(0.08, 6);
    const uneven = fixedLace(4, repeated(opusPacket, 3));
    expect(await read(webmOf(opusTracks, cluster(uneven)))).toContain("sizes in one of its blocks");
  });

  test("each packet of a lace is a step, and so is each of millions of elements", async () => {
    const lace = fixedLace(256, new Uint8Array(256).fill(0x78));
    const turns = turnsOf(webmAudioDurationS(webmOf(opusTracks, cluster(repeated(lace, 640)))));
    expect(turns).toBeGreaterThanOrEqual(5);
    const voids = repeated(Uint8Array.from([0xec, 0x80]), 100_000);
    expect(await read(join(webmOf(opusTracks), repeated(voids, 10)))).toContain(
      "too many elements",
    );
    const fields = Array.from({ length: 65 }, (_, id) => element((0x4300 + id).toString(16)));
    const track = element("1654ae6b", element("ae", ...fields));
    expect(await read(webmOf(track))).toContain("too many fields");
  });
});

/** How often a reading gives the event loop away. */
function turnsOf(reading: Generator): number {
  let turns = 0;
  try {
    while (reading.next().done !== true) turns++;
  } catch {
    // A refusal ends it too.
  }
  return turns;
}
