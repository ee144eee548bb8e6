import { describe, expect, test } from "bun:test";
import { maximumSymbols, toSymbolIds } from "./phonemes/vocabulary.ts";
import { toPieces, toSentences } from "./split.ts";

const symbols = (phonemes: string): number => toSymbolIds(phonemes).length;
const sentence =
  "The gateway answers every request with the model that was asked for, and it keeps count of what was used. ";

describe("sentences", () => {
  test("end at stops, questions and exclamations", () => {
    expect(toSentences('One. Two? Three! "Four." Five')).toEqual([
      "One.",
      "Two?",
      "Three!",
      '"Four."',
      "Five",
    ]);
  });

  test("do not end at an ellipsis or where the sentence runs on", () => {
    expect(toSentences('Well… Maybe. "What?" he asked.')).toEqual([
      "Well… Maybe.",
      '"What?" he asked.',
    ]);
  });
});

describe("flash", () => {
  test("speaks sentence by sentence; abbreviations and decimals end none", () => {
    const pieces = toPieces(
      "Dr. Smith has 3.5 cups... or so. The U.S. team left at 5 p.m. today.",
      "flash",
    );
    expect(pieces.map((piece) => piece.boundary)).toEqual(["sentence", "end"]);
  });

  test("starts a long first sentence with its first clause, and lets the pieces grow", () => {
    const long = `${"When the rain had stopped at last, ".repeat(8)}we left.`;
    const lengths = toPieces(long, "flash").map((piece) => symbols(piece.phonemes));
    expect(lengths[0]).toBeLessThan(50);
    expect(lengths[1]).toBeGreaterThan(lengths[0] ?? 0);
    expect(lengths.length).toBeGreaterThan(2);
  });

  test("speaks a tiny sentence together with the next", () => {
    expect(toPieces("No. I would rather stay at home today.", "flash").length).toBe(1);
  });
});

describe("pro", () => {
  const lengthsOf = (text: string): number[] =>
    toPieces(text, "pro").map((piece) => symbols(piece.phonemes));

  test("speaks a paragraph at once and parts paragraphs", () => {
    const pieces = toPieces("It rained. We stayed in.\n\nThen the sun came out. We left.", "pro");
    expect(pieces.map((piece) => piece.boundary)).toEqual(["paragraph", "end"]);
  });

  test("cuts a long paragraph into even runs of whole sentences", () => {
    for (const one of [sentence, "The gateway keeps count of what was used. "]) {
      const [single = 0] = lengthsOf(one);
      for (const times of [10, 17, 25]) {
        const lengths = lengthsOf(one.repeat(times));
        expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(single + 1);
        expect(Math.max(...lengths)).toBeGreaterThan(200);
      }
    }
  });

  test("leaves no short sentence alone at the end of a long paragraph", () => {
    const lengths = lengthsOf(`${sentence.repeat(7)}It rained. We left.`);
    expect(Math.min(...lengths)).toBeGreaterThan(200);
  });
});

describe("any text", () => {
  const texts: Readonly<Record<string, string>> = {
    "5,000 characters of prose": sentence.repeat(60).slice(0, 5000),
    "one sentence without a mark": "and then we went on ".repeat(250),
    "one word": "a".repeat(5000),
    digits: "1234567890".repeat(500),
    "numbers with marks": "$1,234.56, ".repeat(450),
    "line ends": "\n".repeat(5000),
    "open marks": '("['.repeat(1600),
    "open links": "[a](".repeat(1250),
    dashes: "1- — ".repeat(1000),
    spaces: `${" ".repeat(4999)}z`,
    initials: "a.".repeat(2500),
    capitals: "ABC ".repeat(1250),
    "times and dates": "9am-5pm 2027-03-14 ".repeat(260),
    addresses: "www.a.b/c?d a@b.co ".repeat(260),
    emoji: "🙂".repeat(2500),
    "other scripts": "你好 Привет γειά ".repeat(300),
    markdown: "- **a** [b](c) `d` | e |\n".repeat(200),
  };

  test.each(Object.entries(texts))("fits the model: %s", (_, text) => {
    for (const style of ["flash", "pro"] as const) {
      for (const { phonemes } of toPieces(text, style)) {
        expect(symbols(phonemes)).toBeGreaterThan(0);
        expect(symbols(phonemes)).toBeLessThanOrEqual(maximumSymbols);
      }
    }
  });

  test.each(["", "   ", "...", "🙂", "—", "***", "你好", "()", "\u0000\u0007"])(
    "has nothing to speak in %j",
    (text) => {
      expect(toPieces(text, "flash")).toEqual([]);
      expect(toPieces(text, "pro")).toEqual([]);
    },
  );
});
