import { expect, test } from "bun:test";
import { join } from "node:path";
import { openClip } from "./clip.ts";
import { shapesIn, shapesInBox } from "./frame-header.ts";

const fixtures = join(import.meta.dir, "../../test/fixtures");

async function shapesOf(name: string) {
  const video = await Bun.file(join(fixtures, name)).bytes();
  const clip = await openClip({ video, signal: new AbortController().signal });
  const shapes = clip.box ? [...shapesInBox(clip.box)] : [];
  for await (const { data } of clip.packets) shapes.push(...shapesIn({ ...clip, packet: data }));
  return shapes;
}

test("H.264 tells its size in whole blocks of sixteen, apart from the packets", async () => {
  expect(await shapesOf("engine/cat-h264.mp4")).toEqual([{ width: 256, height: 176, bitDepth: 8 }]);
});

test.each([
  ["engine/cat-vp8.webm", 256, 170],
  ["engine/cat-vp9.webm", 256, 170],
  ["engine/cat-odd-vfr.webm", 255, 171],
  ["media/vp9-2s.webm", 64, 48],
])("%s tells its size once, in its key frame", async (name, width, height) => {
  expect(await shapesOf(name)).toEqual([{ width, height, bitDepth: 8 }]);
});

test("a size inside a H.264 packet is found as well", () => {
  const baseline = "01000010";
  const orderAndReferences = "111110";
  const blocksAcross = "00000000101000000"; // 320
  const blocksDownInWholeFrames = "11";
  const bits = [baseline, "0".repeat(16), orderAndReferences, blocksAcross, blocksDownInWholeFrames]
    .join("")
    .padEnd(56, "0");
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  const unit = [0x67, ...bytes];
  const packet = Uint8Array.from([0, 0, 0, unit.length, ...unit]);
  const [shape] = shapesIn({ codec: "avc", packet, box: undefined });
  expect(shape).toEqual({ width: 5120, height: 16, bitDepth: 8 });
});

test("bytes that are no frame tell nothing", () => {
  const packet = Uint8Array.from([0xff, 0xff, 0xff]);
  for (const codec of ["avc", "vp8", "vp9"] as const)
    expect(shapesIn({ codec, packet, box: undefined })).toEqual([]);
});
