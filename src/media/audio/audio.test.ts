import { describe, expect, test } from "bun:test";
import { at, edited } from "../../../test/fixtures/media/audio-bytes.ts";
import { fixtureBytes, seededRandom } from "../../../test/fixtures/media/fixture.ts";
import { billedAudioSeconds } from "../../call/transcribe.ts";
import { inspectAudio } from "./audio.ts";

/** Encoders add up to 0.12 s of silence, which a decoder plays. */
const whole = [
  ["speech.wav", "wav", 3.98],
  ["sine-24khz-list-chunk.wav", "wav", 0.1],
  ["sine-48khz-extensible.wav", "wav", 0.05],
  ["speech-cbr.mp3", "mp3", 4.068],
  ["speech-vbr.mp3", "mp3", 4.032],
  ["speech.flac", "flac", 3.98],
  ["speech-vorbis.ogg", "ogg", 3.98],
  ["speech-opus.ogg", "ogg", 3.9935],
  ["speech.m4a", "m4a", 4.096],
  ["speech-stereo.m4a", "m4a", 4.053],
  ["speech-fragmented.m4a", "m4a", 4.096],
  ["h264-2s-audio-8s.mp4", "m4a", 8.034],
  ["speech-opus.webm", "webm", 4],
  ["vp8-2s-live.webm", "webm", 2.02],
] as const;

