import { withoutPasswords } from "../../base/text/passwords.ts";
import { wantsColour } from "../../config/terminal.ts";
import { asTyped } from "./own-command.ts";

const colour = wantsColour(process.stdout);
const paint = (code: number) => (text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);
/** Our own colors, and every control character except line feed and tab. */
const colours = colour ? "\x1b\\[(?:0|1|3[1236]|90)m" : "(?!)";
const controls = new RegExp(`(${colours})|[^\\P{Cc}\\n\\t]`, "gu");

/** Names and texts from others must not control the reader's terminal. */
const harmless = (text: string) => text.replaceAll(controls, "$1");

export const style = {
  bold: paint(1),
  dim: paint(90),
  red: paint(31),
  green: paint(32),
  yellow: paint(33),
  cyan: paint(36),
};

export function print(text = ""): void {
  process.stdout.write(`${harmless(text)}\n`);
}

/** Beside an output that can be redirected. */
export function printAside(text: string): void {
  process.stderr.write(`${harmless(text)}\n`);
}

/** Rewrites the commands in the text so that they work in the current folder. */
export const printHint = (text: string): void => print(asTyped(text));

export function printJson(value: unknown): void {
  print(escaped(JSON.stringify(value, null, 2)));
}

/** On one line each, for a reader that does not wait for the end. */
export function printJsonLine(value: unknown): void {
  print(escaped(JSON.stringify(value)));
}

/** On one line: progress and the log may be around it. */
export function printJsonError(value: unknown): void {
  process.stderr.write(`${escaped(withoutSecrets(JSON.stringify(value)))}\n`);
}

/** JSON escapes controls below the space, and not those above: so it stays exact. */
function escaped(json: string): string {
  return json.replaceAll(
    /[^\P{Cc}\n]/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * A key typed in place of a name, or a password in an address, must not reach a log by way of an
 * error message.
 */
export function withoutSecrets(text: string): string {
  return withoutPasswords(text).replaceAll(
    /\b((?:sk|gsk|xai|pk|hf|svc-token)[-_]|AIza)[\w-]{8,}/g,
    "$1…",
  );
}

/** Hints stand below the message, one per line, dimmed. */
export function printError(text: string, hints: readonly string[] = []): void {
  const isColored = wantsColour(process.stderr);
  const mark = isColored ? "\x1b[31merror:\x1b[0m" : "error:";
  const lines = hints
    .map((line) => harmless(withoutSecrets(asTyped(line))))
    .map((line) => (isColored ? `\x1b[90m${line}\x1b[0m\n` : `${line}\n`));
  process.stderr.write(`${mark} ${harmless(withoutSecrets(asTyped(text)))}\n${lines.join("")}`);
}

/** Columns under dim headings; cells may be null. */
export function printTable(
  headings: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): void {
  const cells = rows.map((row) => row.map((cell) => (cell === null ? "–" : toCell(cell))));
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

/** On one line, and as wide as it looks. */
function toCell(value: string | number): string {
  return harmless(String(value)).replaceAll(/[\n\t]/g, " ");
}
