/** Writes the results into docs/benchmarks.md, with charts and the figures as JSON beside it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { machineNow, projectDir } from "../load/processes.ts";
import { type Bar, type Chart, toSvg } from "./chart.ts";
import type { Contender } from "./contender.ts";
import { goalTable } from "./goals.ts";
import type { Sample } from "./results.ts";
import { addedTail, type Report, tablesOf, toMarkdown } from "./tables.ts";

export type Run = {
  readonly report: Report;
  readonly rounds: number;
  readonly isQuick: boolean;
  /** How it was started. */
  readonly command: string;
};

const page = join(projectDir, "docs/benchmarks.md");
const folder = join(projectDir, "docs/images/benchmarks");
const begin = "<!-- results: begin -->";
const end = "<!-- results: end -->";

export function writeDocument(run: Run): void {
  const charts = chartsOf(run.report);
  mkdirSync(folder, { recursive: true });
  for (const [name, chart] of Object.entries(charts))
    writeFileSync(join(folder, `${name}.svg`), toSvg(chart));
  writeFileSync(join(folder, "results.json"), `${JSON.stringify(toJson(run))}\n`);
  const text = readFileSync(page, "utf8");
  writeFileSync(page, withResults(text, sectionOf(run, charts)));
}

/** Replaces what is between the marks. */
export function withResults(text: string, section: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/benchmarks.md lacks "${begin}" and "${end}"`);
  return `${text.slice(0, from + begin.length)}\n\n${section.trim()}\n\n${text.slice(to)}`;
}

function sectionOf(run: Run, charts: Readonly<Record<string, Chart>>): string {
  const { processors, model, platform, bun } = machineNow();
  const date = new Date().toLocaleDateString("en-US", { dateStyle: "long", timeZone: "UTC" });
  const pictures = Object.entries(charts).map(
    ([name, { title }]) => `![${title}](images/benchmarks/${name}.svg)`,
  );
  const tables = [goalTable(run.report), ...tablesOf(run.report)].map(
    (table) => `### ${table.title}\n\n${toMarkdown(table)}`,
  );
  return [
    `${date}, ${processors} × ${model}, ${platform}, Bun ${bun}. Medians (min–max) of ${run.rounds} rounds.`,
    ...(run.isQuick ? ["**Short workloads: this shows that it works, not how fast.**"] : []),
    `\`${run.command}\``,
    ...pictures,
    ...tables,
  ].join("\n\n");
}

function chartsOf(report: Report): Readonly<Record<string, Chart>> {
  const { results } = report;
  const shown = report.contenders.filter(
    ({ proxy, onlyIn }) => proxy !== undefined && onlyIn === undefined,
  );
  const bars = (value: (contender: Contender) => Omit<Bar, "label" | "isOurs"> | undefined) =>
    shown.flatMap((contender) => {
      const bar = value(contender);
      const { title: label, name } = contender;
      return bar === undefined ? [] : [{ label, isOurs: name === "svc", ...bar }];
    });
  const median = (workload: string, metric: "cpuUs" | "peakRssMb") => (contender: Contender) => {
    const value = results.spread(workload, contender.name, metric)?.median;
    return value === undefined ? undefined : { value };
  };
  const latency = (contender: Contender) => {
    const tail = addedTail(report, "gentle", contender);
    if (tail?.p50 === undefined || tail.p99 === undefined) return undefined;
    return { value: tail.p50.median, further: tail.p99.median };
  };
  return {
    "cpu-request": {
      title: "CPU per chat request of 1 kB",
      unit: "µs, less is better",
      bars: bars(median("chat-1k", "cpuUs")),
    },
    "cpu-chunk": {
      title: "CPU per streamed chunk, 200 streams of 50 chunks",
      unit: "µs, less is better",
      bars: bars(median("streams-200x50", "cpuUs")),
    },
    latency: {
      title: "Latency added to a chat of 1 kB at 1,000 requests per second",
      unit: "p50, µs, less is better",
      furtherTitle: "p99",
      bars: bars(latency),
    },
    memory: {
      title: "Peak memory with 2,000 streams of 50 chunks",
      unit: "MB, less is better",
      bars: bars(median("streams-2000x50", "peakRssMb")),
    },
  };
}

/** Every round, without the single latencies, which are thousands. */
export function toJson({ report, rounds, isQuick, command }: Run): object {
  const { contenders, workloads, results, overloads } = report;
  return {
    machine: machineNow(),
    date: new Date().toISOString(),
    command,
    rounds,
    isQuick,
    contenders: contenders.map(({ name, title, version, does }) => ({
      name,
      title,
      version,
      does,
    })),
    workloads: workloads.map((workload) => ({
      ...workload,
      contenders: contenders.flatMap((contender) => {
        const { name } = contender;
        const failed = results.failure(workload.id, name);
        const samples = results.samples(workload.id, name);
        const tail = workload.rate === undefined ? {} : addedTail(report, workload.id, contender);
        return samples.length === 0 && failed === undefined
          ? []
          : [{ name, ...(failed === undefined ? {} : { failed }), ...byMetric(samples), ...tail }];
      }),
    })),
    overload: Object.fromEntries(overloads),
  };
}

function byMetric(samples: readonly Sample[]): object {
  const [first] = samples;
  if (first === undefined) return {};
  const { timesUs: _, ...figures } = first;
  return Object.fromEntries(
    (Object.keys(figures) as (keyof typeof figures)[]).flatMap((name) => {
      const values = samples.map((sample) => Number(Number(sample[name]).toPrecision(4)));
      return values.every(Number.isFinite) ? [[name, values]] : [];
    }),
  );
}
