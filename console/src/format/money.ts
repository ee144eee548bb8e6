/** USD is exact decimal text, and stays text: a float would change it. */
const pattern = /^(-?)(\d+)(?:\.(\d+))?$/;
/** The significant digits of an amount below a dollar. */
const smallDigits = 3;
/** Two decimals would show $4.99 for $4.9987. */
const balanceDigits = 4;

/** `nearest`: halves away from zero, for spend; `down`: a balance must not look higher than it is. */
type Rounding = "nearest" | "down";

/** `1234.5` is `$1,234.50`, `0.000123456` is `$0.000123`; text that is not an amount stays as it is. */
export const formatUsd = (text: string) => format(text, { least: 2, rounding: "nearest" });

/** `4.99871` is `$4.9987`, `25` is `$25.00`; from a thousand dollars on, cents are enough. */
export const formatBalance = (text: string) =>
  format(text, {
    least: /\d{4}/.test(text.split(".")[0] ?? "") ? 2 : balanceDigits,
    rounding: "down",
  });

/**
 * For a column: every amount with these decimals, as `usdPlaces` finds them. What would look like
 * nothing is less than the smallest that can be shown: `<$0.001`.
 */
export function formatUsdTo(text: string, places: number): string {
  const [, sign, whole = "", fraction = ""] = pattern.exec(text) ?? [];
  if (sign === undefined) return text;
  const kept = round({ whole, fraction, places, isUp: isHalfUp(fraction, places) });
  const isNothing = !/[1-9]/.test(whole + fraction);
  if (!isNothing && !/[1-9]/.test(kept.whole + kept.fraction))
    return `${sign === "-" ? "−" : ""}<$0.${"1".padStart(places, "0")}`;
  return toText(sign === "-" && !isNothing, kept);
}

/** For a column of balances, none of which may look higher than it is. */
export function formatBalanceTo(text: string, places = balanceDigits): string {
  const [, sign, whole = "", fraction = ""] = pattern.exec(text) ?? [];
  if (sign === undefined) return text;
  const isBelowZero = sign === "-" && /[1-9]/.test(whole + fraction);
  const isUp = isBelowZero && /[1-9]/.test(fraction.slice(places));
  return toText(isBelowZero, round({ whole, fraction, places, isUp }));
}

/** How many decimals show the largest of some amounts well. */
export function usdPlaces(amounts: readonly string[]): number {
  let most = -1;
  for (const text of amounts) {
    const [, , whole = "0", fraction = ""] = pattern.exec(text) ?? [];
    if (/[1-9]/.test(whole)) return 2;
    const zeros = fraction.search(/[1-9]/);
    if (zeros >= 0 && (most < 0 || zeros < most)) most = zeros;
  }
  return most < 0 ? 2 : Math.max(2, most + smallDigits);
}

/** `1234.5` is `$1,234.50`: every digit there is, and at least the cents. */
export function formatUsdExact(text: string): string {
  const [, sign, whole = "", fraction = ""] = pattern.exec(text) ?? [];
  if (sign === undefined) return text;
  return `${sign === "-" ? "−" : ""}$${grouped(whole)}.${fraction.padEnd(2, "0")}`;
}

function format(
  text: string,
  { least, rounding }: { readonly least: number; readonly rounding: Rounding },
): string {
  const [, sign, whole = "", fraction = ""] = pattern.exec(text) ?? [];
  if (sign === undefined) return text;
  const places = digitsToShow({ whole, fraction, least });
  const isBelowZero = sign === "-";
  const isUp =
    rounding === "nearest"
      ? isHalfUp(fraction, places)
      : isBelowZero && /[1-9]/.test(fraction.slice(places));
  const kept = round({ whole, fraction, places, isUp });
  const shown = { whole: kept.whole, fraction: trimZeros(kept.fraction) };
  return toText(isBelowZero && /[1-9]/.test(kept.whole + kept.fraction), shown);
}

interface Kept {
  readonly whole: string;
  readonly fraction: string;
}

const toText = (isBelowZero: boolean, { whole, fraction }: Kept) =>
  `${isBelowZero ? "−" : ""}$${grouped(whole)}.${fraction}`;

const grouped = (whole: string) => whole.replace(/\B(?=(\d{3})+$)/g, ",");

function digitsToShow(of: {
  readonly whole: string;
  readonly fraction: string;
  readonly least: number;
}): number {
  const { whole, fraction, least } = of;
  if (/[1-9]/.test(whole)) return least;
  const zeros = fraction.search(/[1-9]/);
  return zeros < 0 ? 2 : Math.max(least, zeros + smallDigits);
}

const isHalfUp = (fraction: string, places: number) => (fraction[places] ?? "0") >= "5";

/** Away from zero where `isUp`, else toward it. */
function round(of: {
  readonly whole: string;
  readonly fraction: string;
  readonly places: number;
  readonly isUp: boolean;
}): Kept {
  const { whole, fraction, places, isUp } = of;
  const cut = BigInt(whole + fraction.padEnd(places, "0").slice(0, places));
  const digits = String(isUp ? cut + 1n : cut).padStart(places + 1, "0");
  return { whole: digits.slice(0, -places), fraction: digits.slice(-places) };
}

const trimZeros = (fraction: string) => fraction.replace(/(?<=\d\d)0+$/, "");
