/** From what was measured to tables. */
import { aligned, cell, number, spreadOf } from "../gateway/report.ts";
import type { Observation } from "./driver-faults.ts";
import type { DriverSample } from "./drivers.ts";
import type { Figures, PhaseName, Round } from "./rounds.ts";
import { type TargetName, targetNames, titles } from "./targets.ts";
import type { WireCount, WirePhase } from "./wire.ts";

const phaseTitles: Readonly<Record<WirePhase, string>> = {
  plain: "keys without limits",
  limited: "keys with limits (requests per minute, concurrency)",
  single: "one connection, keys without limits",
  idle: "no calls",
};

/** Cores; one process of one thread has no more than one. */
const generatorLimit = 0.85;

export function gatewayTable(rounds: readonly Round[]): string {
  return (["plain", "limited", "single"] as const)
    .map((phase) => `${phaseTitles[phase]}\n${phaseTable(rounds, phase)}`)
    .join("\n\n");
}

function phaseTable(rounds: readonly Round[], phase: PhaseName): string {
  const of = (target: TargetName, read: (figures: Figures) => number) =>
    rounds.flatMap((round) => {
      const figures = round[target]?.[phase];
      return figures === undefined ? [] : [read(figures)];
    });
  const row = (label: string, read: (figures: Figures) => number, digits: number) => [
    label,
    ...targetNames.map((target) => cell(spreadOf(of(target, read)), digits)),
  ];
  const ratio = (label: string, read: (figures: Figures) => number) => [
    label,
    ...targetNames.map((target) => {
      const base = of("sqlite", read);
      const values = of(target, read).map((value, at) => value / (base[at] ?? Number.NaN));
      return target === "sqlite" ? "" : cell(spreadOf(values), 2);
    }),
  ];
  return aligned([
    ["", ...targetNames.map((target) => titles[target])],
    row("CPU µs per request: gateway", ({ cpuUs }) => cpuUs, 1),
    ratio("  ÷ SQLite", ({ cpuUs }) => cpuUs),
    row("CPU µs per request: database", ({ databaseCpuUs }) => databaseCpuUs, 1),
    ratio("both ÷ SQLite", ({ cpuUs, databaseCpuUs }) => cpuUs + databaseCpuUs),
    row("requests/s", ({ perSecond }) => perSecond, 0),
    ratio("  ÷ SQLite", ({ perSecond }) => perSecond),
    row("latency p50, µs", ({ p50Us }) => p50Us, 0),
    row("latency p99, µs", ({ p99Us }) => p99Us, 0),
  ]);
}

/** What would make the figures say something else than they seem to. */
export function doubts(rounds: readonly Round[]): readonly string[] {
  return targetNames.flatMap((target) => {
    const cores = rounds.map((round) => round[target]?.plain?.generatorCores ?? 0);
    const isAtLimit = (spreadOf(cores)?.median ?? 0) > generatorLimit;
    return isAtLimit
      ? [`${titles[target]}: the load generator was near its limit, which may cap requests/s.`]
      : [];
  });
}

export function wireTable(counts: readonly WireCount[]): string {
  const rows = counts.map((count) => {
    const { target, phase, times, calls, messagesOut, messagesIn, bytesOut, bytesIn } = count;
    // Per 1,000 calls of the load, or per second without any.
    const per = phase === "idle" ? times : times / 1000;
    const figures = [calls, messagesOut, messagesIn, bytesOut / 1000, bytesIn / 1000];
    return [
      titles[target],
      phaseTitles[phase] + (phase === "idle" ? ", per second" : ""),
      ...figures.map((value) => number(value / per, phase === "idle" ? 1 : 0)),
    ];
  });
  const header = ["", "per 1,000 requests", "database calls", "messages to it", "from it"];
  return aligned([[...header, "kB to it", "kB from it"], ...rows]);
}

export function driverTable(samples: readonly DriverSample[]): string {
  const sizes = [...new Set(samples.map(({ size }) => size))];
  const of = (driver: DriverSample["driver"], size: number) =>
    samples.filter((sample) => sample.driver === driver && sample.size === size);
  const row = (size: number, label: string, read: (sample: DriverSample) => number) => {
    const [pg, bun] = [of("pg", size).map(read), of("Bun.SQL", size).map(read)];
    const ratios = bun.map((value, at) => value / (pg[at] ?? Number.NaN));
    return [
      `${number(size, 0)}: ${label}`,
      cell(spreadOf(pg), 1),
      cell(spreadOf(bun), 1),
      cell(spreadOf(ratios), 2),
    ];
  };
  return aligned([
    ["receipts per batch", "pg", "Bun.SQL", "Bun.SQL ÷ pg"],
    ...sizes.flatMap((size) => [
      row(size, "CPU µs per receipt", ({ cpuUs }) => cpuUs),
      row(size, "batch p50, µs", ({ p50Us }) => p50Us),
      row(size, "batch p99, µs", ({ p99Us }) => p99Us),
    ]),
  ]);
}

export function observationList(observations: readonly Observation[]): string {
  return observations
    .map(({ what, pg, bun }) => `${what}\n  pg:      ${pg}\n  Bun.SQL: ${bun}`)
    .join("\n");
}
