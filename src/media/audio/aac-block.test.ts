import { describe, expect, test } from "bun:test";
import {
  bitsOf,
  blockEnd,
  dataElement,
  edits,
  type Field,
  fillElement,
  highEfficiency,
  lowComplexity,
  type M4a,
  m4aOf,
  packetsOf,
  silence,
  silentBlock,
} from "../../../test/fixtures/media/aac-bytes.ts";
import { join, repeated } from "../../../test/fixtures/media/audio-bytes.ts";
import { fixtureBytes } from "../../../test/fixtures/media/fixture.ts";
import { inspectAudio } from "./audio.ts";
import { m4aDurationS } from "./m4a.ts";

/** Seconds, or why there are none. */
async function read(file: M4a): Promise<number | string> {
  const audio = await inspectAudio(m4aOf(file));
  return audio.ok ? audio.durationS : audio.problem;
}

const each = (packet: Uint8Array): M4a => ({ packets: Array<Uint8Array>(16).fill(packet) });
const blockOf = (...elements: readonly Field[]): Uint8Array => bitsOf(...elements, blockEnd);
const seconds = (16 * 1024) / 8_000;
const refusal = "not one whole frame of AAC-LC";

describe("packets of encoders", () => {
  const recorded = [
    ["speech.m4a", "WebCodecs"],
    ["speech-stereo.m4a", "WebCodecs, two channels"],
    ["audio-only.mp4", "FFmpeg"],
    ["speech-he-aac.m4a", "libfdk, HE-AAC of the second version"],
    ["speech-short-windows.m4a", "FAAC, only short windows"],
  ] as const;

  test.each(recorded)("%s, by %s, is one frame per packet, to the bit", async (name) => {
    const { packets, configuration } = packetsOf(fixtureBytes(name));
    expect(packets.length).toBeGreaterThan(15);
    const whole = await read({ packets, configuration });
    expect(whole).toBeNumber();
    const padded = packets.map((packet) => join(packet, new Uint8Array(3)));
    expect(await read({ packets: padded, configuration })).toBe(whole);
    const [first = silentBlock, second = silentBlock] = packets;
    for (const packet of packets.slice(0, 16))
      for (const broken of [packet.subarray(0, -1), join(packet, first), join(packet, second)])
        expect(await read({ packets: [first, broken], configuration })).toContain(refusal);
  });
});

describe("several frames in one packet", () => {
  test("are refused, in tables and in fragments, with zeros or fill between them", async () => {
    expect(await read(each(silentBlock))).toBeCloseTo(seconds, 6);
    expect(await read({ ...each(silentBlock), isFragmented: true })).toBeCloseTo(seconds, 6);
    const filler = blockOf(...fillElement(3, [0, 24]));
    for (const count of [2, 8, 200]) {
      const packet = repeated(silentBlock, count);
      expect(await read(each(packet))).toContain(refusal);
      expect(await read({ ...each(packet), isFragmented: true })).toContain(refusal);
      expect(await read(each(repeated(join(silentBlock, filler), count)))).toContain(refusal);
    }
    for (const packet of [
      join(silentBlock, new Uint8Array(9), silentBlock),
      join(blockOf(), silentBlock),
      join(Uint8Array.of(0xff, 0xf1, 0x6c, 0x40, 1, 0x7f, 0xfc), silentBlock),
      new Uint8Array(),
    ])
      expect(await read(each(packet))).toContain(refusal);
  });

  test("may stand in data and fill, which decoders pass over", async () => {
    const blocks = repeated(silentBlock, 60);
    const content = [...blocks].map((byte): Field => [byte, 8]);
    for (const packet of [
      blockOf(...silence, ...dataElement(blocks)),
      blockOf(...dataElement(repeated(blocks, 2)), ...silence),
      blockOf(...silence, ...fillElement(241, [0, 8], ...content)),
      blockOf(...silence, ...fillElement(241, [13 << 4, 8], ...content)),
    ])
      expect(await read(each(packet))).toBeCloseTo(seconds, 6);
  });

  test("are refused in fill that decoders leave elsewhere than it says", async () => {
    const replication = fillElement(2, [13, 4], [0, 12]);
    expect(await read(each(blockOf(...replication, ...silence)))).toContain(refusal);
    // Dynamic range of one band has two bytes, of which one is counted.
    const short = blockOf(...silence, ...fillElement(1, [11, 4], [0, 4], [0, 8]));
    expect(await read(each(short))).toContain(refusal);
    const range = fillElement(2, [11, 4], [0, 4], [0, 8]);
    expect(await read(each(blockOf(...silence, ...range)))).toBeCloseTo(seconds, 6);
    const exclusions = Array.from({ length: 9 }, (): Field => [255, 8]);
    const endless = fillElement(20, [11, 4], [4, 3], ...exclusions, [0, 81]);
    expect(await read(each(blockOf(...silence, ...endless)))).toContain(refusal);
  });
});

