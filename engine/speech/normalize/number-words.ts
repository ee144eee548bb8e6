/** Numbers as an American reads them aloud. Digits come as text, so that no length loses a digit. */
const small =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const tens = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const scales = ["", "thousand", "million", "billion", "trillion", "quadrillion"];

const irregularOrdinals: Readonly<Record<string, string>> = {
  one: "first",
  two: "second",
  three: "third",
  five: "fifth",
  eight: "eighth",
  nine: "ninth",
  twelve: "twelfth",
};

/** Longer numbers are read digit by digit: nobody follows a name of their size. */
const longestNamed = scales.length * 3;

/** "1,234" or "1234": one thousand two hundred thirty-four. */
export function cardinal(text: string): string {
  const plain = text.replaceAll(",", "").replace(/^0+(?=\d)/u, "");
  if (plain.length > longestNamed) return digits(plain);
  const groups: string[] = [];
  for (let end = plain.length; end > 0; end -= 3) {
    groups.unshift(plain.slice(Math.max(0, end - 3), end));
  }
  const words = groups
    .map((group, index) => {
      const value = Number(group);
      const scale = scales[groups.length - 1 - index] ?? "";
      return value === 0 ? "" : `${belowThousand(value)} ${scale}`.trim();
    })
    .filter((part) => part !== "");
  return words.length === 0 ? "zero" : words.join(" ");
}

export function ordinal(text: string): string {
  const words = cardinal(text);
  return words.replace(/[a-z]+$/u, (last) => {
    const irregular = irregularOrdinals[last];
    if (irregular !== undefined) return irregular;
    return last.endsWith("y") ? `${last.slice(0, -1)}ieth` : `${last}th`;
  });
}

/** "405": four zero five. */
export function digits(text: string): string {
  return [...text]
    .filter((digit) => /\d/u.test(digit))
    .map((digit) => small[Number(digit)] ?? "")
    .join(" ");
}

/** "3.14", "-2", "1,000.5": with sign and decimals. */
export function decimal(text: string): string {
  const sign = /^[-−–]/u.test(text) ? "minus " : "";
  const [whole = "", fraction] = text.replace(/^[-−–+]/u, "").split(".");
  const head = whole === "" ? "zero" : cardinal(whole);
  return fraction === undefined ? sign + head : `${sign}${head} point ${digits(fraction)}`;
}

/** "1999": nineteen ninety-nine; "2007": two thousand seven; "1905": nineteen oh five. */
export function year(text: string): string {
  const value = Number(text);
  const low = value % 100;
  const high = Math.floor(value / 100);
  // "Two thousand seven", "one thousand"; but "nineteen hundred" and "twenty ten".
  if (text.length !== 4 || (high % 10 === 0 && low < 10)) return cardinal(text);
  if (low === 0) return `${belowHundred(high)} hundred`;
  return `${belowHundred(high)} ${low < 10 ? `oh ${small[low] ?? ""}` : belowHundred(low)}`;
}

/** "221": two twenty-one; "404": four oh four; "1204": twelve oh four: the number of a house or room. */
export function labelNumber(text: string): string {
  if (text.startsWith("0") || text.length > 4) return digits(text);
  if (text.length !== 3) return year(text);
  const low = Number(text) % 100;
  const high = small[Number(text.charAt(0))] ?? "";
  if (low === 0) return `${high} hundred`;
  return `${high} ${low < 10 ? `oh ${small[low] ?? ""}` : belowHundred(low)}`;
}

/** "1990": nineteen nineties. */
export function decade(text: string): string {
  return pluralWord(text.length === 2 ? belowHundred(Number(text)) : year(text));
}

/** "3/4": three quarters. */
export function fraction(numerator: string, denominator: string): string {
  const one = numerator === "1";
  const top = cardinal(numerator);
  if (denominator === "1") return `${top} over one`;
  if (denominator === "2") return `${top} ${one ? "half" : "halves"}`;
  if (denominator === "4") return `${top} ${one ? "quarter" : "quarters"}`;
  const bottom = ordinal(denominator);
  return `${top} ${one ? bottom : `${bottom}s`}`;
}

/** The last word in the plural: "twenties", "sixes", "hundreds". */
export function pluralWord(words: string): string {
  if (/[^aeiou]y$/u.test(words)) return `${words.slice(0, -1)}ies`;
  return /(?:s|x|ch|sh)$/u.test(words) ? `${words}es` : `${words}s`;
}

function belowThousand(value: number): string {
  const hundreds = Math.floor(value / 100);
  const rest = value % 100;
  const parts: string[] = [];
  if (hundreds > 0) parts.push(`${small[hundreds] ?? ""} hundred`);
  if (rest > 0) parts.push(belowHundred(rest));
  return parts.join(" ");
}

function belowHundred(value: number): string {
  const named = small[value];
  if (named !== undefined) return named;
  const ten = tens[Math.floor(value / 10)] ?? "";
  return value % 10 === 0 ? ten : `${ten}-${small[value % 10] ?? ""}`;
}
