import { describe, expect, test } from "bun:test";
import { JsonWeight, maxJsonDepth } from "./weight.ts";

const encoder = new TextEncoder();
const isLight = (text: string) => new JsonWeight().add(encoder.encode(text));

describe("too heavy is", () => {
  test("what is nested one level too deep, in lists and in objects", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const nested = (levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`;
      expect(isLight(nested(maxJsonDepth))).toBe(true);
      expect(isLight(nested(maxJsonDepth + 1))).toBe(false);
    }
  });

  for (const [name, piece, most, tooMany] of [
    ["numbers", "1,", 700_000, 720_000],
    ["long numbers", "1.2345678901234567e-300,", 170_000, 175_000],
    ["fields", '"a":1,', 56_000, 58_000],
    ["empty lists", "[],", 249_000, 251_000],
    ["bytes outside of strings", "1", 4_900_000, 5_100_000],
    ["escapes in strings", '"\\n",', 450_000, 460_000],
  ] as const)
    test(`a text with too many ${name}`, () => {
      expect(isLight(`[${piece.repeat(most)}1]`)).toBe(true);
      expect(isLight(`[${piece.repeat(tooMany)}1]`)).toBe(false);
    });

  test("a string of too many escapes", () => {
    expect(isLight(`["${"\\u0041".repeat(1_249_000)}"]`)).toBe(true);
    expect(isLight(`["${"\\u0041".repeat(1_251_000)}"]`)).toBe(false);
    expect(isLight(`["${"\\\\".repeat(1_251_000)}"]`)).toBe(false);
  });
});

describe("what stands inside a string does not count", () => {
  const many = "[{,:".repeat(1_000_000);
  const texts: Readonly<Record<string, string>> = {
    "a long text": JSON.stringify({ text: many }),
    "a text with quotes": JSON.stringify({ text: `"${many}"`, more: `${many}"` }),
    "a text that ends in a backslash": JSON.stringify([`${many}\\`, `\\\\${many}\\`, many]),
    "an empty text before it": JSON.stringify(["", many, ""]),
    "a text that never ends": `["${many}`,
    "a text that ends in half an escape": `["${many}\\"${many}\\`,
  };
  for (const [name, text] of Object.entries(texts))
    test(name, () => expect(isLight(text)).toBe(true));

  test("nor does white space", () => {
    expect(isLight(`[${" \n\t".repeat(3_000_000)}]`)).toBe(true);
  });

  test("but what follows it does", () => {
    expect(isLight(`["a\\"b\\\\",${"1,".repeat(720_000)}1]`)).toBe(false);
  });
});

test("pieces of any size weigh what the whole does", () => {
  const text = encoder.encode(`{"a\\"":[1,"b\\\\",{"c":"[[[[\\\\\\""}],"d":"é\\u00e9"}`);
  for (const limit of [300, 301, 350, 400, 420, 430, 440, 450, 500]) {
    const whole = new JsonWeight(limit).add(text);
    for (const size of [1, 2, 3, 5, 7]) {
      const weight = new JsonWeight(limit);
      let isWithin = true;
      for (let at = 0; at < text.length; at += size)
        isWithin = weight.add(text.subarray(at, at + size)) && isWithin;
      expect(isWithin).toBe(whole);
    }
  }
});
