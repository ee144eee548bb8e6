import type { ChartKind } from "../../components/chart/time-chart.tsx";
import { formatCompact, formatCount, formatMs, formatUsdAxis } from "../../format/figures.ts";
import { formatUsd } from "../../format/money.ts";
import type { Provider } from "../operator/providers/words.ts";
import { type Sums, tokensOf } from "./usage.ts";

/** One of the figures that can be looked at over time. */
export interface Figure {
  readonly name: string;
  readonly label: string;
  readonly kind: ChartKind;
  readonly read: (sums: Sums) => number | null;
  readonly format: (value: number) => string;
  readonly formatAxis: (value: number, step: number) => string;
  readonly isCount?: boolean;
  /** Of the whole time, with every digit that matters. */
  readonly total: (sums: Sums) => string;
}

/** With two digits that count, since it is about: `1234` is `1.2 s`, `847` is `850 ms`. */
export function formatAboutMs(ms: number): string {
  const about = twoDigits(ms);
  if (about < 1_000) return `${about} ms`;
  if (about < 60_000) return `${twoDigits(about / 1_000)} s`;
  return `${twoDigits(about / 60_000)} min`;
}

const twoDigits = (value: number) => Number(value.toPrecision(2));
const orDash = (ms: number | null) => (ms === null ? "–" : formatAboutMs(ms));
const count = {
  kind: "bars",
  format: formatCount,
  formatAxis: formatCompact,
  isCount: true,
} as const;
const time = { kind: "lines", format: formatAboutMs, formatAxis: formatMs } as const;

const spend: Figure = {
  name: "spend",
  label: "Spend",
  kind: "bars",
  read: ({ charged_usd }) => Number(charged_usd),
  // A drawing needs no more than a float has.
  format: (value) => formatUsd(value.toFixed(9)),
  formatAxis: formatUsdAxis,
  total: ({ charged_usd }) => formatUsd(charged_usd),
};

export const figures: readonly Figure[] = [
  spend,
  {
    ...count,
    name: "requests",
    label: "Requests",
    read: ({ requests }) => requests,
    total: ({ requests }) => formatCount(requests),
  },
  {
    ...count,
    name: "failures",
    label: "Errors",
    read: ({ failures }) => failures,
    total: ({ failures }) => formatCount(failures),
  },
  {
    ...count,
    name: "rejected",
    label: "Rejected",
    read: ({ rejected }) => rejected,
    total: ({ rejected }) => formatCount(rejected),
  },
  {
    ...count,
    name: "tokens",
    label: "Tokens",
    read: tokensOf,
    total: (sums) => formatCompact(tokensOf(sums)),
  },
  {
    ...time,
    name: "latency",
    label: "Latency, p95",
    read: ({ latency_p95_ms }) => latency_p95_ms,
    total: ({ latency_p95_ms }) => orDash(latency_p95_ms),
  },
  {
    ...time,
    name: "first-token",
    label: "First token, p95",
    read: ({ first_byte_p95_ms }) => first_byte_p95_ms,
    total: ({ first_byte_p95_ms }) => orDash(first_byte_p95_ms),
  },
];

export const figureNamed = (name: string | undefined): Figure =>
  figures.find((figure) => figure.name === name) ?? spend;

/** Providers with a shortfall in the last 24 hours, the largest first. */
export const largestShortfalls = (providers: readonly Pick<Provider, "name" | "last_24h">[]) =>
  providers
    .map(({ name, last_24h: day }) => ({ name, usd: day?.shortfall_usd ?? "0" }))
    .filter(({ usd }) => Number(usd) > 0)
    .toSorted((one, other) => Number(other.usd) - Number(one.usd));
