import { describe, expect, test } from "bun:test";
import { fixtureBytes, seededRandom } from "../../test/fixtures/media/fixture.ts";
import { inspectImage, sniffImage } from "./image.ts";

const fixtures = [
  ["tiny.png", "image/png"],
  ["tiny.jpg", "image/jpeg"],
  ["tiny.webp", "image/webp"],
  ["tiny.gif", "image/gif"],
] as const;

describe("sniffImage", () => {
  test.each(fixtures)("knows %s by its content", (name, mime) => {
    expect(sniffImage(fixtureBytes(name))).toBe(mime);
  });

  test.each([
    "<svg xmlns='http://www.w3.org/2000/svg'/>",
    "BM      ",
    "RIFF    WAVEfmt ",
    "\xff\xd8",
    "",
  ])("knows nothing of %p", (text) => {
    expect(sniffImage(Buffer.from(text, "latin1"))).toBeUndefined();
  });
});

describe("inspectImage", () => {
  test.each(fixtures)("accepts %s under its own name", (name, mime) => {
    const bytes = fixtureBytes(name);
    expect(inspectImage(dataUri(mime, bytes))).toEqual({ ok: true, mime, bytes });
  });

  test("takes image/jpg for image/jpeg", () => {
    expect(inspectImage(dataUri("image/JPG", fixtureBytes("tiny.jpg")))).toMatchObject({
      ok: true,
      mime: "image/jpeg",
    });
  });

  test("names both types when the claim and the content differ", () => {
    expect(inspectImage(dataUri("image/png", fixtureBytes("tiny.gif")))).toEqual(
      refused("claims to be image/png but its content is image/gif"),
    );
  });

  test("refuses content that is none of the four, whatever it claims", () => {
    const text = dataUri("image/png", Buffer.from("<svg/>"));
    expect(inspectImage(text)).toEqual(refused("is not a PNG, JPEG, WebP or GIF image"));
  });

  test("passes the reason on when the data URI is broken", () => {
    expect(inspectImage("data:image/png;base64,A?")).toEqual(
      refused("is not valid base64: unexpected character at offset 1"),
    );
  });

  test.each([
    ["tiny.png", "image/png", 32],
    ["tiny.jpg", "image/jpeg", 100],
    ["tiny.webp", "image/webp", 493],
    ["tiny.gif", "image/gif", 13],
  ])("refuses %s (%s) cut to any length up to %i bytes", (name, mime, lengthBytes) => {
    for (let length = lengthBytes; length > 12; length -= 1) {
      expect(inspectImage(dataUri(mime, fixtureBytes(name).subarray(0, length)))).toEqual(
        refused(`is truncated: its ${mime} header is incomplete`),
      );
    }
  });

  test("answers any mutation of an image without throwing", async () => {
    const random = seededRandom(2);
    for (let round = 0; round < 4_000; round += 1) {
      const [name, mime] = fixtures[round % fixtures.length] ?? fixtures[0];
      const bytes = fixtureBytes(name).subarray(0, 1 + random(500));
      for (let flips = random(6); flips >= 0; flips -= 1) bytes[random(bytes.length)] = random(256);
      const inspection = await inspectImage(dataUri(mime, bytes));
      expect(inspection.ok || inspection.problem.length > 0).toBe(true);
    }
  });
});

const refused = (problem: string) => ({ ok: false, problem }) as const;

function dataUri(mime: string, bytes: Uint8Array): string {
  return `data:${mime};base64,${Buffer.from(bytes).toString("base64")}`;
}
