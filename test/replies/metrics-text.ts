/** Reads the text of /metrics to the letter: what a scraper would forgive, this does not. */

interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** As it was written. */
  readonly text: string;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly type: string;
  readonly series: Series[];
}

export interface MetricsRead {
  readonly families: readonly string[];
  readonly series: readonly Series[];
  /** Of all series of this name that have these labels. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
  /** The one series of this name that has these labels. */
  only(name: string, labels?: Readonly<Record<string, string>>): Series;
}

const types = ["counter", "gauge", "histogram"];
const sampleLine = /^([a-z_]+)(?:\{(.*)\})? (-?\d+(?:\.\d+)?(?:e[+-]\d+)?)$/;
const labelPart = /([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;

export function readMetrics(text: string): MetricsRead {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let helped = "";
  let current: Family | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const [mark, word, name = "", ...rest] = line.split(" ");
    if (mark === "#" && word === "HELP") {
      if (rest.join(" ") === "") throw new Error(`no words in: ${line}`);
      helped = name;
    } else if (mark === "#" && word === "TYPE") {
      const [type = ""] = rest;
      if (helped !== name || families.has(name) || !types.includes(type))
        throw new Error(`unexpected: ${line}`);
      current = { name, type, series: [] };
      families.set(name, current);
    } else {
      const series = readSeries(line);
      const id = JSON.stringify([series.name, Object.entries(series.labels).toSorted()]);
      if (seen.has(id)) throw new Error(`twice: ${line}`);
      seen.add(id);
      if (current === undefined || !belongs(series.name, current))
        throw new Error(`out of its family: ${line}`);
      current.series.push(series);
    }
  }
  for (const family of families.values()) checkFamily(family);
  return toRead([...families.values()]);
}

function readSeries(line: string): Series {
  const match = sampleLine.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const [, name = "", list = "", text = ""] = match;
  const labels: Record<string, string> = {};
  labelPart.lastIndex = 0;
  while (labelPart.lastIndex < list.length) {
    const label = labelPart.exec(list);
    if (label === null) throw new Error(`not a label: ${line}`);
    const [, key = "", value = ""] = label;
    if (Object.hasOwn(labels, key)) throw new Error(`a label twice: ${line}`);
    labels[key] = value.replace(/\\(.)/g, (_, letter) => (letter === "n" ? "\n" : letter));
  }
  return { name, labels, text, value: Number(text) };
}

function belongs(name: string, family: Family): boolean {
  if (family.type !== "histogram") return name === family.name;
  return ["_bucket", "_sum", "_count"].some((end) => name === family.name + end);
}

function checkFamily({ name, type, series }: Family): void {
  if ((type === "counter") !== name.endsWith("_total"))
    throw new Error(`${name} is named unlike its type`);
  if (type === "counter" && series.some(({ value }) => value < 0))
    throw new Error(`${name} is below zero`);
  if (type === "histogram") checkHistogram(name, series);
}

function checkHistogram(name: string, series: readonly Series[]): void {
  const groups = Map.groupBy(series, ({ labels }) => JSON.stringify({ ...labels, le: undefined }));
  for (const [labels, group] of groups) {
    const find = (end: string) => group.filter((one) => one.name === name + end);
    const buckets = find("_bucket");
    const bounds = buckets.map(({ labels: { le = "" } }) =>
      le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le),
    );
    const counts = buckets.map(({ value }) => value);
    const [count] = find("_count");
    const isWhole =
      bounds.at(-1) === Number.POSITIVE_INFINITY &&
      count?.value === counts.at(-1) &&
      find("_sum").length === 1;
    if (!isWhole || !isRising(bounds, 1) || !isRising(counts, 0))
      throw new Error(`${name}${labels} is not a histogram`);
  }
}

/** Number by number, by more than 0 or, with `least` 0, not falling. */
function isRising(numbers: readonly number[], least: 0 | 1): boolean {
  return numbers.every((value, at) => {
    const before = numbers[at - 1] ?? Number.NEGATIVE_INFINITY;
    return least === 1 ? value > before : value >= before;
  });
}

function toRead(families: readonly Family[]): MetricsRead {
  const series = families.flatMap((family) => family.series);
  const find = (name: string, labels: Readonly<Record<string, string>> = {}) =>
    series.filter(
      (one) =>
        one.name === name &&
        Object.entries(labels).every(([key, value]) => one.labels[key] === value),
    );
  return {
    families: families.map(({ name }) => name),
    series,
    sum: (name, labels) => find(name, labels).reduce((sum, { value }) => sum + value, 0),
    only(name, labels) {
      const [first, ...others] = find(name, labels);
      if (first === undefined || others.length > 0)
        throw new Error(`${others.length + (first ? 1 : 0)} series ${name}`);
      return first;
    },
  };
}
