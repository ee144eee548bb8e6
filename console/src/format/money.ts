/** USD is exact decimal text, and stays text: a float would change it. */
const pattern = /^(-?)(\d+)(?:\.(\d+))?$/;
/** The significant digits of an amount below a dollar. */
const smallDigits = 3;
/** Two decimals would show $4.99 for $4.9987. */
const balanceDigits = 4;

/** `1234.5` is `$1,234.50`, `0.000123456` is `$0.000123`; text that is not an amount stays as it is. */
export const formatUsd = (text: string) => format(text, 2);

/** `4.99871` is `$4.9987`, `25` is `$25.00`. */
export const formatBalance = (text: string) => format(text, balanceDigits);

function format(text: string, places: number): string {
  const [, sign, whole = "", fraction = ""] = pattern.exec(text) ?? [];
  if (sign === undefined) return text;
  const kept = cut(whole, fraction, digitsToShow({ whole, fraction, places }));
  const minus = sign === "-" && /[1-9]/.test(kept.whole + kept.fraction) ? "−" : "";
  const grouped = kept.whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${minus}$${grouped}.${kept.fraction}`;
}

/** `1234.5` is `$1,234.5`: every digit there is. */
export function formatUsdExact(text: string): string {
  const [, sign, whole = "", fraction = ""] = pattern.exec(text) ?? [];
  if (sign === undefined) return text;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${sign === "-" ? "−" : ""}$${grouped}${fraction === "" ? "" : `.${fraction}`}`;
}

function digitsToShow(of: {
  readonly whole: string;
  readonly fraction: string;
  readonly places: number;
}): number {
  const { whole, fraction, places } = of;
  if (/[1-9]/.test(whole)) return places;
  const zeros = fraction.search(/[1-9]/);
  return zeros < 0 ? 2 : Math.max(places, zeros + smallDigits);
}

/** Truncates the digits: a balance must not look higher than it is. */
function cut(whole: string, fraction: string, places: number) {
  const padded = fraction.padEnd(places, "0");
  const digits = String(BigInt(whole + padded.slice(0, places))).padStart(places + 1, "0");
  const shown = trimZeros(digits.slice(-places));
  return { whole: digits.slice(0, -places), fraction: shown };
}

const trimZeros = (fraction: string) => fraction.replace(/(?<=\d\d)0+$/, "");
