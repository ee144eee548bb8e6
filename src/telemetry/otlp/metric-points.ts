import type { Family, MetricsWriter } from "../exposition.ts";
import type { Histogram } from "../histogram.ts";
import { type KeyValue, toKeyValues, toUnixNano } from "./values.ts";

interface Collected extends Family {
  readonly points: string[];
}

/** 2: sums since the start of the process, as Prometheus has them. */
const cumulative = 2;

/** The units of the convention, read from the names; other units are only in the names. */
const units: readonly (readonly [ending: RegExp, unit: string])[] = [
  [/_seconds(_total)?$/, "s"],
  [/_bytes$/, "By"],
];

/**
 * The metrics as OTLP writes them in JSON, under the names that `/metrics` has: dashboards and alerts
 * need no second version.
 */
export class MetricPoints implements MetricsWriter {
  readonly #nowMs: number;
  readonly #times: { readonly start: string; readonly now: string };
  readonly #families: Collected[] = [];

  constructor(startMs: number, nowMs: number) {
    this.#nowMs = nowMs;
    this.#times = { start: toUnixNano(startMs), now: toUnixNano(nowMs) };
  }

  family(family: Family): this {
    this.#families.push({ ...family, points: [] });
    return this;
  }

  add(labels: string, value: number | string, sinceMs?: number): this {
    const number = Number(value);
    const isWhole = typeof value === "number" && Number.isSafeInteger(value);
    return this.#point(labels, isWhole ? { asInt: String(value) } : { asDouble: number }, sinceMs);
  }

  addHistogram(labels: string, { bounds, counts, sumMs }: Histogram): this {
    const count = counts.reduce((sum, one) => sum + one, 0);
    return this.#point(labels, {
      count: String(count),
      sum: sumMs / 1000,
      bucketCounts: counts.map(String),
      explicitBounds: bounds.ms.map((ms) => ms / 1000),
    });
  }

  /** All metrics, with commas between them, and how many points they have. */
  encoded(): { readonly json: string; readonly count: number } {
    const filled = this.#families.filter(({ points }) => points.length > 0);
    const count = filled.reduce((sum, { points }) => sum + points.length, 0);
    return { json: filled.map(toMetric).join(","), count };
  }

  #point(labels: string, value: object, sinceMs?: number): this {
    const family = this.#families.at(-1);
    const { now } = this.#times;
    // The clock of the database, which noted it, may be ahead.
    const start =
      sinceMs === undefined ? this.#times.start : toUnixNano(Math.min(sinceMs, this.#nowMs));
    const times =
      family?.type === "gauge"
        ? { timeUnixNano: now }
        : { startTimeUnixNano: start, timeUnixNano: now };
    family?.points.push(JSON.stringify({ attributes: toAttributes(labels), ...times, ...value }));
    return this;
  }
}

function toMetric({ name, type, help, points }: Collected): string {
  const unit = units.find(([ending]) => ending.test(name))?.[1];
  const head = { name, description: help, ...(unit === undefined ? {} : { unit }) };
  const data = `"dataPoints":[${points.join(",")}]`;
  return `${JSON.stringify(head).slice(0, -1)},${toData(type, data)}}`;
}

function toData(type: Family["type"], data: string): string {
  switch (type) {
    case "gauge":
      return `"gauge":{${data}}`;
    case "counter":
      return `"sum":{"aggregationTemporality":${cumulative},"isMonotonic":true,${data}}`;
    case "histogram":
      return `"histogram":{"aggregationTemporality":${cumulative},${data}}`;
    default:
      return type satisfies never;
  }
}

const label = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const escapes: Readonly<Record<string, string>> = { "\\\\": "\\", '\\"': '"', "\\n": "\n" };

/** The text that `toLabels` makes, read back. */
function toAttributes(labels: string): readonly KeyValue[] {
  if (labels === "") return [];
  const pairs = Array.from(labels.matchAll(label), ([, name = "", text = ""]) => [
    name,
    text.replaceAll(/\\[\\"n]/g, (one) => escapes[one] ?? one),
  ]);
  return toKeyValues(Object.fromEntries(pairs));
}
