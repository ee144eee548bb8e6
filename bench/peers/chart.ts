/**
 * Horizontal bar charts as SVG text, for pages with a light or a dark background. A bar that is much
 * longer than ours is cut, and its figure is what counts: otherwise one slow server would make all
 * others look alike.
 */
export type Bar = {
  readonly label: string;
  readonly value: number;
  /** Ours: drawn in color. */
  readonly isOurs: boolean;
  /** A second, paler bar behind the first, such as a p99 behind a p50. */
  readonly further?: number;
};

export type Chart = {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
  /** What the second bars show. */
  readonly furtherTitle?: string;
};

const width = 720;
const labelWidth = 150;
const figureWidth = 150;
const barWidth = width - labelWidth - figureWidth;
const rowHeight = 26;
const barHeight = 14;
const top = 46;
/** The longest bar, as a multiple of ours. */
const cutAt = 5;

export function toSvg({ title, unit, bars, furtherTitle }: Chart): string {
  const height = top + bars.length * rowHeight + 10;
  const longest = scaleOf(bars);
  const subtitle = furtherTitle === undefined ? unit : `${unit}; pale: ${furtherTitle}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="13">
<style>
text { fill: #57606a } .title { font-weight: 600; font-size: 15px }
.ours { fill: #1f6feb } .other { fill: #8c959f } .further { opacity: 0.35 }
@media (prefers-color-scheme: dark) { text { fill: #9198a1 } .ours { fill: #4493f8 } .other { fill: #6e7681 } }
</style>
<text class="title" x="0" y="16">${escaped(title)}</text>
<text x="0" y="34">${escaped(subtitle)}</text>
${bars.map((bar, at) => rowOf(bar, { y: top + at * rowHeight, longest })).join("\n")}
</svg>
`;
}

/** The value of a bar of full width. */
export function scaleOf(bars: readonly Bar[]): number {
  const values = bars.map(({ value, further = 0 }) => Math.max(value, further));
  const longest = Math.max(0, ...values);
  const ours = bars.find(({ isOurs }) => isOurs);
  const limit = ours === undefined ? longest : Math.max(ours.value, ours.further ?? 0) * cutAt;
  return limit > 0 ? Math.min(longest, limit) : longest;
}

function rowOf(bar: Bar, { y, longest }: { readonly y: number; readonly longest: number }): string {
  const { label, value, isOurs, further } = bar;
  const kind = isOurs ? "ours" : "other";
  const lengthOf = (size: number) =>
    longest > 0 ? Math.max(1, Math.round((Math.min(size, longest) / longest) * barWidth)) : 1;
  const rectangle = (size: number, further: string) =>
    `<rect class="${kind}${further}" x="${labelWidth}" y="${y}" width="${lengthOf(size)}" height="${barHeight}" rx="2"/>`;
  const largest = Math.max(value, further ?? 0);
  const figures = [value, ...(further === undefined ? [] : [further])].map(figure).join(" / ");
  const isCut = largest > longest;
  const figureX = labelWidth + lengthOf(largest) + 8;
  const baseline = y + barHeight - 3;
  return [
    `<text x="${labelWidth - 10}" y="${baseline}" text-anchor="end">${escaped(label)}</text>`,
    ...(further === undefined ? [] : [rectangle(further, " further")]),
    rectangle(value, ""),
    `<text x="${figureX}" y="${baseline}">${isCut ? "… " : ""}${figures}</text>`,
  ].join("");
}

function figure(value: number): string {
  const digits = Math.abs(value) < 20 ? 1 : 0;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
