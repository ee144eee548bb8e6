/** USD is exact decimal text, and stays text: a float would change it. */
const pattern = /^(-?)(\d+)(?:\.(\d+))?$/;
/** Of an amount below a cent, so many digits say enough. */
const smallDigits = 3;

/** `1234.5` is `$1,234.50`, `0.000123456` is `$0.000123`; what is no amount stays as it is. */
export function formatUsd(text: string): string {
  const [, sign, whole = "", fraction = ""] = pattern.exec(text) ?? [];
  if (sign === undefined) return text;
  const kept = cut(whole, fraction, digitsToShow(whole, fraction));
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

function digitsToShow(whole: string, fraction: string): number {
  if (/[1-9]/.test(whole)) return 2;
  const zeros = fraction.search(/[1-9]/);
  return zeros < 0 ? 2 : zeros + smallDigits;
}

/** Cut, on the digits themselves: a balance must not look like more than there is. */
function cut(whole: string, fraction: string, places: number) {
  const padded = fraction.padEnd(places, "0");
  const digits = String(BigInt(whole + padded.slice(0, places))).padStart(places + 1, "0");
  const shown = trimZeros(digits.slice(-places));
  return { whole: digits.slice(0, -places), fraction: shown };
}

const trimZeros = (fraction: string) => fraction.replace(/(?<=\d\d)0+$/, "");
