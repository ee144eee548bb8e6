/** What a caller pays for is heard, or the file is refused; and nothing breaks the decoder. */

import { describe, expect, test } from "bun:test";
import { inspectAudio } from "../../src/media/audio/audio.ts";
import { at, edited, join, withChecksums } from "../../test/fixtures/media/audio-bytes.ts";
import { fixtureBytes } from "../../test/fixtures/media/fixture.ts";
import { EngineError } from "../contract.ts";
import { decodeAudio } from "./decode.ts";

const cbr = fixtureBytes("speech-cbr.mp3");
const vbr = fixtureBytes("speech-vbr.mp3");
const wav = fixtureBytes("speech.wav");
const flac = fixtureBytes("speech.flac");
const opus = fixtureBytes("speech-opus.ogg");
const vorbis = fixtureBytes("speech-vorbis.ogg");
const m4a = fixtureBytes("speech.m4a");
const webm = fixtureBytes("speech-opus.webm");

const most = [255, 255, 255, 255];

/** The seconds that come out, and the message of the refusal that ends them. */
async function hear(audio: Uint8Array): Promise<{ seconds: number; refusal?: string }> {
  let samples = 0;
  try {
    for await (const piece of decodeAudio({ audio, signal: new AbortController().signal }))
      samples += piece.length;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    expect(error).toMatchObject({ status: 400, param: "file" });
    return { seconds: samples / 16_000, refusal: error.message };
  }
  return { seconds: samples / 16_000 };
}

function withPositions(ogg: Uint8Array, position: bigint): Uint8Array {
  const copy = Buffer.from(ogg);
  for (let page = 0; page !== -1; page = copy.indexOf("OggS", page + 1))
    copy.writeBigInt64LE(position, page + 6);
  return withChecksums(copy);
}

/** An index in place of sound, with a number of frames and of bytes. */
function indexed(frames: number, sizeBytes: number): Uint8Array {
  const head = Buffer.from(cbr.slice(0, 108).fill(0, 4));
  head.write("Xing", 13);
  head.writeUInt32BE(3, 17);
  head.writeUInt32BE(frames, 21);
  head.writeUInt32BE(sizeBytes, 25);
  return join(head, cbr);
}

const webmDuration = at(webm, "\x44\x89");

type Verdict = "heard as billed" | "not billed" | "not heard";

/** "not billed": the gateway refuses the file. "not heard": the recognizer does, and it is free. */
const liars: readonly (readonly [string, Verdict, Uint8Array])[] = [
  ["MP3 that becomes stereo", "not billed", join(cbr, vbr)],
  ["MP3 that becomes mono", "not billed", join(vbr, cbr)],
  [
    "MP3 that alternates",
    "not billed",
    join(...Array.from({ length: 6 }, (_, i) => (i % 2 ? cbr : vbr))),
  ],
  ["MP3 with noise within", "heard as billed", join(cbr, Buffer.alloc(70_000), cbr)],
  [
    "MP3 with a tag within",
    "not billed",
    join(cbr, Buffer.from([73, 68, 51, 4, 0, 0, 0, 0, 1, 0]), cbr),
  ],
  [
    "MP3 whose tag is longer than the file",
    "not billed",
    join(Buffer.from([73, 68, 51, 4, 0, 0, 127, 127, 127, 127]), cbr),
  ],
  [
    "MP3 whose tag has a wrong size",
    "not billed",
    join(Buffer.from([73, 68, 51, 4, 0, 0, 255, 127, 127, 127]), cbr),
  ],
  ["MP3 whose index claims little", "heard as billed", indexed(1, 100)],
  ["MP3 whose index claims much", "heard as billed", indexed(0xffff_ffff, 0xffff_ffff)],
  ["WAV of no size", "heard as billed", edited(wav, 40, [0, 0, 0, 0])],
  ["WAV of a small size", "not billed", edited(wav, 40, [0, 4, 0, 0])],
  ["WAV of unknown sizes", "heard as billed", edited(edited(wav, 40, most), 4, most)],
  ["WAV of other bits than bytes", "not billed", edited(wav, 34, [64, 0])],
  ["FLAC without a total", "heard as billed", edited(flac, 22, [0, 0, 0, 0])],
  ["FLAC of a large total", "heard as billed", edited(flac, 22, most)],
  ["FLAC of another rate", "not billed", edited(flac, 18, [5, 220])],
  ["FLAC and another", "not billed", join(flac, flac)],
  ["Ogg Opus and another", "not heard", join(opus, opus)],
  ["Ogg Opus, then Vorbis", "not heard", join(opus, vorbis)],
  ["Ogg Vorbis with noise and another", "not billed", join(vorbis, Buffer.alloc(70_000), vorbis)],
  ["Ogg with a wrong checksum", "not billed", edited(opus, opus.length - 1, [1])],
  ...[opus, vorbis].flatMap((ogg) =>
    [0n, 1n, -1n, 2n ** 62n].map(
      (position) =>
        [`Ogg at ${position}`, "heard as billed", withPositions(ogg, position)] as const,
    ),
  ),
  ...["mvhd", "mdhd"].flatMap((name) =>
    [[0, 0, 0, 0], most].map(
      (value) =>
        [
          `M4A with ${name} ${value[0]}`,
          "heard as billed",
          edited(m4a, at(m4a, name) + 20, value),
        ] as const,
    ),
  ),
  ["M4A with a scale of 0", "not heard", edited(m4a, at(m4a, "mdhd") + 16, [0, 0, 0, 0])],
  ["M4A with times for one frame", "not billed", edited(m4a, at(m4a, "stts") + 12, [0, 0, 0, 1])],
  ["M4A with a size for one frame", "not billed", edited(m4a, at(m4a, "stsz") + 12, [0, 0, 0, 1])],
  ["M4A with one frame per chunk", "not billed", edited(m4a, at(m4a, "stsc") + 16, [0, 0, 0, 1])],
  ["M4A with all frames in a chunk", "not billed", edited(m4a, at(m4a, "stsc") + 16, most)],
  ["M4A with too many chunks", "not billed", edited(m4a, at(m4a, "stco") + 8, most)],
  ["WebM without a duration", "heard as billed", edited(webm, webmDuration, [0xec])],
  ["WebM of no duration", "heard as billed", edited(webm, webmDuration + 3, [0, 0, 0, 0])],
];

