import { behindSinceMs, type Freshness } from "../../base/freshness.ts";
import { fromUsd, toUsd } from "../../base/money.ts";
import { printHint, style } from "../terminal/output.ts";

/** Below sums that lack calls; `--json` has the same two fields. */
export function printBehind(sums: Freshness | undefined): void {
  if (sums === undefined || behindSinceMs(sums, Date.now()) === undefined) return;
  printHint(`As of ${sums.as_of}. Later calls are not counted yet.`);
}

/** Pads amounts so that their decimal points align. */
export function alignUsd(amounts: readonly string[]): readonly string[] {
  const width = Math.max(0, ...amounts.map((text) => text.indexOf(".")));
  return amounts.map((text) => " ".repeat(Math.max(0, width - text.indexOf("."))) + text);
}

/** With at most four decimals, for tables; `--json` has all. */
export function shortUsd(usd: string): string {
  const nano = fromUsd(usd) ?? 0n;
  const rounded = ((nano + leastShown / 2n) / leastShown) * leastShown;
  return rounded === 0n && nano > 0n ? `<${toUsd(leastShown)}` : toUsd(rounded);
}

/** 0.0001 USD. */
const leastShown = 100_000n;

const barWidth = 30;
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const dayMs = 86_400_000;

/** One line per day, with a bar relative to the highest day. The last one is today. */
export function dayBars(options: {
  readonly days: readonly { readonly day: string; readonly charged_usd: string }[];
  readonly count: number;
  readonly nowMs: number;
}): readonly string[] {
  const { days, count, nowMs } = options;
  const spent = new Map(days.map(({ day, charged_usd }) => [day, fromUsd(charged_usd) ?? 0n]));
  const all = Array.from({ length: count }, (_, at) =>
    new Date(nowMs - (count - 1 - at) * dayMs).toISOString().slice(0, 10),
  );
  // Days before the first spend would be rows of nothing.
  const first = all.findIndex((day) => spent.has(day));
  const shown = all.slice(first === -1 ? all.length - 1 : first);
  const sums = shown.map((day) => spent.get(day) ?? 0n);
  const most = sums.reduce((one, other) => (other > one ? other : one), 1n);
  const texts = alignUsd(sums.map(toUsd));
  return shown.map((day, at) => {
    const bar = barOf(sums[at] ?? 0n, most);
    return `${style.dim(day)}  ${style.cyan(bar)}${" ".repeat(barWidth - bar.length)}  ${texts[at]}`;
  });
}

/** Any amount above zero is visible. */
function barOf(part: bigint, most: bigint): string {
  const size = Number((part * BigInt(barWidth * eighths.length)) / most);
  const seen = part > 0n ? Math.max(1, size) : 0;
  return "█".repeat(Math.floor(seen / eighths.length)) + (eighths[seen % eighths.length] ?? "");
}
