import type { Dice } from "./dice.ts";
import { type FuzzJson, RawText } from "./json-text.ts";

/** Stands in every prompt and every made-up key: neither may come back in an error or in the log. */
export const promptMark = "fuzzpromptmark";
export const keyMark = "fuzzkeymark";

/** Numbers that JSON allows and programs stumble over, as they are written. */
const oddNumbers: readonly string[] = [
  "1e999",
  "-1e999",
  "1e400",
  "-0",
  "-0.0",
  "0e0",
  "1E+2",
  "1e-400",
  "5e-324",
  "1.7976931348623157e308",
  "9007199254740993",
  "-9007199254740993",
  "18446744073709551616",
  "2147483648",
  "-2147483649",
  "4294967296",
  "0.1",
  "1.0",
  "1.0000000000000001",
  "9".repeat(400),
  `-${"9".repeat(400)}`,
  `0.${"0".repeat(400)}1`,
  `1${"0".repeat(400)}e-400`,
];

/** One of them, or any other of many digits. */
export function oddNumber(dice: Dice): string {
  if (dice.percent(60)) return dice.pick(oddNumbers);
  const digits = () => dice.list(dice.magnitude(1, 60), () => dice.below(10)).join("");
  const sign = dice.pick(["", "-"]);
  const whole = dice.percent(20) ? "0" : `${dice.between(1, 9)}${digits()}`;
  const fraction = dice.percent(50) ? `.${digits()}` : "";
  const power = dice.pick(["e", "E", "e+", "E-", "e-"]) + dice.magnitude(1, 400);
  return `${sign}${whole}${fraction}${dice.percent(40) ? power : ""}`;
}

/** What looks like a number but is no JSON. */
export const brokenNumbers: readonly string[] = [
  "01",
  "+1",
  ".5",
  "1.",
  "0x10",
  "NaN",
  "Infinity",
  "-Infinity",
  "1e",
  "--1",
  "1_000",
  "1n",
  "undefined",
];

const oddTexts: readonly string[] = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\u202eright to left\u202c",
  "שלום مرحبا",
  "\u200b\u200c\u200d\u2060",
  "\ufeffmark in front",
  `e${"\u0301".repeat(300)}`,
  "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "𝒜\u{10ffff}",
  "\ud800",
  "\udc00\ud800",
  "a\udfffz",
  "\ufffe\uffff",
  "\u2028\u2029",
  "line\r\nx-injected: yes\r\n\r\n",
  "\n\ndata: [DONE]\n\n",
  'data: {"error":{}}',
  "${jndi:ldap://x}",
  "{{7*7}}",
  "%s%n%x",
  "../../etc/passwd",
  "'; DROP TABLE keys; --",
  "<script>alert(1)</script>",
  "__proto__",
  "constructor",
  "[object Object]",
  "null",
  "\u001b[31mred\u001b[0m",
];

/** Text that a writer would escape or repair, exactly as it goes over the wire. */
const rawTexts: readonly string[] = [
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\uD83D\\uDE00"',
  '"\\u0000"',
  '"\\/\\b\\f\\n\\r\\t\\\\\\""',
];

export function oddText(dice: Dice): FuzzJson {
  return dice.weighted<() => FuzzJson>([
    [12, () => `${promptMark} ${dice.pick(oddTexts)}`],
    [6, () => dice.pick(oddTexts)],
    [3, () => new RawText(dice.pick(rawTexts))],
    [2, () => dice.list(dice.between(1, 40), () => randomCodePoint(dice)).join("")],
    [1, () => `${promptMark} ${dice.pick(oddTexts)}`.repeat(dice.magnitude(10, 2_000))],
  ])();
}

/** Odd, and still Unicode: half of a surrogate pair goes to no vendor. */
export function oddWellFormedText(dice: Dice): FuzzJson {
  const text = oddText(dice);
  return typeof text === "string" ? text.toWellFormed() : `${promptMark} plain`;
}

function randomCodePoint(dice: Dice): string {
  return String.fromCodePoint(
    dice.pick([dice.below(0x80), dice.below(0x800), dice.below(0x10000), dice.below(0x110000)]),
  );
}

/** One of every type of JSON and of their odd relatives; none of them is large. */
export const wrongValues: readonly FuzzJson[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  "",
  "1",
  "true",
  promptMark,
  [],
  [null],
  [[]],
  [[[[1]]]],
  [{}],
  [1, "two", { three: 3 }],
  {},
  { a: { b: { c: [null] } } },
  { type: "text" },
  { length: 1 },
  { toString: 1, valueOf: 2 },
  new RawText('{"__proto__":{"polluted":true}}'),
  new RawText('{"constructor":{"prototype":{"polluted":true}}}'),
  Array.from({ length: 1_000 }, () => 0),
];

export function wrongValue(dice: Dice): FuzzJson {
  return dice.weighted<() => FuzzJson>([
    [10, () => dice.pick(wrongValues)],
    [2, () => new RawText(oddNumber(dice))],
    [1, () => oddText(dice)],
  ])();
}

/** `{"a":{"a":…}}` or `[[…]]`, so many levels deep. */
export function nested(dice: Dice, depth: number): RawText {
  const isClosed = dice.percent(90);
  const [open, close] = dice.pick([
    ["[", "]"],
    ['{"a":', "}"],
    ['[{"type":', "}]"],
  ] as const);
  const inner = dice.pick(["1", "null", '""', "{}"]);
  return new RawText(open.repeat(depth) + inner + (isClosed ? close.repeat(depth) : ""));
}
