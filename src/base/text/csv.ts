export type CsvCell = string | number | boolean | null | readonly unknown[];

/** Rows as RFC 4180 has them, the header among them. */
export function csvText(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map(csvLine).join("");
}

/** A list is written as JSON. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(",")}\r\n`;
}

function cellText(cell: CsvCell): string {
  if (cell === null) return "";
  if (typeof cell === "object") return cellText(JSON.stringify(cell));
  if (typeof cell !== "string") return String(cell);
  // A spreadsheet would take these for a formula and run it. A figure below zero is not one.
  const isFormula = /^[=+\-@\t\r]/.test(cell) && !/^-\d+(\.\d+)?$/.test(cell);
  const harmless = isFormula ? `'${cell}` : cell;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
