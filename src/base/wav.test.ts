import { describe, expect, test } from "bun:test";
import { fixtureBytes, seededRandom } from "../../test/fixtures/media/fixture.ts";
import { readWavHeader, wavHeader, wavHeaderBytes } from "./wav.ts";

const speech = {
  sampleRate: 24_000,
  channels: 1,
  bitsPerSample: 16,
  format: "pcm",
  isConsistent: true,
} as const;

describe("wavHeader", () => {
  test("is the canonical 44 bytes when the length is known", () => {
    const header = Buffer.from(wavHeader({ dataBytes: 4_800 })).toString("hex");
    expect(header).toBe(
      "52494646e4120000" + // RIFF, 36 + 4800
        "57415645666d7420" + // WAVE, fmt
        "1000000001000100" + // 16 bytes; PCM, mono
        "c05d000080bb0000" + // 24000 Hz, 48000 bytes a second
        "0200100064617461" + // 2 bytes a frame, 16 bits; data
        "c0120000",
    );
  });

  test("puts ffffffff in both size fields when the length is not known", () => {
    const view = new DataView(wavHeader().buffer);
    expect(view.getUint32(4, true)).toBe(0xffff_ffff);
    expect(view.getUint32(40, true)).toBe(0xffff_ffff);
  });

  test("takes the streaming form for lengths that 32 bits cannot hold", () => {
    expect(wavHeader({ dataBytes: 0xffff_ffff })).toEqual(wavHeader());
  });

  test("writes a length of zero as zero", () => {
    expect(readWavHeader(wavHeader({ dataBytes: 0 }))).toMatchObject({ ok: true, dataBytes: 0 });
  });
});

describe("readWavHeader", () => {
  test("reads back what wavHeader writes", () => {
    const read = { ok: true, ...speech, dataOffset: wavHeaderBytes } as const;
    expect(readWavHeader(wavHeader({ dataBytes: 10 }))).toEqual({ ...read, dataBytes: 10 });
    expect(readWavHeader(wavHeader())).toEqual({ ...read, dataBytes: undefined });
  });

  test("passes over a LIST chunk before the samples", () => {
    const bytes = fixtureBytes("sine-24khz-list-chunk.wav");
    expect(readWavHeader(bytes)).toEqual({
      ok: true,
      ...speech,
      dataOffset: bytes.length - 4_800,
      dataBytes: 4_800,
    });
  });

  test("skips the pad byte after a chunk of odd length", () => {
    const header = wavHeader({ dataBytes: 2 });
    const odd = Buffer.from("junk\x03\0\0\0abc\0", "latin1");
    const bytes = Buffer.concat([header.subarray(0, 12), odd, header.subarray(12)]);
    expect(readWavHeader(bytes)).toMatchObject({ ok: true, dataOffset: 56, dataBytes: 2 });
  });

  test("takes the extensible format with the PCM subtype for PCM", () => {
    expect(readWavHeader(fixtureBytes("sine-48khz-extensible.wav"))).toMatchObject({
      ok: true,
      sampleRate: 48_000,
      bitsPerSample: 24,
      format: "pcm",
      dataBytes: 7_200,
    });
  });

  test("does not take an extensible format with a foreign subtype for PCM", () => {
    const bytes = fixtureBytes("sine-48khz-extensible.wav");
    bytes[59] = 0;
    expect(readWavHeader(bytes)).toMatchObject({ ok: true, format: "other" });
  });

  test("asks for more bytes at every cut before the samples, and reads every longer prefix", () => {
    const bytes = fixtureBytes("sine-24khz-list-chunk.wav");
    for (let length = 0; length < 200; length += 1) {
      const reading = readWavHeader(bytes.subarray(0, length));
      expect(reading.ok || reading.needsMoreBytes).toBe(true);
      expect(reading.ok).toBe(length >= 92);
    }
  });

  test("does not wait for more of what is no wav", () => {
    for (const text of ["ID3", "RIFX", "RIFF0000AVI ", "{"]) {
      expect(readWavHeader(Buffer.from(text))).toEqual({
        ok: false,
        needsMoreBytes: false,
        problem: "is not a RIFF WAVE file",
      });
    }
  });

  test("does not wait for a chunk that never ends", () => {
    const bytes = wavHeader();
    bytes.set(Buffer.from("LIST"), 36);
    expect(readWavHeader(bytes)).toMatchObject({ ok: false, needsMoreBytes: false });
  });

  test("refuses samples that no format describes", () => {
    const bytes = wavHeader();
    bytes.set(Buffer.from("junk"), 12);
    expect(readWavHeader(bytes)).toMatchObject({
      ok: false,
      problem: "has its data chunk before its fmt chunk",
    });
  });

  test("answers any mutation of a header without throwing", () => {
    const random = seededRandom(3);
    for (let round = 0; round < 20_000; round += 1) {
      const bytes = fixtureBytes("sine-48khz-extensible.wav").subarray(0, random(130));
      for (let flips = random(6); flips >= 0 && bytes.length > 0; flips -= 1) {
        bytes[random(bytes.length)] = random(256);
      }
      const reading = readWavHeader(bytes);
      expect(reading.ok || reading.problem.length > 0).toBe(true);
    }
  });
});
