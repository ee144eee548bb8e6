/** Files that one decoder plays for longer than another: each is refused, or lasts what all play. */

import { describe, expect, test } from "bun:test";
import {
  block,
  cluster,
  element,
  fixedLace,
  join,
  oggOfOpenHeaders,
  oggPage,
  oggVorbis,
  opusPacket,
  opusTracks,
  repeated,
  vorbisSetup,
  webmOf,
  webmOfEmptyLaces,
  withChecksums,
} from "../../../test/fixtures/media/audio-bytes.ts";
import { fixtureBytes } from "../../../test/fixtures/media/fixture.ts";
import { inspectAudio } from "./audio.ts";
import { webmAudioDurationS } from "./webm-audio.ts";

const at = (bytes: Uint8Array, text: string) => Buffer.from(bytes).indexOf(text, 0, "latin1");

function edited(bytes: Uint8Array, offset: number, values: readonly number[]): Uint8Array {
  const copy = bytes.slice();
  copy.set(values, offset);
  return copy;
}

/** Seconds, or why there are none. */
async function read(bytes: Uint8Array): Promise<number | string> {
  const audio = await inspectAudio(bytes);
  return audio.ok ? audio.durationS : audio.problem;
}

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
    expect(turns).toBeGreaterThanOrEqual(10);
    const voids = repeated(Uint8Array.from([0xec, 0x80]), 100_000);
    expect(await read(join(webmOf(opusTracks), repeated(voids, 81)))).toContain("too many packets");
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
