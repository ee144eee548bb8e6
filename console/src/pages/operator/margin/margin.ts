import { csvText } from "../../../../../src/base/text/csv.ts";
import type { Reply } from "../../../api.ts";
import { formatCount } from "../../../format/figures.ts";

export type Margin = Reply<"GET /api/margin">;
export type MarginRow = Margin["total"];
export type Group = "model" | "account" | "provider";

export const groups: readonly { readonly value: Group; readonly label: string }[] = [
  { value: "model", label: "Model" },
  { value: "account", label: "Account" },
  { value: "provider", label: "Provider" },
];

export const toGroup = (text: string | undefined): Group =>
  groups.find(({ value }) => value === text)?.value ?? "model";

const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1 });

/** `-80150.0` is `−80,150.0%`. */
export const percentWords = (percent: string) =>
  `${tenths.format(Number(percent)).replace("-", "−")}%`;

/** For how many requests the vendor cost is known. */
export function costWords({
  receipts,
  known_cost: known,
  unknown_cost: unknown,
}: Pick<MarginRow, "receipts" | "known_cost" | "unknown_cost">): string {
  const all = receipts === 1 ? "the only request" : `all ${formatCount(receipts)} requests`;
  if (unknown === 0) return `Known for ${all}`;
  if (known === 0) return `Unknown for ${all}`;
  return `Unknown for ${formatCount(unknown)} of ${formatCount(receipts)} requests`;
}

const csvColumns = [
  "name",
  "receipts",
  "charged_usd",
  "vendor_cost_usd",
  "margin_usd",
  "margin_percent",
  "charged_known_usd",
  "known_cost",
  "unknown_cost",
  "shortfall_usd",
] as const satisfies readonly (keyof MarginRow)[];

/** The rows as they are on the page, the total last, each with the time that the sums reach. */
export function marginCsv({
  rows,
  total,
  as_of: asOf,
}: Pick<Margin, "rows" | "total" | "as_of">): string {
  return csvText([
    [...csvColumns, "as_of"],
    ...[...rows, total].map((row) => [...csvColumns.map((name) => row[name]), asOf]),
  ]);
}
