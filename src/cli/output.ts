import { wantsColour } from "../config/terminal.ts";

const colour = wantsColour(process.stdout);
const paint = (code: number) => (text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);

export const style = {
  bold: paint(1),
  dim: paint(90),
  red: paint(31),
  green: paint(32),
  yellow: paint(33),
  cyan: paint(36),
};

export function print(text = ""): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

export function printError(text: string): void {
  const mark = wantsColour(process.stderr) ? "\x1b[31merror:\x1b[0m" : "error:";
  process.stderr.write(`${mark} ${text}\n`);
}

/** Columns under dim headings; cells may be null. */
export function printTable(
  headings: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): void {
  const cells = rows.map((row) => row.map((cell) => (cell === null ? "–" : String(cell))));
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, ...cells.map((row) => Bun.stringWidth(row[at] ?? ""))),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell + " ".repeat(Math.max(0, (widths[at] ?? 0) - Bun.stringWidth(cell))))
      .join("  ")
      .trimEnd();
  print(style.dim(line(headings)));
  for (const row of cells) print(line(row));
}
