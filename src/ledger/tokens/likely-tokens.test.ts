import { expect, test } from "bun:test";
import { likelyTokens } from "./likely-tokens.ts";

const base64 = Buffer.from(
  Uint32Array.from({ length: 2_000 }, (_, at) => Math.imul(at + 1, 2_654_435_761)).buffer,
).toString("base64");

/** What the tokenizer counts in each text, repeated up to 4,000 characters. */
test.each([
  [
    "English",
    766,
    "The quick brown fox jumps over the lazy dog, while engineers discuss failures. ",
  ],
  [
    "Polish",
    1_201,
    "Rząd ogłosił nowe środki wsparcia dla małych przedsiębiorstw na obszarach wiejskich. ",
  ],
  ["Russian", 826, "Правительство объявило о новых мерах поддержки малого бизнеса в регионах. "],
  ["Arabic", 743, "أعلنت الحكومة عن إجراءات جديدة لدعم الشركات الصغيرة في المناطق الريفية "],
  ["Hindi", 978, "सरकार ने छोटे व्यवसायों के समर्थन के लिए नए उपायों की घोषणा की है "],
  ["Chinese", 2_440, "政府宣布了支持农村地区小企业的新措施，专家们认为这将促进经济增长。"],
  ["Japanese", 2_860, "政府は地方の中小企業を支援するための新しい措置を発表しました。"],
  ["Korean", 1_863, "정부는 농촌 지역의 중소기업을 지원하기 위한 새로운 조치를 발표했습니다. "],
  [
    "source code",
    2_035,
    'const a = (b) => { return b?.c[0] !== "d" && e <= 1e-9; } // x\n\tif (f) {}\n',
  ],
  ["JSON", 1_381, '{"id":17,"name":"user17","email":"u17@example.com","value":0.4521},'],
  ["hexadecimal digits", 9_824, Buffer.from(base64).toString("hex")],
  ["base64", 7_249, base64],
  ["emoji", 2_501, "😀 😁 👍🏽 🇨🇭 "],
])(
  "the likely number of %s is within twice of the tokenizer's, and at most a byte each",
  (_, counted, text) => {
    const long = text.repeat(Math.ceil(4_000 / text.length));
    const factor = likelyTokens([long]) / counted;
    expect(factor).toBeGreaterThan(0.5);
    expect(factor).toBeLessThan(2);
    expect(likelyTokens([long])).toBeLessThanOrEqual(Buffer.byteLength(long));
  },
);

const at = (chars: string) =>
  Array.from(
    { length: 8_000 },
    (_, n) => chars[(Math.imul(n + 1, 2_654_435_761) >>> 9) % chars.length],
  );

/** For each character, about what the tokenizer counts. */
test.each([
  ["letters at random", 0.52, at("abcdefghijklmnopqrstuvwxyz").join("")],
  ["consonants", 0.57, at("bcdfghjklmnpqrstvwxz").join("")],
  ["capital letters at random", 0.57, at("ABCDEFGHIJKLMNOPQRSTUVWXYZ").join("")],
  ["letters in both cases", 0.62, at("aBcDeFgHxQzJ").join("")],
  ["single letters", 0.5, at("qzxj").join(" ")],
  ["line ends, tabs and spaces in turn", 0.605, "\n \t\r ".repeat(2_000)],
  [
    "letters between mixed white space",
    0.66,
    at("qxzj")
      .flatMap((letter, n) => [letter, at(" \n\t")[n] ?? ""])
      .join(""),
  ],
  ["white space of all kinds", 0.89, at("\t\v\f\n").join("")],
])("text that is hard to count costs about what it has: %s", (_, perChar, text) => {
  const factor = likelyTokens([text]) / (perChar * text.length);
  expect(factor).toBeGreaterThan(0.6);
  expect(factor).toBeLessThan(1.2);
});

test("nothing is nothing, and a text of many parts is looked at everywhere", () => {
  expect(likelyTokens([])).toBe(0);
  expect(likelyTokens(["", ""])).toBe(0);
  const light = " ".repeat(500_000);
  const heavy = base64.slice(0, 10_000).repeat(50);
  for (const texts of [[light, heavy], [heavy, light], [heavy + light]])
    expect(likelyTokens(texts) / likelyTokens([heavy])).toBeCloseTo(1, 0);
});
