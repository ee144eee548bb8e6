import { latencyBoundsMs, noShortestMs, type TimeEnds } from "../../../ledger/reports.ts";
import type { Rollup, Sums } from "../../../ledger/rollups.ts";
import type { TotalGroup } from "../../../ledger/store.ts";
import type { SqlWords } from "./sql-reader.ts";

const counts = Array.from({ length: latencyBoundsMs.length + 1 }, (_, at) => at);
export const durationColumns = counts.map((at) => `duration_${at}` as const);
export const firstByteColumns = counts.map((at) => `first_byte_${at}` as const);

/** Not added up: the shorter and the longer one stays. In the order of `endValues`. */
export const endColumns = [
  "shortest_ms",
  "longest_ms",
  "shortest_first_byte_ms",
  "longest_first_byte_ms",
] as const;

/** In the order of `sumValues`. */
export const sumColumns = [
  "receipts",
  "failures",
  "input_tokens",
  "output_tokens",
  "cost",
  "charged",
  "vendor_cost",
  "vendor_known",
  "charged_known",
  ...endColumns,
  ...durationColumns,
  ...firstByteColumns,
] as const;

const money: readonly string[] = ["cost", "charged", "vendor_cost", "charged_known"];

export function sumValues(sums: Sums): (number | bigint)[] {
  return [
    sums.receipts,
    sums.failures,
    sums.inputTokens,
    sums.outputTokens,
    sums.cost,
    sums.charged,
    sums.vendorCost,
    sums.vendorKnown,
    sums.chargedKnown,
    ...endValues(sums),
    ...sums.durations,
    ...sums.firstBytes,
  ];
}

export const endValues = (ends: TimeEnds): readonly number[] => [
  ends.shortestMs,
  ends.longestMs,
  ends.shortestFirstByteMs,
  ends.longestFirstByteMs,
];

/** In the order of `endColumns`. */
export const toEnds = (values: readonly number[]): TimeEnds => ({
  shortestMs: values[0] ?? noShortestMs,
  longestMs: values[1] ?? 0,
  shortestFirstByteMs: values[2] ?? noShortestMs,
  longestFirstByteMs: values[3] ?? 0,
});

export function rollupValues(rollup: Rollup): (string | number | bigint)[] {
  const { hourMs, accountId, keyId, model, provider } = rollup;
  return [hourMs, accountId, keyId, model, provider, ...sumValues(rollup)];
}

type Merge = "sum" | "min" | "max";

function mergeOf(name: string): Merge {
  if (name.startsWith("shortest_")) return "min";
  return name.startsWith("longest_") ? "max" : "sum";
}

/** What rows come to together. */
export const mergedOf = (name: string) => `${mergeOf(name)}(${name})`;

/** Of rows that are added to what is there already. */
export function addInConflict(of: {
  readonly table: string;
  readonly keys: readonly string[];
  readonly words: SqlWords;
}): string {
  const { table, keys, words } = of;
  const merged = sumColumns.map((name) => {
    const [known, fresh] = [`${table}.${name}`, `excluded.${name}`];
    switch (mergeOf(name)) {
      case "sum":
        return `${name} = ${known} + ${fresh}`;
      case "min":
        return `${name} = ${words.smaller}(${known}, ${fresh})`;
      default:
        return `${name} = ${words.larger}(${known}, ${fresh})`;
    }
  });
  return `on conflict (${keys.join(", ")}) do update set ${merged.join(", ")}`;
}

export const rollupKeys = ["hour_ms", "account_id", "key_id", "model", "provider"] as const;
export const dayKeys = ["day_ms", "account_id", "key_id", "model", "provider"] as const;
export const totalKeys = ["grain", "kind", "start_ms", "name"] as const;

/** Which column of the sums by hour a total is of. */
export const totalColumn: Readonly<Record<TotalGroup, "model" | "account_id" | "key_id">> = {
  model: "model",
  account: "account_id",
  key: "key_id",
};

/** Money is read as text: a number would lose digits. */
export const readableSums = sumColumns
  .map((name) => (money.includes(name) ? `cast(${name} as text) as ${name}` : name))
  .join(", ");

/** The same of several rows that are one. */
export const mergedSums = sumColumns
  .map((name) =>
    money.includes(name)
      ? `cast(${mergedOf(name)} as text) as ${name}`
      : `${mergedOf(name)} as ${name}`,
  )
  .join(", ");

/** As `readableSums` gives it. */
export type SumsRow = Readonly<Record<(typeof sumColumns)[number], number | string>>;

export function toSums(row: SumsRow): Sums {
  return {
    receipts: Number(row.receipts),
    failures: Number(row.failures),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    cost: BigInt(row.cost),
    charged: BigInt(row.charged),
    vendorCost: BigInt(row.vendor_cost),
    vendorKnown: Number(row.vendor_known),
    chargedKnown: BigInt(row.charged_known),
    ...toEnds(endColumns.map((name) => Number(row[name]))),
    durations: durationColumns.map((name) => Number(row[name])),
    firstBytes: firstByteColumns.map((name) => Number(row[name])),
  };
}

/** An answer that came whole has no first byte of its own: it would repeat the duration. */
const streamedMs = "case when first_byte_ms < duration_ms then first_byte_ms end";

/** What receipts add up to, in the order of `sumColumns`. */
export const sumsOfReceipts = [
  "count(*) as receipts",
  "sum(case when outcome in ('ok', 'left') then 0 else 1 end) as failures",
  "sum(input + cached_input + cache_write) as input_tokens",
  "sum(output + audio_output) as output_tokens",
  "sum(cost) as cost",
  "sum(charged) as charged",
  "coalesce(sum(vendor_cost), 0) as vendor_cost",
  "count(vendor_cost) as vendor_known",
  "sum(case when vendor_cost is null then 0 else charged end) as charged_known",
  "min(duration_ms) as shortest_ms",
  "max(duration_ms) as longest_ms",
  `coalesce(min(${streamedMs}), ${noShortestMs}) as shortest_first_byte_ms`,
  `coalesce(max(${streamedMs}), 0) as longest_first_byte_ms`,
  ...durationColumns.map((name, at) => `${countOf({ column: "duration_ms", at })} as ${name}`),
  ...firstByteColumns.map(
    (name, at) =>
      `${countOf({ column: "first_byte_ms", at, when: "first_byte_ms < duration_ms" })} as ${name}`,
  ),
].join(", ");

function countOf(of: {
  readonly column: string;
  readonly at: number;
  readonly when?: string;
}): string {
  const { column, at, when = "true" } = of;
  const above = at === 0 ? "" : ` and ${column} > ${latencyBoundsMs[at - 1]}`;
  const end = latencyBoundsMs[at];
  const upTo = end === undefined ? "" : ` and ${column} <= ${end}`;
  return `sum(case when ${when}${above}${upTo} then 1 else 0 end)`;
}

/** When the step of time began that a receipt is of. */
export const startOf = (stepMs: number, { idTime }: SqlWords) =>
  `(${idTime}) / ${stepMs} * ${stepMs}`;
