import { expect, test } from "bun:test";
import { tone } from "../../../../../test/fake/recordings.ts";
import { AudioIntake, toBars } from "./audio-intake.ts";

const pcm = new Uint8Array(tone(0.5));

/** The header of a stream, whose sizes are not known. */
function streamedWav(): Uint8Array {
  const header = Buffer.from("RIFF\xff\xff\xff\xffWAVEfmt ", "latin1");
  const format = Buffer.alloc(20);
  format.writeUInt32LE(16, 0);
  const data = Buffer.from("data\xff\xff\xff\xff", "latin1");
  return new Uint8Array(Buffer.concat([header, format, data, pcm]));
}

test("the samples are the same, however the network cuts a stream", async () => {
  const wav = streamedWav();
  for (const pieceBytes of [1, 3, 43, 45, 1_001, 100_000]) {
    const intake = new AudioIntake("wav");
    for (let at = 0; at < wav.length; at += pieceBytes) intake.add(wav.slice(at, at + pieceBytes));
    expect(intake.seconds).toBe(0.5);
    expect(new Uint8Array(await intake.toPcm().arrayBuffer())).toEqual(pcm);
  }
});

test("what is played and kept has a header with the right sizes", async () => {
  const intake = new AudioIntake("wav");
  intake.add(streamedWav());
  const wav = new DataView(await intake.toWav().arrayBuffer());
  expect(wav.getUint32(4, true)).toBe(wav.byteLength - 8);
  expect(wav.getUint32(24, true)).toBe(24_000);
  expect(wav.getUint32(40, true)).toBe(pcm.length);
  expect(wav.byteLength).toBe(44 + pcm.length);
});

test("levels tell how loud each 20 ms are", () => {
  const intake = new AudioIntake("pcm");
  const quiet = new Int16Array(480);
  const loud = new Int16Array(480).fill(-16_384);
  intake.add(new Uint8Array(quiet.buffer));
  intake.add(new Uint8Array(loud.buffer));
  expect(intake.levels).toEqual([0, 0.5]);
});

test("bars that have not come yet are empty, and the loudest of a bar counts", () => {
  expect(toBars({ levels: [0.1, 0.4, 0.2, 0.3], count: 4, total: 8 })).toEqual([0.4, 0.3, 0, 0]);
  expect(toBars({ levels: [0.1, 0.4, 0.2, 0.3], count: 2, total: 0 })).toEqual([0.4, 0.3]);
});
