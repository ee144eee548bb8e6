import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../test/fixtures/media/fixture.ts";
import { base64SizeBytes, readBase64, readImageDataUri } from "./data-uri.ts";

const notADataUri = "is not a data URI of the form data:image/<type>;base64,<data>";

const refused = (problem: string) => ({ ok: false, problem }) as const;

describe("readImageDataUri", () => {
  test("gives the mime in lower case and the decoded bytes", () => {
    expect(readImageDataUri("data:image/png;base64,AQID")).toEqual({
      ok: true,
      mime: "image/png",
      bytes: new Uint8Array([1, 2, 3]),
    });
  });

  test("reads scheme, mime and encoding in any case", () => {
    expect(readImageDataUri("DATA:Image/SVG+xml;BASE64,AQID")).toMatchObject({
      ok: true,
      mime: "image/svg+xml",
    });
  });

  test("passes over parameters", () => {
    expect(readImageDataUri("data:image/png;charset=utf-8;name=a.png;base64,AQID")).toMatchObject({
      ok: true,
    });
  });

  test.each([
    "",
    "https://example.com/a.png",
    "data:text/plain;base64,AQID",
    "data:image/;base64,AQID",
    "data:image/png,AQID",
    "data:image/png;base64",
    "data:image/png;base64;charset=utf-8,AQID",
    " data:image/png;base64,AQID",
    "data:image/png; base64,AQID",
    `data:image/png;${"a=b;".repeat(100)}base64,AQID`,
  ])("refuses %p as no data URI of an image", (text) => {
    expect(readImageDataUri(text)).toEqual(refused(notADataUri));
  });

  test("refuses empty data", () => {
    expect(readImageDataUri("data:image/png;base64,")).toEqual(refused("has no base64 data"));
  });

  test("counts the offset of a stray character from the start of the data", () => {
    expect(readImageDataUri("data:image/png;base64,AQID AQID")).toEqual(
      refused("is not valid base64: unexpected character at offset 4"),
    );
  });

  test("refuses 32 MiB of header without a comma", () => {
    expect(readImageDataUri(`data:image/png${";a=".repeat(11_000_000)}`)).toMatchObject({
      ok: false,
    });
  });

  test("reads megabytes of data as it reads a few bytes, in several turns", async () => {
    const start = "data:image/png;base64,";
    for (const size of [786_432, 786_433, 786_434, 3 * 786_432, 2_000_001]) {
      const bytes = Buffer.alloc(size, "0123456789");
      for (const text of [bytes.toString("base64"), bytes.toString("base64").replace(/=+$/, "")])
        expect(await readImageDataUri(start + text)).toEqual({
          ok: true,
          mime: "image/png",
          bytes: Uint8Array.fromBase64(text),
        });
    }
    const long = "A".repeat(3 * 1024 * 1024);
    for (const text of [`${long}!AAA`, `${long}A`, `${long}AAA==`, `${long}AB`, `=${long}`]) {
      const reading = await readImageDataUri(start + text);
      expect(reading.ok).toBe(false);
      expect(reading).toEqual(readBase64(text) as typeof reading);
    }
  });
});

describe("readBase64", () => {
  test("decodes what the platform encodes, padded or not, at every length", () => {
    const random = seededRandom(1);
    for (let lengthBytes = 1; lengthBytes < 200; lengthBytes += 1) {
      const bytes = Uint8Array.from({ length: lengthBytes }, () => random(256));
      const text = Buffer.from(bytes).toString("base64");
      expect(readBase64(text)).toEqual({ ok: true, bytes });
      expect(readBase64(text.replace(/=+$/, ""))).toEqual({ ok: true, bytes });
      expect(base64SizeBytes(text)).toBe(lengthBytes);
      expect(base64SizeBytes(text.replace(/=+$/, ""))).toBe(lengthBytes);
    }
  });

  test.each([
    ["AQ ID", "unexpected character at offset 2"],
    ["AQID\n", "unexpected character at offset 4"],
    ["AQ-D", "unexpected character at offset 2"],
    ["AQ_D", "unexpected character at offset 2"],
    ["AQ==AQID", "unexpected character at offset 2"],
    ["AQ===", "unexpected character at offset 2"],
    ["====", "unexpected character at offset 0"],
    ["AQÉD", "unexpected character at offset 2"],
    ["AQIDA", "a length of 5 characters cannot be base64"],
    ["AQIDA===", "unexpected character at offset 5"],
    ["AQ=", "expected 2 padding characters, found 1"],
    ["AQI==", "expected 1 padding character, found 2"],
    ["AQID=", "expected 0 padding characters, found 1"],
    ["AR==", "the last character has extra bits"],
    ["AQJ", "the last character has extra bits"],
  ])("refuses %p: %s", (text, reason) => {
    expect(readBase64(text)).toEqual({ ok: false, problem: `is not valid base64: ${reason}` });
  });

  test("refuses the empty text", () => {
    expect(readBase64("").ok).toBe(false);
  });

  test("finds one stray character at the end of 32 MiB", () => {
    const text = `${"A".repeat(32 * 1024 * 1024 - 1)}!`;
    expect(readBase64(text)).toEqual(
      refused(`is not valid base64: unexpected character at offset ${text.length - 1}`),
    );
  });
});
