import { expect, test } from "bun:test";
import { join } from "node:path";
import { readVideo } from "./video.ts";

const fixtures = join(import.meta.dir, "../../test/fixtures");
const bytesOf = async (name: string) => Buffer.from(await Bun.file(join(fixtures, name)).bytes());
const read = (video: Uint8Array) => readVideo({ video, signal: new AbortController().signal });

test.each([
  ["engine/cat-h264.mp4", 8],
  ["engine/cat-vp8.webm", 8],
  ["engine/cat-vp9.webm", 8],
  ["engine/cat-odd-vfr.webm", 7],
  ["engine/cat-rotated.mp4", 8],
  ["engine/cat-one-frame.mp4", 1],
  ["media/h264-2s-fragmented.mp4", 8],
  ["media/vp8-2s-live.webm", 8],
])("%s gives %i pictures", async (name, count) => {
  const pictures = await read(await bytesOf(name));
  expect(pictures.map(({ length }) => length)).toEqual(Array(count).fill(224 * 224 * 3));
});

test("red, green and blue planes have the colors of the same clip in luma and chroma", async () => {
  // This VP9 clip stores no luma; its makers' test picture is the same in both.
  const [planes] = await read(await bytesOf("media/vp9-2s.webm"));
  const [usual] = await read(await bytesOf("media/vp8-2s.webm"));
  if (!planes || !usual) throw new Error("no pictures");
  const difference = planes.reduce((sum, value, i) => sum + Math.abs(value - (usual[i] ?? 0)), 0);
  expect(difference / planes.length).toBeLessThan(16);
});

test.each([
  ["engine/truncated.mp4", "it is truncated after 2 of 50 frames"],
  ["engine/no-frames.webm", "it has no frames, or the file is truncated"],
  ["engine/text.png", "it is not an MP4 or WebM file, or it is damaged"],
  ["engine/cat.jpg", "it is not an MP4 or WebM file, or it is damaged"],
  ["media/audio-only.mp4", "it has no video track"],
])("%s is refused: %s", async (name, reason) => {
  await expect(read(await bytesOf(name))).rejects.toMatchObject({
    name: "EngineError",
    status: 400,
    param: "input",
    message: `input cannot be decoded as a video: ${reason}.`,
  });
});

test("a file without its end, where the tables are, is refused", async () => {
  const video = await bytesOf("engine/cat-one-frame.mp4");
  await expect(read(video.subarray(0, 2000))).rejects.toThrow("it has no video track");
});

test("frames larger than 4096 a side are refused before they are decoded", async () => {
  const video = await bytesOf("engine/cat-vp8.webm");
  // In a key frame of VP8, width and height follow this mark.
  const size = video.indexOf(Buffer.from([0x9d, 0x01, 0x2a])) + 3;
  video.writeUInt16LE(9000, size);
  await expect(read(video)).rejects.toThrow(
    "its frames are 9000x170; the maximum is 4096 pixels per side",
  );
});

test("a table that lists more frames than fit in memory is refused", async () => {
  const video = await bytesOf("engine/cat-h264.mp4");
  video.writeUInt32BE(0xf000_0000, video.indexOf("stts") + 12);
  await expect(read(video)).rejects.toThrow("it lists more than 200000 frames");
});

test("a damaged length in a WebM file does not keep the reader forever", async () => {
  const cluster = Buffer.from([0x1f, 0x43, 0xb6, 0x75, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  const video = Buffer.concat([await bytesOf("engine/no-frames.webm"), cluster]);
  await expect(read(video)).rejects.toThrow("it is not an MP4 or WebM file, or it is damaged");
});

test("damaged frames are refused, or read, but never break the process", async () => {
  const video = await bytesOf("engine/cat-h264.mp4");
  const outcomes = new Set<string>();
  for (let at = 2000; at < video.length; at += 1_100) {
    const damaged = Buffer.from(video).fill(0xff, at, at + 60);
    const outcome = await read(damaged).then(
      (pictures) => (pictures.length === 8 ? "read" : "half"),
      (error: unknown) => (error instanceof Error ? error.name : "unknown"),
    );
    outcomes.add(outcome);
  }
  expect([...outcomes].sort()).toEqual(["EngineError", "read"]);
});

test("stops when the caller has left", async () => {
  const video = await bytesOf("engine/cat-h264.mp4");
  await expect(readVideo({ video, signal: AbortSignal.abort() })).rejects.toThrow("aborted");
});
