import { describe, expect, test } from "bun:test";
import { isOutOfBounds, maxJsonDepth, maxJsonWeight, parseBounded } from "./json-bounds.ts";

const judge = (text: string) => isOutOfBounds(new TextEncoder().encode(text));

describe("refused is", () => {
  test("what is nested one level too deep, in lists and in objects", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const nested = (levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`;
      expect(judge(nested(maxJsonDepth))).toBe(false);
      expect(judge(nested(maxJsonDepth + 1))).toBe(true);
    }
  });

  test("a text with too many values, of whatever kind", () => {
    expect(judge(`[${"1,".repeat(maxJsonWeight - 1)}1]`)).toBe(false);
    expect(judge(`[${"1,".repeat(maxJsonWeight)}1]`)).toBe(true);
    expect(judge(`{${'"a":1,'.repeat(maxJsonWeight / 5)}"a":1}`)).toBe(true);
    expect(judge(`{${'"a":1,'.repeat(maxJsonWeight / 5 - 2)}"a":1}`)).toBe(false);
    expect(judge(`[${"[],".repeat(maxJsonWeight / 2)}[]]`)).toBe(true);
    expect(judge("[".repeat(5_000_000))).toBe(true);
  });
});

describe("what stands inside a string does not count", () => {
  const many = "[{,:".repeat(maxJsonWeight);
  const texts: Readonly<Record<string, string>> = {
    "a long text": JSON.stringify({ text: many }),
    "a text with quotes": JSON.stringify({ text: `"${many}"`, more: `${many}"` }),
    "a text that ends in a backslash": JSON.stringify([`${many}\\`, `\\\\${many}\\`, many]),
    "a text of escapes": JSON.stringify([many.replaceAll("{", '\\"'), many]),
    "an empty text before it": JSON.stringify(["", many, ""]),
    "a text that never ends": `["${many}`,
    "a text that ends in half an escape": `["${many}\\"${many}\\`,
  };
  for (const [name, text] of Object.entries(texts))
    test(name, () => expect(judge(text)).toBe(false));

  test("but what follows it does", () => {
    expect(judge(`["a\\"b\\\\",${"1,".repeat(maxJsonWeight)}1]`)).toBe(true);
  });
});

describe("JSON that somebody else wrote is not parsed", () => {
  const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}${"]}".repeat(levels / 2)}`;

  test("where it is nested without end", () => {
    expect(() => parseBounded(nested(6_000))).toThrow(RangeError);
    expect(() => parseBounded(`{"text":"]}]}","deep":${nested(6_000)}}`)).toThrow(RangeError);
    expect(() => parseBounded("[".repeat(60_000_000))).toThrow(RangeError);
  });

  test("where it has too many lists, objects or fields", () => {
    expect(() => parseBounded(`[${"[],".repeat(250_000)}1]`)).toThrow(RangeError);
    expect(() => parseBounded(`[${"{},".repeat(250_000)}1]`)).toThrow(RangeError);
    expect(() => parseBounded(`{${'"a":1,'.repeat(400_000)}"a":1}`)).toThrow(RangeError);
  });

  test("and else it is: numbers, texts full of brackets, and what is small", () => {
    expect(parseBounded(`[${"0,".repeat(2_000_000)}0]`)).toHaveLength(2_000_001);
    const text = '[[\\"[{'.repeat(20_000);
    expect(parseBounded(JSON.stringify({ text }))).toEqual({ text });
    expect(parseBounded(nested(2_000))).toBeObject();
    expect(() => parseBounded("{")).toThrow(SyntaxError);
  });
});
