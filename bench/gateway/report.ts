/** From the figures of every round to medians, spreads, ratios and a table. */

export const targetNames = ["direct", "nginx", "bare", "free", "gateway"] as const;
export type TargetName = (typeof targetNames)[number];
const proxyNames = ["nginx", "bare", "free", "gateway"] as const;

/** In the order of the table. */
const metrics = {
  cpuUsPerRequest: { label: "CPU µs per request", digits: 1 },
  cpuUsPerChunk: { label: "CPU µs per streamed chunk", digits: 1 },
  requestsPerSecond: { label: "requests/s", digits: 0 },
  coresBusy: { label: "  cores used", digits: 2 },
  p50Us: { label: "  latency p50, µs", digits: 0 },
  p99Us: { label: "  latency p99, µs", digits: 0 },
  singleP50Us: { label: "1 connection: latency p50, µs", digits: 0 },
  firstByteUs: { label: "stream: first content p50, µs", digits: 0 },
  firstByteAddedUs: { label: "  added to direct, µs", digits: 0 },
  rssMb: { label: "RSS after the round, MB", digits: 0 },
  generatorUsPerRequest: { label: "load generator: CPU µs per request", digits: 1 },
  generatorCores: { label: "  cores used", digits: 2 },
  readsPerChunk: { label: "reads per streamed chunk", digits: 2 },
} as const;
export type MetricName = keyof typeof metrics;

/** What one target showed in one round. */
export type Figures = Partial<Record<MetricName, number>>;
export type Round = Partial<Record<TargetName, Figures>>;

export type Spread = {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly rounds: readonly number[];
};
type SpreadByMetric = Partial<Record<MetricName, Spread>>;

export type Summary = {
  readonly targets: Partial<Record<TargetName, SpreadByMetric>>;
  /** Gateway over bare proxy, taken within a round, where both met the same machine. */
  readonly ratios: SpreadByMetric;
  /** What money and limits add: gateway minus the one without them, taken within a round. */
  readonly added: SpreadByMetric;
};

/** Cores; one process of one thread has no more than one. */
const generatorLimit = 0.85;
const bunchedLimit = 0.95;

const metricNames = Object.keys(metrics) as MetricName[];

export function summarise(measured: readonly Round[]): Summary {
  const rounds = measured.map(withAddedTime);
  const targets: Partial<Record<TargetName, SpreadByMetric>> = {};
  for (const target of targetNames) {
    if (rounds.every((round) => round[target] === undefined)) continue;
    targets[target] = spreads(rounds.map((round) => round[target] ?? {}));
  }
  return {
    targets,
    ratios: spreads(rounds.map(ratiosOf)),
    added: spreads(rounds.map(addedIn)),
  };
}

export function spreadOf(values: readonly number[]): Spread | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [min, low] = [sorted[0], sorted[Math.floor(middle)]];
  const [high, max] = [sorted[Math.ceil(middle)], sorted.at(-1)];
  if (min === undefined || low === undefined || high === undefined || max === undefined) {
    return undefined;
  }
  return { median: (low + high) / 2, min, max, rounds: values };
}

/** What would make the figures say something else than they seem to. */
export function doubts({ targets }: Summary): readonly string[] {
  return proxyNames.flatMap((target) => {
    const { generatorCores, readsPerChunk } = targets[target] ?? {};
    return [
      ...(generatorCores !== undefined && generatorCores.median > generatorLimit
        ? [`${target}: the load generator was near its limit, which may cap requests/s.`]
        : []),
      ...(readsPerChunk !== undefined && readsPerChunk.median < bunchedLimit
        ? [`${target}: chunks arrived in bunches, so the cost per chunk looks lower than it is.`]
        : []),
    ];
  });
}

const titles = {
  direct: "direct",
  nginx: "nginx",
  bare: "bare Bun proxy",
  free: "gateway, free",
  gateway: "svc gateway",
};

export function table({ targets, ratios, added }: Summary): string {
  const shown = targetNames.filter((target) => targets[target] !== undefined);
  const compared = Object.keys(ratios).length > 0;
  const subtracted = Object.keys(added).length > 0;
  const header = [
    "",
    ...shown.map((target) => titles[target]),
    ...(compared ? ["gateway ÷ bare"] : []),
    ...(subtracted ? ["added by money and limits"] : []),
  ];
  const rows = metricNames.map((name) => [
    metrics[name].label,
    ...shown.map((target) => cell(targets[target]?.[name], metrics[name].digits)),
    ...(compared ? [cell(ratios[name], 2)] : []),
    ...(subtracted ? [cell(added[name], metrics[name].digits)] : []),
  ]);
  return aligned([header, ...rows]);
}

function withAddedTime(round: Round): Round {
  const direct = round.direct?.firstByteUs;
  if (direct === undefined) return round;
  const result: Round = { ...round };
  for (const target of proxyNames) {
    const figures = round[target];
    if (figures?.firstByteUs === undefined) continue;
    result[target] = { ...figures, firstByteAddedUs: figures.firstByteUs - direct };
  }
  return result;
}

function ratiosOf({ bare, gateway }: Round): Figures {
  const ratios: Figures = {};
  for (const name of metricNames) {
    const [ours, theirs] = [gateway?.[name], bare?.[name]];
    if (ours !== undefined && theirs !== undefined && theirs > 0) ratios[name] = ours / theirs;
  }
  return ratios;
}

function addedIn({ free, gateway }: Round): Figures {
  const added: Figures = {};
  for (const name of metricNames) {
    const [ours, theirs] = [gateway?.[name], free?.[name]];
    if (ours !== undefined && theirs !== undefined) added[name] = ours - theirs;
  }
  return added;
}

function spreads(rounds: readonly Figures[]): SpreadByMetric {
  const result: SpreadByMetric = {};
  for (const name of metricNames) {
    const values = rounds.flatMap((figures) => figures[name] ?? []);
    const spread = spreadOf(values);
    if (spread !== undefined) result[name] = spread;
  }
  return result;
}

export function cell(spread: Spread | undefined, digits: number): string {
  if (spread === undefined) return "–";
  const { median, min, max } = spread;
  // A range of negative numbers with a dash between would be read as something else.
  const to = min < 0 ? " to " : "–";
  return `${number(median, digits)} (${number(min, digits)}${to}${number(max, digits)})`;
}

export function number(value: number, digits: number): string {
  return value.toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((text, column) =>
        column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
      )
      .join("   ");
  return rows.map(line).join("\n");
}
