const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

/** `1234567` is `1,234,567`. */
export const formatCount = (value: number) => plain.format(value);

/** `1234567` is `1.2M`: for axes and tiles, with the whole figure at hand. */
export const formatCompact = (value: number) => compact.format(value);

/** `0.031` is `3.1%`. */
export const formatShare = (value: number) => percent.format(value);

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

/** For an axis of money: a drawing needs no more than a float has. */
export function formatUsdAxis(value: number): string {
  if (value === 0) return "$0";
  if (Math.abs(value) >= 1) return `$${compact.format(value)}`;
  return `$${Number(value.toPrecision(2))}`;
}

const trim = (value: number, digits: number) => String(Number(value.toFixed(digits)));
