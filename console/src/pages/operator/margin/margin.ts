import { csvText } from "../../../../../src/base/text/csv.ts";
import type { Reply } from "../../../api.ts";

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

const csvColumns = [
  "name",
  "receipts",
  "charged_usd",
  "vendor_cost_usd",
  "margin_usd",
  "margin_percent",
  "unknown_cost",
  "shortfall_usd",
] as const satisfies readonly (keyof MarginRow)[];

/** The rows as they are on the page, the total last. */
export function marginCsv(rows: readonly MarginRow[], total: MarginRow): string {
  return csvText([
    csvColumns,
    ...[...rows, total].map((row) => csvColumns.map((name) => row[name])),
  ]);
}
