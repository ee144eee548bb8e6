import { longestOf, type StallFigures, type StallsResult } from "./stalls.ts";

/** The figures for a person: Markdown, so that a table can go into a document as it is. */
export function stallTable({ cases, boundMs, idle, problems }: StallsResult): readonly string[] {
  const rows = cases.map((one) => rowOf(one, boundMs));
  return [
    `stalls: ${cases.length} cases, ${problems.length} above ${boundMs} ms; idle /healthz: median ${idle.medianMs.toFixed(1)} ms, longest ${Math.round(idle.longestMs)} ms`,
    "",
    ...aligned([titles, titles.map(() => "---"), ...rows]),
    "",
    ...problems.map((problem) => `  ✗ ${problem}`),
  ];
}

const titles = [
  "case",
  "gateway ms",
  "platform ms",
  "loop CPU ms",
  "CPU s",
  "peak MiB",
  "replies",
  "",
];

function rowOf(figures: StallFigures, boundMs: number): readonly string[] {
  const { name, gatewayMs, platformMs, loopMs, processorS, peakBytes, statuses } = figures;
  const replies = Object.entries(statuses).map(([status, count]) =>
    count === 1 ? status : `${count} × ${status}`,
  );
  return [
    name,
    toMs(gatewayMs),
    toMs(platformMs),
    toMs(loopMs),
    processorS.toFixed(2),
    String(Math.round(peakBytes / 2 ** 20)),
    replies.join(", "),
    longestOf(figures) > boundMs ? "✗" : "",
  ];
}

const toMs = (ms: number | undefined) => (ms === undefined ? "frozen" : String(Math.round(ms)));

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = titles.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
}
