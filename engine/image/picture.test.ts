import { expect, test } from "bun:test";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { type Picture, readPicture } from "./picture.ts";

const fixtures = join(import.meta.dir, "../../test/fixtures/engine");
const cat = join(fixtures, "cat.png");

const bytesOf = (name: string) => Bun.file(join(fixtures, name)).bytes();

function meanDifference(a: Picture, b: Picture): number {
  return a.reduce((sum, value, i) => sum + Math.abs(value - (b[i] ?? 0)), 0) / a.length;
}

async function read(image: Sharp): Promise<Picture> {
  return readPicture(await image.toBuffer());
}

test("a picture is 224 by 224, with red, green and blue", async () => {
  const red = sharp({ create: { width: 40, height: 30, channels: 3, background: "#ff8000" } });
  const picture = await read(red.png());
  expect(picture.length).toBe(224 * 224 * 3);
  expect([...picture.subarray(0, 3)]).toEqual([255, 128, 0]);
});

test("a greyscale picture is read like the same one in colors", async () => {
  const grey = sharp(cat).greyscale();
  const wide = sharp(await grey.clone().toColorspace("srgb").png().toBuffer());
  const narrow = await grey.clone().toColorspace("b-w").png().toBuffer();
  expect((await sharp(narrow).metadata()).channels).toBe(1);
  expect(meanDifference(await readPicture(narrow), await read(wide.png()))).toBeLessThan(1);
});

test("sixteen bits a channel are read like eight", async () => {
  const deep = await sharp(cat).toColorspace("rgb16").png().toBuffer();
  expect((await sharp(deep).metadata()).depth).toBe("ushort");
  expect(meanDifference(await readPicture(deep), await read(sharp(cat)))).toBeLessThan(1);
});

test("a CMYK photograph keeps its colors", async () => {
  const print = await sharp(cat).toColorspace("cmyk").jpeg({ quality: 95 }).toBuffer();
  expect((await sharp(print).metadata()).space).toBe("cmyk");
  expect(meanDifference(await readPicture(print), await read(sharp(cat)))).toBeLessThan(12);
});

test("what is transparent is white", async () => {
  const clear = sharp({ create: { width: 9, height: 9, channels: 4, background: "#00000000" } });
  expect((await read(clear.png())).every((value) => value === 255)).toBe(true);
});

test("a photograph is turned as its EXIF data says", async () => {
  const upright = await sharp(cat).resize(600).png().toBuffer();
  const lying = sharp(await sharp(upright).rotate(270).png().toBuffer()).jpeg({ quality: 95 });
  const picture = await readPicture(upright);
  const turned = await read(lying.clone().withMetadata({ orientation: 6 }));
  expect(meanDifference(turned, picture)).toBeLessThan(2);
  expect(meanDifference(await read(lying), picture)).toBeGreaterThan(20);
});

test("of an animation the first frame is read", async () => {
  const frames = ["#ff0000", "#0000ff"].map((background) => ({
    create: { width: 20, height: 20, channels: 3 as const, background },
  }));
  const [first, second] = await Promise.all(frames.map((frame) => sharp(frame).png().toBuffer()));
  const animation = sharp([first ?? "", second ?? ""], { join: { animated: true } });
  expect([...(await read(animation.gif())).subarray(0, 3)]).toEqual([255, 0, 0]);
});

test("a picture of more pixels than fit in memory is refused by its header", async () => {
  const bomb = Buffer.from(await bytesOf("cat.png"));
  bomb.writeUInt32BE(60_000, 16);
  bomb.writeUInt32BE(60_000, 20);
  bomb.writeUInt32BE(Bun.hash.crc32(bomb.subarray(12, 29)), 29);
  await expect(readPicture(bomb)).rejects.toThrow("it has more than 64000000 pixels");
});

test.each([
  ["truncated.jpg", "it is damaged or truncated"],
  ["header-only.png", "it is damaged or truncated"],
  ["text.png", "it is not a PNG, JPEG, WebP or GIF"],
  ["cat-h264.mp4", "it is not a PNG, JPEG, WebP or GIF"],
])("%s is refused: %s", async (name, reason) => {
  await expect(readPicture(await bytesOf(name))).rejects.toThrow(reason);
});

test("an empty file and a drawing are refused", async () => {
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
  for (const bytes of [new Uint8Array(), Buffer.from(drawing)])
    await expect(readPicture(bytes)).rejects.toThrow("it is not a PNG, JPEG, WebP or GIF");
});
