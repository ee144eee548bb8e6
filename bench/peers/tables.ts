/** The tables of the report, as rows of texts: for the terminal and for the documentation. */
import { cell, number, type Spread } from "../gateway/report.ts";
import type { Contender } from "./contender.ts";
import type { Overload } from "./overload.ts";
import { type Results, type SampleMetric, type Tail, tailOf } from "./results.ts";
import type { Workload } from "./workloads.ts";

export type Report = {
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  readonly results: Results;
  readonly overloads: ReadonlyMap<string, Overload>;
  readonly rateOf: (workload: Workload, contender: Contender) => number | undefined;
};

export type Table = {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
};

export function tablesOf(report: Report): readonly Table[] {
  return [
    contenderTable(report),
    requestCostTable(report),
    chunkCostTable(report),
    closedLoopTable(report),
    gentleTable(report),
    singleTable(report),
    firstTokenTable(report),
    memoryTable(report),
    overloadTable(report),
  ].filter(({ rows }) => rows.length > 1);
}

function contenderTable({ contenders }: Report): Table {
  return {
    title: "What was measured",
    rows: [
      ["", "version", "what it does for a call here"],
      ...contenders.map(({ title, version, does }) => [title, version, does]),
    ],
  };
}

type Column = {
  readonly head: string;
  readonly text: (contender: Contender) => string;
};

/** A row per contender that takes part everywhere. */
function table(options: {
  readonly title: string;
  readonly contenders: readonly Contender[];
  readonly columns: readonly Column[];
}): Table {
  const { title, contenders, columns } = options;
  return {
    title,
    rows: [
      ["", ...columns.map(({ head }) => head)],
      ...contenders.map((contender) => [
        contender.title,
        ...columns.map(({ text }) => text(contender)),
      ]),
    ],
  };
}

const isProxy = ({ proxy, onlyIn }: Contender) => proxy !== undefined && onlyIn === undefined;

/** The figure, why there is none, or a dash where it was not measured. */
function figure(
  report: Report,
  options: {
    readonly workload: string;
    readonly metric: SampleMetric;
    readonly digits: number;
    readonly scale?: number;
  },
): (contender: Contender) => string {
  const { workload, metric, digits, scale = 1 } = options;
  return ({ name }) => {
    const failure = report.results.failure(workload, name);
    if (failure !== undefined) return `failed: ${shortReason(failure)}`;
    return cell(scaled(report.results.spread(workload, name, metric), scale), digits);
  };
}

function scaled(spread: Spread | undefined, scale: number): Spread | undefined {
  if (spread === undefined) return undefined;
  const { median, min, max, rounds } = spread;
  return { median: median * scale, min: min * scale, max: max * scale, rounds };
}

/** The first words of what the generator reported; a cell has no room for a whole reply. */
function shortReason(failure: string): string {
  const status = /status is not 200: "?(?:HTTP\/1\.1 )?(\d{3})/.exec(failure)?.[1];
  if (status !== undefined) return `status ${status}`;
  const words = failure.split(":")[0] ?? "";
  return words.slice(0, 40).replaceAll("|", " ");
}

function requestCostTable(report: Report): Table {
  const cost = (workload: string, scale = 1, digits = 1) =>
    figure(report, { workload, metric: "cpuUs", scale, digits });
  return table({
    title: "CPU per request, whole process tree, user and kernel",
    contenders: report.contenders.filter(isProxy),
    columns: [
      { head: "chat 1 kB, µs", text: cost("chat-1k") },
      { head: "÷ svc", text: ratioTo(report, "chat-1k", "svc") },
      { head: "kernel's share", text: kernelShare(report, "chat-1k") },
      { head: "chat 50 kB, µs", text: cost("chat-50k") },
      { head: "embeddings as numbers, ms", text: cost("embeddings-float", 0.001) },
      { head: "embeddings in base64, ms", text: cost("embeddings-base64", 0.001) },
      { head: "speech, µs", text: cost("speech", 1, 0) },
    ],
  });
}

