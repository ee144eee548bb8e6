import { defined } from "../../base/defined.ts";
import type { MarginRow } from "../../platform/reports/schemas.ts";
import { type Command, viewCommand } from "../command.ts";
import { print, printHint, printTable, style } from "../terminal/output.ts";
import { alignUsd, printBehind } from "./money-text.ts";

const reportMargin = viewCommand({
  name: "report margin",
  about: "Compare what callers paid with what vendors charge. Default: this month.",
  flags: {
    by: {
      about: "model, account or provider (default: model)",
      value: "WHAT",
      choices: ["model", "account", "provider"],
    },
    from: { about: "first day (UTC)", value: "DATE" },
    to: { about: "last day (UTC), inclusive", value: "DATE" },
  },
  examples: [
    "svc report margin",
    "svc report margin --by account --from 2027-01-01 --to 2027-01-31",
    "svc report margin --by provider --json",
  ],
  load: (operations, { flags: { by, from, to } }) =>
    operations.reports.margin(defined({ by, from, to })),
  show(report) {
    print(style.dim(`${report.from} to ${report.to}, in USD`));
    printBehind(report);
    if (report.rows.length === 0) return print("No receipts in this period.");
    printMargin(report.by, [...report.rows, report.total]);
    if (report.total.unknown_cost > 0)
      printHint(
        `\n${style.yellow("!")} The vendor cost is unknown for ${count(report.total.unknown_cost)} of ${count(report.total.receipts)} receipts. The margin leaves them out.\n  svc price import sets costs for routes without one.`,
      );
  },
});

const count = (value: number) => value.toLocaleString("en");

export const reportCommands: readonly Command[] = [reportMargin];

function printMargin(by: string, rows: readonly MarginRow[]): void {
  const column = (pick: (row: MarginRow) => string | null) =>
    alignUsd(rows.map((row) => pick(row) ?? "unknown"));
  const charged = column(({ charged_usd }) => charged_usd);
  const cost = column(({ vendor_cost_usd }) => vendor_cost_usd);
  const margin = column(({ margin_usd }) => margin_usd);
  const shortfall = column(({ shortfall_usd }) => shortfall_usd);
  printTable(
    [by, "receipts", "charged", "vendor cost", "margin", "%", "cost unknown", "shortfall"],
    rows.map((row, at) => [
      row.name,
      count(row.receipts),
      charged[at] ?? null,
      cost[at] ?? null,
      margin[at] ?? null,
      row.margin_percent,
      count(row.unknown_cost),
      shortfall[at] ?? null,
    ]),
  );
}
