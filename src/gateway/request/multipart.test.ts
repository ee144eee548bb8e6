import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../../test/fixtures/media/fixture.ts";
import { boundaryOf, type Part, readParts } from "./multipart.ts";

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));

function partsOf(text: string | Uint8Array<ArrayBuffer>, boundary = "b"): readonly Part[] {
  const reading = readParts(typeof text === "string" ? bytesOf(text) : text, boundary);
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value;
  }
}

const named = (parts: readonly Part[]) =>
  parts.map(({ name, filename, bytes }) => [name, filename, Buffer.from(bytes).toString("latin1")]);

const part = (head: string, content: string) =>
  `--b\r\nContent-Disposition: ${head}\r\n\r\n${content}\r\n`;

describe("parts", () => {
  test("are read with their names, and their content byte for byte", () => {
    const content = "\r\n--\r\n--a\r\n-b--b\0\xff";
    const body = `preamble\r\n${part('form-data; name="a"', content)}${part(
      'form-data; name="file"; filename="x \\"y\\".wav"\r\nContent-Type: audio/wav',
      "",
    )}--b--\r\nepilogue`;
    expect(named(partsOf(body))).toEqual([
      ["a", undefined, content],
      ["file", 'x "y".wav', ""],
    ]);
    expect(named(partsOf(part("form-data; name=plain", "1") + "--b--"))).toEqual([
      ["plain", undefined, "1"],
    ]);
    expect(partsOf("--b--")).toEqual([]);
  });

  test("that the runtime writes come back", async () => {
    const random = seededRandom(3);
    for (let round = 0; round < 20; round++) {
      const form = new FormData();
      const file = Buffer.from(
        Array.from({ length: random(5000) }, () => [13, 10, 45, 98, 0][random(5)] ?? 0),
      );
      form.append("model", "whisper");
      form.append("file", new File([file], "a.wav"));
      const response = new Response(form);
      const boundary = boundaryOf(response.headers.get("content-type")) ?? "";
      const parts = partsOf(new Uint8Array(await response.arrayBuffer()), boundary);
      expect(parts.map(({ name }) => name)).toEqual(["model", "file"]);
      expect(Buffer.from(parts[1]?.bytes ?? []).equals(file)).toBe(true);
    }
  });

  test.each([
    ["", "no end"],
    ["--b\r\n", "no headers"],
    ["--bx\r\n\r\n\r\n--b--", "line break"],
    [part('form-data; name="a"', "1"), "no end"],
    [`${part("form-data", "1")}--b--`, "Content-Disposition"],
    [`${part('attachment; name="a"', "1")}--b--`, "Content-Disposition"],
    [
      `${part('form-data; name="a"\r\nContent-Transfer-Encoding: base64', "1")}--b--`,
      "Content-Transfer-Encoding",
    ],
    [`${part('form-data; name="a"', "1").repeat(65)}--b--`, "more than 64 parts"],
    [`${part(`form-data; name="a"\r\nX: ${"x".repeat(9000)}`, "1")}--b--`, "more than 8192 bytes"],
  ])("that are malformed are refused: %j", (body, problem) => {
    expect(() => partsOf(body)).toThrow(problem);
  });

  test.each([
    ...["\r", "\r\n", "\r\n--", "\r\n--b\r", "-", "\r\n--c--"].map((miss) => [miss, "bb"] as const),
    [`\r\n--${"a".repeat(69)}b`, "a".repeat(70)] as const,
  ])("25 MiB of %j are content, and others have their turn", (miss, boundary) => {
    const count = Math.floor((25 * 1024 * 1024) / miss.length);
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"\r\n\r\n`;
    const body = Buffer.from(`${head}${miss.repeat(count)}\r\n--${boundary}--`, "latin1");
    const reading = readParts(new Uint8Array(body), boundary);
    let turns = 0;
    let step = reading.next();
    for (; step.done !== true; step = reading.next()) turns++;
    expect(turns).toBeGreaterThan(23);
    expect(step.value.map(({ bytes }) => bytes.length)).toEqual([count * miss.length]);
  });

  test("100,000 tiny ones, or headers of 1 MB, are refused without reading on", () => {
    const tiny = `${part('form-data; name="a"', "").repeat(100_000)}--b--`;
    expect(() => partsOf(tiny)).toThrow("more than 64 parts");
    const long = part(`form-data; name="a"\r\nX: ${"x".repeat(1024 * 1024)}`, "1");
    expect(() => partsOf(`${long}--b--`)).toThrow("more than 8192 bytes");
  });

  test("have names with quotes, semicolons and characters of any language", () => {
    for (const [filename, read] of [
      ['a\\"b.wav', 'a"b.wav'],
      ["a%22b.wav", "a%22b.wav"],
      ["a; name=model; b.wav", "a; name=model; b.wav"],
      ["C:\\\\audio\\\\x.wav", "C:\\audio\\x.wav"],
      ["録音 🎙.wav", "録音 🎙.wav"],
    ] as const) {
      const head = `form-data; name="file"; filename="${filename}"`;
      const body = new Uint8Array(Buffer.from(`${part(head, "1")}--b--`));
      expect(named(partsOf(body))).toEqual([["file", read, "1"]]);
    }
    // A line break ends a header: the rest is another one, which nobody knows.
    const broken = part('form-data; name="file"; filename="a\r\nX-Other: b.wav"', "1");
    expect(named(partsOf(`${broken}--b--`)).map(([name]) => name)).toEqual(["file"]);
  });
});

describe("the boundary", () => {
  test("is a parameter, quoted or not, of this type alone", () => {
    expect(boundaryOf("multipart/form-data; boundary=abc")).toBe("abc");
    expect(boundaryOf('Multipart/Form-Data; charset=utf-8; boundary="a b"')).toBe("a b");
    expect(boundaryOf("application/json")).toBeUndefined();
    for (const wrong of ["", "; boundary=", `; boundary=${"x".repeat(71)}`])
      expect(() => boundaryOf(`multipart/form-data${wrong}`)).toThrow("no boundary");
  });
});