function chunkCostTable(report: Report): Table {
  const streams = report.workloads.filter(({ id }) => id.startsWith("streams-"));
  return table({
    title: "CPU per streamed chunk, µs",
    contenders: report.contenders.filter(isProxy),
    columns: [
      ...streams.map(({ id, label }) => ({
        head: label,
        text: figure(report, { workload: id, metric: "cpuUs", digits: 1 }),
      })),
      { head: "÷ svc (200 of 50)", text: ratioTo(report, "streams-200x50", "svc") },
      { head: "kernel's share (200 of 50)", text: kernelShare(report, "streams-200x50") },
      {
        head: "reads per chunk (200 of 50)",
        text: figure(report, { workload: "streams-200x50", metric: "readsPerChunk", digits: 2 }),
      },
    ],
  });
}

function ratioTo(report: Report, workload: string, under: string) {
  return ({ name }: Contender) =>
    name === under ? "1" : cell(report.results.ratio(workload, [name, under]), 2);
}

function kernelShare(report: Report, workload: string) {
  return ({ name }: Contender) => {
    const spread = report.results.spread(workload, name, "kernelShare");
    return spread === undefined ? "–" : `${number(spread.median * 100, 0)} %`;
  };
}

function closedLoopTable(report: Report): Table {
  const rate = (workload: string, digits = 0) =>
    figure(report, { workload, metric: "requestsPerSecond", digits });
  const times = ({ name }: Contender) => {
    const [p50, p99] = (["p50Us", "p99Us"] as const).map(
      (metric) => report.results.spread("chat-1k", name, metric)?.median,
    );
    return p50 === undefined || p99 === undefined
      ? "–"
      : `${number(p50 / 1000, 1)} / ${number(p99 / 1000, 1)}`;
  };
  return table({
    title: "Closed loop: requests per second",
    contenders: report.contenders.filter(isProxy),
    columns: [
      { head: "chat 1 kB, 64 connections", text: rate("chat-1k") },
      { head: "its latency p50 / p99, ms", text: times },
      { head: "chat 50 kB, 64 connections", text: rate("chat-50k") },
      { head: "embeddings as numbers, 8", text: rate("embeddings-float", 1) },
      { head: "embeddings in base64, 8", text: rate("embeddings-base64", 1) },
      { head: "speech, 16", text: rate("speech") },
    ],
  });
}

export type AddedTail = {
  readonly own: Tail;
  readonly p50: Spread | undefined;
  readonly p99: Spread | undefined;
  /** Of all rounds together. */
  readonly p999Us: number | undefined;
};

/** The latencies of an open loop, and what they add to the direct way at the same rate. */
export function addedTail(
  report: Report,
  workloadId: string,
  contender: Contender,
): AddedTail | undefined {
  const { results, workloads, rateOf } = report;
  const { name } = contender;
  const workload = workloads.find(({ id }) => id === workloadId);
  const rate = workload === undefined ? undefined : rateOf(workload, contender);
  if (rate === undefined) return undefined;
  const own = tailOf(results.samples(workloadId, name), rate);
  if (own === undefined) return undefined;
  const floorUs = tailOf(results.samples(workloadId, "direct"), rate)?.p999Us;
  return {
    own,
    p50: results.added(workloadId, name, "p50Us"),
    p99: results.added(workloadId, name, "p99Us"),
    p999Us: own.p999Us === undefined || floorUs === undefined ? undefined : own.p999Us - floorUs,
  };
}

function tailColumns(report: Report, workload: string, withP999: boolean): readonly Column[] {
  const read = (text: (tail: AddedTail) => string) => (contender: Contender) => {
    const failure = report.results.failure(workload, contender.name);
    if (failure !== undefined) return `failed: ${shortReason(failure)}`;
    const tail = addedTail(report, workload, contender);
    return tail === undefined ? "–" : text(tail);
  };
  const added = (text: (tail: AddedTail) => string) => (contender: Contender) =>
    contender.name === "direct" ? "–" : read(text)(contender);
  const p999 = ({ p999Us }: AddedTail) => (p999Us === undefined ? "–" : number(p999Us, 0));
  return [
    { head: "per second", text: read(({ own }) => number(own.rate, 0)) },
    { head: "added p50, µs", text: added(({ p50 }) => cell(p50, 0)) },
    { head: "added p99, µs", text: added(({ p99 }) => cell(p99, 0)) },
    ...(withP999 ? [{ head: "added p99.9, µs", text: added(p999) }] : []),
    {
      head: "p50 / p99 in all, µs",
      text: read(({ own }) => `${number(own.p50Us, 0)} / ${number(own.p99Us, 0)}`),
    },
    { head: "calls", text: read(({ own }) => number(own.count, 0)) },
    {
      head: "generator / upstream, cores",
      text: read(({ own }) => `${number(own.generatorCores, 2)} / ${number(own.upstreamCores, 2)}`),
    },
  ];
}

