/** A table as spreadsheets open it. Money stays text: every digit there is. */
export function toCsvText(
  header: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return [header, ...rows].map((cells) => `${cells.map(toCell).join(",")}\r\n`).join("");
}

function toCell(value: string | number | null): string {
  const text = String(value ?? "");
  // A spreadsheet would take these for a formula and run it; figures below zero are none.
  const harmless = /^[=+@\t\r]|^-(?![\d.]+$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
