const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

/** `1234567` is `1,234,567`. */
export const formatCount = (value: number) => plain.format(value);

/** `1234567` is `1.2M`: for axes and tiles, with the whole figure at hand. */
export const formatCompact = (value: number) => compact.format(value);

/** `0.031` is `3.1%`. */
/** `0.0314` is `3.1%`. What is little, and not nothing, is `<0.1%`; what is not all, not `100%`. */
export function formatShare(value: number): string {
  if (value > 0 && value < leastShare) return `<${percent.format(leastShare)}`;
  if (value < 1 && value > 1 - leastShare) return `>${percent.format(1 - leastShare)}`;
  return percent.format(value);
}

const leastShare = 0.001;

/** `0.4` is `0.4 ms`, `1234` is `1.23 s`, `90000` is `1 min 30 s`. */
export function formatMs(ms: number): string {
  if (ms < 10) return `${trim(ms, 1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trim(ms / 1_000, 2)} s`;
  const seconds = Math.round(ms / 1_000);
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)} min${rest === 0 ? "" : ` ${rest} s`}`;
}

/** `1500` is `1.5 kB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${trim(bytes / 1_000 ** step, 1)} ${units[step]}`;
}

/**
 * For an axis of money, whose labels are a step apart and have the same decimals: `$0.10`, `$0.08`.
 * A drawing needs no more than a float has.
 */
export function formatUsdAxis(value: number, step: number): string {
  if (value === 0) return "$0";
  if (step >= 1) return `$${compact.format(value)}`;
  const [mantissa = "", exponent = "0"] = step
    .toExponential(2)
    .replace(/\.?0+e/, "e")
    .split("e");
  const decimals = -Number(exponent) + (mantissa.length > 1 ? mantissa.length - 2 : 0);
  return `$${value.toFixed(Math.max(2, decimals))}`;
}

const trim = (value: number, digits: number) => String(Number(value.toFixed(digits)));