describe("a file that lies about its duration", () => {
  test.each(liars)("is heard as it is billed, or refused: %s, %s", async (_, verdict, audio) => {
    const billed = await inspectAudio(audio);
    expect(billed.ok).toBe(verdict !== "not billed");
    if (!billed.ok) return;
    const { seconds, refusal } = await hear(audio);
    expect(refusal === undefined).toBe(verdict === "heard as billed");
    // Less than a packet is trimmed, or not, at either end.
    if (refusal === undefined) expect(Math.abs(seconds - billed.durationS)).toBeLessThan(0.05);
  });

  test("is refused before anything is heard where only its start would be", async () => {
    for (const audio of [join(cbr, vbr), join(vbr, cbr)])
      expect(await hear(audio)).toEqual({
        seconds: 0,
        refusal: expect.stringContaining("changes its channels or its samples midway"),
      });
    expect(await hear(join(opus, vorbis))).toEqual({
      seconds: 0,
      refusal: expect.stringContaining("more than one stream"),
    });
    const endless = edited(m4a, at(m4a, "stsc") + 16, most);
    expect((await hear(endless)).refusal).toContain("too many frames");
  });

  test("a picture in front of an MP3 is no change of its frames", async () => {
    const picture = Buffer.from(vbr.subarray(0, 4000));
    const tag = Buffer.from([73, 68, 51, 4, 0, 0, 0, 0, picture.length >> 7, picture.length & 127]);
    expect(await hear(join(tag, picture, cbr))).toEqual({ seconds: expect.closeTo(4.068, 2) });
  });
});

/** How loud each fiftieth of a second is. */
async function envelopeOf(audio: Uint8Array): Promise<readonly number[]> {
  const samples: number[] = [];
  for await (const piece of decodeAudio({ audio, signal: new AbortController().signal }))
    samples.push(...piece);
  return Array.from({ length: Math.floor(samples.length / 320) }, (_, at) =>
    Math.hypot(...samples.slice(at * 320, (at + 1) * 320)),
  );
}

/** At the best of some shifts: encoders put silence in front. */
function likeness(left: readonly number[], right: readonly number[]): number {
  const cosine = (shift: number) => {
    const pairs = left.map((level, at) => [level, right[at + shift] ?? 0] as const);
    const sum = (of: (pair: readonly [number, number]) => number) =>
      pairs.reduce((total, pair) => total + of(pair), 0);
    return sum(([a, b]) => a * b) / Math.sqrt(sum(([a]) => a * a) * sum(([, b]) => b * b));
  };
  return Math.max(...[-4, -3, -2, -1, 0, 1, 2, 3, 4].map(cosine));
}

test.each([
  "speech.flac",
  "speech-cbr.mp3",
  "speech-vbr.mp3",
  "speech-opus.ogg",
  "speech-vorbis.ogg",
  "speech-stereo.m4a",
  "speech-fragmented.m4a",
  "speech-opus.webm",
])("%s sounds as the recording that it was made from", async (name) => {
  const recorded = await envelopeOf(wav);
  expect(likeness(recorded, await envelopeOf(fixtureBytes(name)))).toBeGreaterThan(0.97);
  expect(likeness(recorded, recorded.toReversed())).toBeLessThan(0.9);
});
