import { describe, expect, test } from "bun:test";
import { TextBound } from "./text-bound.ts";

const boundOf = (text: string) => new TextBound().bytesOf(text);

const toHex = (text: string) =>
  Array.from(text, (one) => one.codePointAt(0)?.toString(16)).join(" ");

function longestForm(text: string): number {
  const forms = [text, text.normalize("NFC"), text.normalize("NFKC")];
  return Math.max(...forms.map((form) => Buffer.byteLength(form)));
}

test("plain ASCII counts its bytes", () => {
  expect(boundOf("The quick brown fox\n\t{}")).toBe(23);
});

describe("common scripts count no more than they have", () => {
  for (const text of ["안녕하세요 세계", "日本語のテキスト", "Être où naïf", "Привет мир", "漢字"])
    test(text, () => {
      expect(boundOf(text)).toBe(longestForm(text));
    });
});

describe("rare characters count what normalizing makes of them", () => {
  for (const [name, text] of [
    ["a ligature that becomes 18 characters", "\ufdfa"],
    ["marks in the wrong order", "e\u0301\u0323"],
    ["a composed letter that a lower mark breaks up", "é\u0323"],
    ["a composed syllable with a mark", "한\u302e"],
    ["halfwidth voicing marks", "ｶﾞﾊﾟ"],
    ["a mark that becomes two", "a\u0344"],
    ["a musical symbol outside the first plane", "\u{1d15e}\u{1d160}"],
  ] as const)
    test(name, () => {
      expect(boundOf(text)).toBeGreaterThanOrEqual(longestForm(text));
    });
});

test("no mix of characters normalizes to more than the bound", () => {
  // Every code point that some normalization changes, and every mark, a few of the rest.
  const pool: string[] = ["a", "e", " ", "\n", "漢", "😀", "\u{20000}", "\u{2f800}", "\u{e0100}"];
  for (let code = 0x80; code < 0x30000; code++) {
    if (code >= 0xac00 && code <= 0xd7a3 && code % 97 !== 0) continue;
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const text = String.fromCodePoint(code);
    if (text.normalize("NFKD") !== text || /^\p{M}/u.test(text)) pool.push(text);
  }
  let seed = 7;
  const next = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  for (let round = 0; round < 30_000; round++) {
    const text = Array.from({ length: 1 + next(8) }, () => pool[next(pool.length)]).join("");
    if (boundOf(text) < longestForm(text)) throw new Error(`too low for ${toHex(text)}`);
  }
  expect(pool.length).toBeGreaterThan(8_000);
});

test("every code point alone is within its bound", () => {
  for (let code = 0x80; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const text = String.fromCodePoint(code);
    if (boundOf(text) < longestForm(text)) throw new Error(code.toString(16));
  }
});

test("lone surrogates are counted as what is sent in their place", () => {
  expect(boundOf("\ud800é")).toBeGreaterThanOrEqual(5);
});

test("texts that are too long to look at count the worst that can become of them", () => {
  const long = "é".repeat(1_000_001);
  expect(boundOf(long)).toBe(Buffer.byteLength(long) * 11);
});

test("many texts share what may be looked at", () => {
  const bound = new TextBound();
  const text = "é".repeat(600_000);
  expect(bound.bytesOf(text)).toBe(1_200_000);
  expect(bound.bytesOf(text)).toBe(13_200_000);
});
