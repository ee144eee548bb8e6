import { describe, expect, test } from "bun:test";
import { amountWords, cardinal, decade, digits, ordinal, year } from "./number-words.ts";

describe("number words", () => {
  test.each([
    ["0", "zero"],
    ["10", "ten"],
    ["19", "nineteen"],
    ["40", "forty"],
    ["99", "ninety-nine"],
    ["110", "one hundred ten"],
    ["1,001", "one thousand one"],
    ["1000000", "one million"],
    ["007", "seven"],
    ["1,000,000,000,000", "one trillion"],
  ])("names %s", (text, words) => {
    expect(cardinal(text)).toBe(words);
  });

  test("reads a number digit by digit when its name would be longer than anyone follows", () => {
    expect(cardinal("1234567890123456789")).toBe(digits("1234567890123456789"));
  });

  test.each([
    ["1", "first"],
    ["5", "fifth"],
    ["30", "thirtieth"],
    ["42", "forty-second"],
    ["100", "one hundredth"],
    ["112", "one hundred twelfth"],
  ])("orders %s", (text, words) => {
    expect(ordinal(text)).toBe(words);
  });

  test.each([
    ["1900", "nineteen hundred"],
    ["1907", "nineteen oh seven"],
    ["2000", "two thousand"],
    ["2009", "two thousand nine"],
    ["2010", "twenty ten"],
    ["1776", "seventeen seventy-six"],
    ["800", "eight hundred"],
  ])("says the year %s", (text, words) => {
    expect(year(text)).toBe(words);
  });

  test("says decades, decimals and fractions", () => {
    expect(decade("1960")).toBe("nineteen sixties");
    expect(decade("20")).toBe("twenties");
    expect(amountWords("0.50")).toBe("zero point five zero");
    expect(amountWords("1/2")).toBe("one half");
    expect(amountWords("5/8")).toBe("five eighths");
    expect(amountWords("2/1")).toBe("two over one");
    expect(amountWords("12 1/2")).toBe("twelve and a half");
  });
});
