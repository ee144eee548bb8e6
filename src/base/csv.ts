type Cell = string | number | boolean | null | readonly unknown[];

/** A line as RFC 4180 has it; a list is written as JSON. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(",")}\r\n`;
}

function cellText(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "object") return cellText(JSON.stringify(cell));
  if (typeof cell !== "string") return String(cell);
  // A spreadsheet would take these for a formula and run it.
  const harmless = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
