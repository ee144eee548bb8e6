const digits = 9;

/** Adds USD texts up, exactly. */
export function sumUsd(texts: readonly string[]): string {
  const nano = texts.reduce((total, text) => total + toNano(text), 0n);
  const size = String(nano < 0n ? -nano : nano).padStart(digits + 1, "0");
  const fraction = size.slice(-digits).replace(/(?<=\d\d)0+$/, "");
  return `${nano < 0n ? "-" : ""}${size.slice(0, -digits)}.${fraction}`;
}

function toNano(text: string): bigint {
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  const nano = BigInt(whole + fraction.slice(0, digits).padEnd(digits, "0"));
  return text.startsWith("-") ? -nano : nano;
}
