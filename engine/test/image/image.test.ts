import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { ImageJob, ImageResult, Model } from "../../contract.ts";
import { loadImage } from "../../image/image.ts";
import { weightsDir } from "../weights/weights-dir.ts";

const fixtures = join(import.meta.dir, "../../../test/fixtures/engine");
const photographs = [
  "cat",
  "meadow-1",
  "meadow-2",
  "ruins-1",
  "ruins-2",
  "hibiscus",
  "impatiens",
  "coffee",
  "astronaut",
  "rocket",
  "raccoon",
] as const;
type Photograph = (typeof photographs)[number];

let model: Model<ImageJob, never, ImageResult>;
const known = new Map<Photograph, Float32Array>();

const bytesOf = (name: string) => Bun.file(join(fixtures, name)).bytes();

async function run(job: ImageJob, signal = new AbortController().signal) {
  return (await model.run(job, { signal, emit: () => undefined })).vectors;
}

async function embed(...names: readonly string[]): Promise<readonly Float32Array[]> {
  return run({ kind: "images", images: await Promise.all(names.map(bytesOf)) });
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (!a || !b) throw new Error("a vector is missing");
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

const between = (a: Photograph, b: Photograph) => cosine(known.get(a), known.get(b));

/** How near the nearest of all photographs but these is. */
function nearest(vector: Float32Array | undefined, ...but: readonly Photograph[]): number {
  const others = photographs.filter((name) => !but.includes(name));
  return Math.max(...others.map((name) => cosine(vector, known.get(name))));
}

// The first run fetches the weights.
beforeAll(async () => {
  model = await loadImage({ dir: await weightsDir("image") });
  const vectors = await embed(...photographs.map((name) => `${name}.jpg`));
  for (const [at, name] of photographs.entries())
    known.set(name, vectors[at] ?? new Float32Array());
}, 600_000);

test("each picture gives 2048 numbers of unit length", () => {
  expect(known.size).toBe(photographs.length);
  for (const vector of known.values()) {
    expect(vector.length).toBe(2048);
    expect(Math.sqrt(cosine(vector, vector))).toBeCloseTo(1, 5);
  }
});

test.each([
  ["meadow-1", "meadow-2"],
  ["ruins-1", "ruins-2"],
  ["hibiscus", "impatiens"],
] as const)("%s and %s are nearer to each other than to anything else", (a, b) => {
  expect(between(a, b)).toBeGreaterThan(nearest(known.get(a), a, b) + 0.15);
  expect(between(a, b)).toBeGreaterThan(nearest(known.get(b), a, b) + 0.15);
});

// Found by feeding the network from a second, separate calculation: the picture squeezed to 224 by
// 224, blue first, less Keras's ImageNet means. Red first, or the means swapped, moves each value
// by 0.005 or more.
test("a known picture has the vector that it has always had", async () => {
  const [vector] = await embed("cat.png");
  for (const [at, value] of [
    [956, 0.2308],
    [830, 0.2144],
    [1353, 0.1826],
    [1669, 0.1762],
    [916, 0.1622],
    [449, 0.1521],
  ] as const) {
    expect(Math.abs((vector?.[at] ?? 0) - value)).toBeLessThan(0.001);
  }
});

test("pictures of different things are far apart", () => {
  expect(between("cat", "rocket")).toBeLessThan(0.35);
  expect(between("meadow-1", "coffee")).toBeLessThan(0.35);
  expect(between("ruins-1", "hibiscus")).toBeLessThan(0.35);
});

test.each(["cat.png", "cat.webp", "cat.gif"])("%s is nearly the same as its JPEG", async (name) => {
  const [vector] = await embed(name);
  expect(cosine(vector, known.get("cat"))).toBeGreaterThan(0.95);
});

test("eight pictures in one job give the same vectors as alone, in their order", async () => {
  const names = photographs.slice(0, 8);
  const vectors = await embed(...names.map((name) => `${name}.jpg`));
  expect(vectors.length).toBe(8);
  for (const [at, name] of names.entries())
    expect(cosine(vectors[at], known.get(name))).toBeGreaterThan(0.9999);
});

test.each([
  ["cat-h264.mp4", 0.9],
  ["cat-vp8.webm", 0.9],
  ["cat-vp9.webm", 0.9],
  ["cat-odd-vfr.webm", 0.9],
  ["cat-rotated.mp4", 0.9],
  ["cat-one-frame.mp4", 0.8],
])("%s gives one vector, which lies at its picture", async (name, least) => {
  const vectors = await run({ kind: "video", video: await bytesOf(name) });
  expect(vectors.length).toBe(1);
  const [vector] = vectors;
  expect(Math.sqrt(cosine(vector, vector))).toBeCloseTo(1, 5);
  expect(cosine(vector, known.get("cat"))).toBeGreaterThan(least);
  expect(nearest(vector, "cat")).toBeLessThan(0.5);
});

test.each([
  ["truncated.jpg", "it is damaged or truncated"],
  ["header-only.png", "it is damaged or truncated"],
  ["text.png", "it is not a PNG, JPEG, WebP or GIF file"],
])("%s fails the whole job and is named by its place", async (name, reason) => {
  await expect(embed("cat.jpg", "coffee.jpg", name, "cat.png")).rejects.toMatchObject({
    name: "EngineError",
    status: 400,
    param: "input[2]",
    message: `input[2] cannot be decoded as an image: ${reason}.`,
  });
});

test("stops when the caller has left", async () => {
  const job = { kind: "images", images: [await bytesOf("cat.jpg")] } as const;
  await expect(run(job, AbortSignal.abort())).rejects.toThrow("aborted");
});
