import { expect, test } from "bun:test";
import { hasLongIntegers, parseExact } from "./exact.ts";

const written = (text: string) => JSON.stringify(parseExact(text));

test("integers beyond 2^53 are written back with the same digits", () => {
  for (const text of [
    '{"id":1234567890123456789}',
    "[-9007199254740993,9007199254740993]",
    '{"a":[{"b":123456789012345678901234567890}],"c":"1234567890123456789"}',
  ])
    expect(written(text)).toBe(text);
});

test("all other values are those of JSON.parse", () => {
  for (const text of [
    '{"a":9007199254740991,"b":1.5,"c":[true,null,"x"],"d":{}}',
    '[1234567890123456.5,12345678901234567e3,"1234567890123456789"]',
    '{"text":"the id is :1234567890123456789"}',
    '"text"',
  ])
    expect(parseExact(text)).toEqual(JSON.parse(text));
});

test("text without such integers needs no reviver", () => {
  expect(hasLongIntegers(`{"a":123456789012345,"b":"1234567890123456789"}`)).toBe(false);
  expect(hasLongIntegers(`{"a": 1234567890123456789}`)).toBe(true);
});

test("of very many values, none is read exactly: that would take long", () => {
  const text = `[${"1,".repeat(40_000)}1234567890123456789]`;
  expect(parseExact(text)).toEqual(JSON.parse(text));
});

test("text that is nested too deeply for a reviver is read without one", () => {
  const text = `${"[".repeat(8_000)}1234567890123456789${"]".repeat(8_000)}`;
  expect(parseExact(text)).toBeArray();
});

test("text that is not JSON is rejected", () => {
  expect(() => parseExact('{"a":1234567890123456789')).toThrow(SyntaxError);
});