const isTimed = ({ onlyIn }: Contender) => onlyIn === undefined;

function gentleTable(report: Report): Table {
  return table({
    title: "Latency added to a chat of 1 kB at a fixed rate (open loop)",
    contenders: report.contenders.filter(isTimed),
    columns: [
      ...tailColumns(report, "gentle", true),
      {
        head: "CPU per request, µs",
        text: figure(report, { workload: "gentle", metric: "cpuUs", digits: 0 }),
      },
    ],
  });
}

function firstTokenTable(report: Report): Table {
  return table({
    title: "Time to the first token added at half load (open loop, streams of 50 chunks)",
    contenders: report.contenders,
    columns: tailColumns(report, "first-token", false),
  });
}

function singleTable(report: Report): Table {
  return table({
    title: "Latency of a chat of 1 kB over one connection, µs",
    contenders: report.contenders,
    columns: [
      { head: "p50", text: figure(report, { workload: "single", metric: "p50Us", digits: 0 }) },
      { head: "p99", text: figure(report, { workload: "single", metric: "p99Us", digits: 0 }) },
      {
        head: "added p50",
        text: ({ name }) =>
          name === "direct" ? "–" : cell(report.results.added("single", name, "p50Us"), 0),
      },
    ],
  });
}

function memoryTable(report: Report): Table {
  const shown = report.workloads.filter(
    ({ kind, id }) =>
      ["chat-1k", "chat-50k", "embeddings-float", "speech"].includes(id) ||
      (kind === "stream" && id.startsWith("streams-")),
  );
  return table({
    title: "Peak memory during the workload, whole process tree, MB",
    contenders: report.contenders.filter(isProxy),
    columns: shown.map(({ id, label }) => ({
      head: label,
      text: figure(report, { workload: id, metric: "peakRssMb", digits: 0 }),
    })),
  });
}

function overloadTable({ contenders, overloads }: Report): Table {
  const percent = (share: number) => `${number(share * 100, share > 0 && share < 0.01 ? 2 : 0)} %`;
  const columns: readonly (readonly [string, (one: Overload) => string])[] = [
    ["saturation/s", ({ saturation }) => number(saturation, 0)],
    ["offered/s", ({ offered }) => number(offered, 0)],
    ["right replies/s", ({ goodput }) => number(goodput, 0)],
    ["429 or 503", ({ refusedShare }) => percent(refusedShare)],
    ["failed", ({ failedShare }) => percent(failedShare)],
    ["not sent", ({ droppedShare }) => percent(droppedShare)],
    [
      "p50 / p99 of right replies, ms",
      ({ p50Us, p99Us }) => `${number(p50Us / 1000, 0)} / ${number(p99Us / 1000, 0)}`,
    ],
    ["peak memory, MB", ({ peakRssMb }) => number(peakRssMb, 0)],
    ["generator, cores", ({ generatorCores }) => number(generatorCores, 2)],
    [
      "normal again after, s",
      ({ recoveredAfterS }) =>
        recoveredAfterS === undefined ? "not within 5 s" : number(recoveredAfterS, 1),
    ],
  ];
  return {
    title: "Twice the saturation rate (chat of 1 kB, at most 512 connections)",
    rows: [
      ["", ...columns.map(([head]) => head)],
      ...contenders.flatMap(({ name, title }) => {
        const one = overloads.get(name);
        return one === undefined ? [] : [[title, ...columns.map(([, text]) => text(one))]];
      }),
    ],
  };
}

/** As a table of the documentation. */
export function toMarkdown({ rows: [head = [], ...rows] }: Table): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}
