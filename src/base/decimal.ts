const decimalText = /^(\d{1,15})(?:\.(\d{1,18}))?$/;

/**
 * Reads decimal text as an integer of 10^-scale units, exactly: fromDecimal("0.30", 9) is
 * 300_000_000n. Undefined when the text is no plain decimal or is finer than the scale.
 */
export function fromDecimal(text: string, scale: number): bigint | undefined {
  const match = decimalText.exec(text);
  if (match === null) return undefined;
  const fraction = (match[2] ?? "").replace(/0+$/, "");
  if (fraction.length > scale) return undefined;
  return BigInt(`${match[1] ?? "0"}${fraction.padEnd(scale, "0")}`);
}

/** The reverse, without trailing zeros but with at least `atLeast` digits after the point. */
export function toDecimal(units: bigint, scale: number, atLeast = 0): string {
  const negative = units < 0n;
  const digits = (negative ? -units : units).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits
    .slice(digits.length - scale)
    .replace(/0+$/, "")
    .padEnd(atLeast, "0");
  return `${negative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}
