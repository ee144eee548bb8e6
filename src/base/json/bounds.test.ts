import { describe, expect, test } from "bun:test";
import { parseBounded } from "./bounds.ts";

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

  test("where it has more numbers than any reply", () => {
    expect(() => parseBounded(`[${"0,".repeat(1_000_000)}0]`)).toThrow(RangeError);
  });

  test("where its texts have more escapes than any answer", () => {
    const escaped = (count: number) => `{"text":"${"\\n".repeat(count)}"}`;
    expect(() => parseBounded(escaped(700_000))).toThrow(RangeError);
    expect(parseBounded(escaped(500_000))).toEqual({ text: "\n".repeat(500_000) });
  });

  test("and else it is: numbers, texts full of brackets, and what is small", () => {
    expect(parseBounded(`[${"0,".repeat(820_000)}0]`)).toHaveLength(820_001);
    const text = '[[\\"[{'.repeat(20_000);
    expect(parseBounded(JSON.stringify({ text }))).toEqual({ text });
    expect(parseBounded(nested(2_000))).toBeObject();
    expect(() => parseBounded("{")).toThrow(SyntaxError);
  });
});
