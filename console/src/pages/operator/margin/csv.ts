import type { MarginRow } from "./margin.ts";

const columns = [
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
export function toCsv(rows: readonly MarginRow[], total: MarginRow): string {
  const lines = [...rows, total].map((row) => columns.map((name) => cell(row[name])).join(","));
  return `${[columns.join(","), ...lines].join("\r\n")}\r\n`;
}

function cell(value: string | number | null): string {
  const text = String(value ?? "");
  // A spreadsheet would take these for a formula; figures below zero are none.
  const plain = /^[=+@\t\r]|^-(?![\d.]+$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
