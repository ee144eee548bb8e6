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
  for (let end = plain.length; end > 0; end -= 3)
    groups.unshift(plain.slice(Math.max(0, end - 3), end));
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

/** "3.14", "1,000.5", "3/4", "2 1/2": three and a quarter. */
export function amountWords(text: string): string {
  const [, whole, numerator, denominator] = /^(?:(\S+?)[\s-]+)?(\d+)\/(\d+)$/u.exec(text) ?? [];
  if (numerator !== undefined && denominator !== undefined) {
    const part = fraction(numerator, denominator);
    return whole === undefined ? part : `${cardinal(whole)} and ${part.replace(/^one /u, "a ")}`;
  }
  const [integer = "", decimals] = text.split(".");
  const head = integer === "" ? "zero" : cardinal(integer);
  return decimals === undefined ? head : `${head} point ${digits(decimals)}`;
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

/** "1990": nineteen nineties. */
export function decade(text: string): string {
  const words = text.length === 2 ? belowHundred(Number(text)) : year(text);
  return words.endsWith("y") ? `${words.slice(0, -1)}ies` : `${words}s`;
}

/** "3/4": three quarters; "3/17" is three over seventeen. */
function fraction(numerator: string, denominator: string): string {
  const top = cardinal(numerator);
  const bottom = Number(denominator);
  if (bottom < 2 || Number(numerator) === 0 || (bottom > 10 && !fineFractions.has(bottom)))
    return `${top} over ${cardinal(denominator)}`;
  const isOne = numerator === "1";
  if (bottom === 2) return `${top} ${isOne ? "half" : "halves"}`;
  return `${top} ${bottom === 4 ? "quarter" : ordinal(denominator)}${isOne ? "" : "s"}`;
}

const fineFractions = new Set([16, 32, 64, 100]);

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