describe("inspectAudio", () => {
  test.each(whole)("%s is %s and lasts %d s", async (name, type, durationS) => {
    expect(await inspectAudio(fixtureBytes(name))).toEqual({
      ok: true,
      type,
      durationS: expect.closeTo(durationS, 3),
    });
  });

  test("refuses what is not audio, or has none", async () => {
    expect(await problemOf(new Uint8Array())).toContain("is not a WAV");
    expect(await problemOf(fixtureBytes("tiny.png"))).toContain("is not a WAV");
    expect(await problemOf(fixtureBytes("quicktime.mov"))).toContain("is not a WAV");
    expect(await problemOf(fixtureBytes("h264-1s.mp4"))).toContain("has no audio track");
    expect(await problemOf(fixtureBytes("vp8-2s.webm"))).toContain("has no audio track");
    expect(await problemOf(fixtureBytes("speech.wav").slice(0, 44))).toContain("has no audio");
  });

  test("an hour costs an hour: what a file claims about its duration does not count", async () => {
    // The rest is decode.test.ts's, which hears the files as well.
    const m4a = fixtureBytes("speech.m4a");
    const lying = edited(m4a, at(m4a, "stts") + 16, [0, 0, 0, 2]);
    expect(await secondsOf(edited(lying, at(m4a, "mdhd") + 20, [0, 0, 0, 1]))).toBe(5);
    const webm = fixtureBytes("speech-opus.webm");
    // The time scale of the segment, in nanoseconds.
    const scale = webm.findIndex((_, i) => [0x2a, 0xd7, 0xb1].every((b, j) => webm[i + j] === b));
    expect(await secondsOf(edited(webm, scale + 4, [0, 0, 1]))).toBe(4);
  });

  test("a WAV is as long as its bytes, and hides none behind its end", async () => {
    const wav = fixtureBytes("speech.wav");
    for (const size of [0, 0xffff_ffff, 0x7fff_ffff])
      expect(await secondsOf(withDataSize(wav, size))).toBe(4);
    const twice = Buffer.concat([wav, wav.subarray(36)]);
    expect(await problemOf(twice)).toContain("more data around its audio");
    const long = Buffer.concat([withDataSize(wav, 32_000), Buffer.alloc(2 * 1024 * 1024)]);
    expect(await problemOf(long)).toContain("more data around its audio");
    expect(await problemOf(edited(wav, 20, [17, 0]))).toContain("codec that is not supported");
    expect(await problemOf(edited(wav, 24, [255, 255, 255, 255]))).toContain("samples per second");
    expect(await problemOf(edited(wav, 22, [0, 0]))).toContain("channels");
    expect(await problemOf(edited(wav, 34, [0, 0]))).toContain("bits long");
  });

  test("MP3 has tags and zeros around its frames, and nothing else", async () => {
    const mp3 = fixtureBytes("speech-cbr.mp3");
    const junk = Buffer.from("not a frame");
    const id3v2 = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 11, ...junk]);
    const id3v1 = Buffer.alloc(128, "TAG");
    const apeHead = Buffer.from("APETAGEX\xd0\x07\0\0\x20\0\0\0\0\0\0\0", "latin1");
    const ape = Buffer.alloc(32);
    ape.set(apeHead);
    const zeros = Buffer.alloc(100);
    for (const whole of [
      [id3v2, id3v2, mp3],
      [id3v2, zeros, mp3, ape, ape, id3v1],
      [mp3, ape, id3v1],
      [mp3, zeros, ape],
      [mp3.subarray(0, -20), id3v1],
    ])
      expect(await secondsOf(Buffer.concat(whole))).toBe(5);
    expect(await secondsOf(Buffer.concat([mp3, id3v1, id3v2, mp3]))).toBe(9);
    for (const broken of [
      [mp3.subarray(0, 1080), junk, mp3],
      [mp3, junk],
    ])
      expect(await problemOf(Buffer.concat(broken))).toContain("belongs to no frame");
    for (const other of [
      [junk, mp3],
      [Buffer.alloc(3), mp3],
      [Buffer.alloc(300), mp3],
    ])
      expect(await problemOf(Buffer.concat(other))).toContain("is not a WAV, MP3");
  });

  test("chained Ogg streams add up", async () => {
    const ogg = fixtureBytes("speech-opus.ogg");
    expect(await secondsOf(Buffer.concat([ogg, ogg, fixtureBytes("speech-vorbis.ogg")]))).toBe(12);
  });

  test("an MP4 cannot list more frames than it has bytes", async () => {
    const m4a = fixtureBytes("speech.m4a");
    const count = at(m4a, "stsz") + 12;
    expect(await problemOf(edited(m4a, count, [255]))).toContain("longer than its box");
    const fragmented = fixtureBytes("speech-fragmented.m4a");
    const run = at(fragmented, "trun");
    const claimed = edited(fragmented, run + 8, [0xff, 0xff, 0xff, 0xff]);
    expect(await problemOf(claimed)).toContain("longer than its box");
  });

  test("an MP4 whose tables disagree on the number of frames is refused", async () => {
    const m4a = fixtureBytes("speech.m4a");
    const disagree = "tables do not agree";
    for (const count of [0, 1, 255])
      expect(await problemOf(edited(m4a, at(m4a, "stts") + 12, [0, 0, 0, count]))).toContain(
        disagree,
      );
    // One frame has a size and 64 have a time: a decoder takes that size for all of them.
    expect(await problemOf(edited(m4a, at(m4a, "stsz") + 12, [0, 0, 0, 1]))).toContain(disagree);
    expect(await problemOf(edited(m4a, at(m4a, "stts") + 8, [0, 1, 0, 0]))).toContain(
      "longer than its box",
    );
  });

  test("an MP3 that is cut within the header of a frame plays up to that frame", async () => {
    const mp3 = fixtureBytes("speech-cbr.mp3");
    const frame = Buffer.from(mp3).lastIndexOf(0xff);
    const whole = await secondsOf(mp3.slice(0, frame));
    expect(await secondsOf(mp3.slice(0, frame + 1))).toBe(whole);
    expect(await secondsOf(mp3.slice(0, frame + 3))).toBe(whole);
  });

  test("files that are cut or damaged end in a problem or a shorter duration", async () => {
    const random = seededRandom(7);
    for (const [name, , durationS] of whole) {
      const bytes = fixtureBytes(name);
      for (let round = 0; round < 60; round++) {
        const cut = await inspectAudio(bytes.slice(0, random(bytes.length)));
        if (cut.ok) expect(cut.durationS).toBeLessThan(durationS + 0.1);
        const damaged = bytes.slice();
        for (let hits = 0; hits < 8; hits++) damaged[random(bytes.length)] = random(256);
        const read = await inspectAudio(damaged);
        if (!read.ok) expect(read.problem).toMatch(/^(is|has|must|extends) /);
      }
    }
  });

  test("megabytes of each beginning are read to the end", async () => {
    for (const [name] of whole) {
      const start = fixtureBytes(name);
      const bytes = new Uint8Array(4 * 1024 * 1024).fill(0xff);
      bytes.set(start);
      await inspectAudio(bytes);
      for (let at = 0; at + start.length < bytes.length; at += start.length) bytes.set(start, at);
      await inspectAudio(bytes);
    }
  });
});

test("seconds are whole, rounded up, and at least one", () => {
  expect([0.01, 1, 1.0000000001, 1.01, 3600].map(billedAudioSeconds)).toEqual([1, 1, 1, 2, 3600]);
});

async function secondsOf(bytes: Uint8Array): Promise<number | string> {
  const read = await inspectAudio(bytes);
  return read.ok ? billedAudioSeconds(read.durationS) : read.problem;
}

async function problemOf(bytes: Uint8Array): Promise<string> {
  const read = await inspectAudio(bytes);
  return read.ok ? `lasts ${read.durationS} s` : read.problem;
}

function withDataSize(wav: Uint8Array, size: number): Uint8Array {
  const copy = wav.slice();
  new DataView(copy.buffer).setUint32(40, size, true);
  return copy;
}
