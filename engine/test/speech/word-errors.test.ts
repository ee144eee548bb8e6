import { describe, expect, test } from "bun:test";
import { toWords, wordErrors } from "./word-errors.ts";

describe("word errors", () => {
  test.each<[string, string, number]>([
    ["It costs three dollars.", "it costs $3", 0],
    ["the A P I of nineteen ninety", "The API of 1990.", 0],
    ["forty-five percent", "45%", 0],
    ["it's late", "its late", 0],
    ["call two one two five five five zero one four two", "Call 21255-50142", 0],
    ["call two one two five five five zero one four two", "Call 21255-50143", 1],
    ["one two three", "one three", 1],
    ["one two", "one two three", 1],
    ["one two three", "one too three", 1],
    ["one", "", 1],
    ["it costs three dollars", "it costs €3", 1],
  ])("%s, heard as %s", (expected, heard, errors) => {
    expect(wordErrors(toWords(expected), toWords(heard))).toBe(errors);
  });
});