describe("tables of an M4A", () => {
  test("whose chunks hold other packets than have a size are refused", async () => {
    for (const perChunk of [1, 8, 16])
      expect(await read({ ...each(silentBlock), perChunk })).toBeCloseTo(seconds, 6);
    for (const perChunk of [3, 17])
      expect(await read({ ...each(silentBlock), perChunk })).toContain("chunks do not hold");
    const file = m4aOf(each(silentBlock));
    new DataView(file.buffer).setUint32(Buffer.from(file).indexOf("stsc") + 20, 0);
    expect(await inspectAudio(file)).toMatchObject({ problem: expect.stringContaining("stsc") });
  });

  test("in a fragment whose header has an unusual form are refused", async () => {
    const file = m4aOf({ packets: [silentBlock], isFragmented: true });
    const start = Buffer.from(file).indexOf("moof") - 4;
    const size = new DataView(file.buffer).getUint32(start);
    const header = bitsOf([1, 32], [0x6d6f_6f66, 32], [0, 32], [size + 8, 32]);
    const long = join(file.subarray(0, start), header, file.subarray(start + 8));
    expect(await inspectAudio(long)).toMatchObject({ problem: expect.stringContaining("header") });
  });

  test("that play a part twice, or make packets of chunks, are refused", async () => {
    const ticks = 16 * 1024;
    expect(await read({ ...each(silentBlock), extra: edits(1, ticks) })).toBeCloseTo(seconds, 6);
    expect(await read({ ...each(silentBlock), extra: edits(2, ticks) })).toContain("twice");
    expect(await read({ ...each(silentBlock), ticks: 1 })).toContain("one tick");
  });

  test("whose frames share bytes, or are larger than frames get, are refused", async () => {
    const packet = blockOf(...silence, ...dataElement(new Uint8Array(500)));
    const file = m4aOf({ ...each(packet), perChunk: 8 });
    // Two chunks of 16 packets each, at the same place.
    const at = (name: string) => Buffer.from(file).indexOf(name);
    const view = new DataView(file.buffer);
    view.setUint32(at("stts") + 12, 32);
    view.setUint32(at("stsc") + 16, 16);
    view.setUint32(at("stsz") + 8, packet.length);
    view.setUint32(at("stsz") + 12, 32);
    view.setUint32(at("stco") + 16, view.getUint32(at("stco") + 12));
    expect(await inspectAudio(file)).toMatchObject({ problem: expect.stringContaining("share") });
    const large = blockOf(...silence, ...repeatedFields(dataElement(new Uint8Array(500)), 5));
    expect(await read(each(large))).toContain("more bytes than audio");
  });

  test("of other kinds of AAC than LC and HE are refused", async () => {
    const lasting = async (configuration: Uint8Array) =>
      await read({ ...each(silentBlock), configuration });
    for (const rate of [8, 11, 12]) expect(await lasting(lowComplexity(rate))).toBeNumber();
    for (const type of [5, 29])
      expect(await lasting(highEfficiency(8, type))).toBeCloseTo(seconds / 2, 6);
    for (const type of [1, 3, 4, 23, 39, 42])
      expect(await lasting(bitsOf([type, 5], [8, 4], [1, 4], [0, 3]))).toContain("neither AAC-LC");
    expect(await lasting(bitsOf([2, 5], [8, 4], [1, 4], [4, 3]))).toContain("1,024 samples");
    for (const rate of [13, 15])
      expect(await lasting(lowComplexity(rate))).toContain("AAC's rates");
  });
});

test("reading a large file ends its turn every few thousand packets", () => {
  const packet = blockOf(...silence, ...dataElement(new Uint8Array(250)));
  const reading = m4aDurationS(m4aOf({ packets: Array<Uint8Array>(4_000).fill(packet) }));
  let turns = 0;
  while (reading.next().done !== true) turns++;
  expect(turns).toBeGreaterThan(30);
});

const repeatedFields = (fields: readonly Field[], count: number): readonly Field[] =>
  Array.from({ length: count }, () => fields).flat();
