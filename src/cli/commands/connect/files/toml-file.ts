import { Problem } from "../../../../base/problem.ts";
import type { SettingValue } from "../tool.ts";
import type { Assignment, Path } from "./assignments.ts";

export function parseToml(text: string): unknown {
  try {
    return Bun.TOML.parse(text);
  } catch (cause) {
    // The message names what was expected, and no value: that may be a key.
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Problem({
      code: "invalid",
      message: message.replace(/^TOML Parse error: /, ""),
      cause,
    });
  }
}

/** Scalars first: what follows the head of a table belongs to it. */
export function renderToml(value: unknown): string {
  const lines = tableLines(value as Readonly<Record<string, SettingValue>>, []);
  return `${lines.join("\n").trim()}\n`;
}

function tableLines(
  table: Readonly<Record<string, SettingValue>>,
  path: readonly string[],
): readonly string[] {
  const own = Object.entries(table).filter(([, value]) => typeof value !== "object");
  const tables = Object.entries(table).filter(([, value]) => typeof value === "object");
  return [
    ...(own.length === 0 || path.length === 0 ? [] : ["", `[${path.map(toName).join(".")}]`]),
    ...own.map(([name, value]) => `${toName(name)} = ${JSON.stringify(value)}`),
    ...tables.flatMap(([name, value]) =>
      tableLines(value as Readonly<Record<string, SettingValue>>, [...path, name]),
    ),
  ];
}

/**
 * Edits the text line by line. An existing setting gets its new value, a new one is added at the end
 * of its table. Callers parse the result and compare it with the settings they asked for, because
 * unusual files, such as those with inline tables, cannot be edited this way.
 */
export function assignToml(text: string, assignments: readonly Assignment[]): string {
  const lines = text.trim() === "" ? [] : text.replace(/\n$/, "").split("\n");
  // Lines keep their CR; new ones have it where the first one does.
  const cr = lines[0]?.endsWith("\r") === true ? "\r" : "";
  for (const { path, value } of assignments) assign({ lines, cr, path, value });
  return `${lines.join("\n")}\n`;
}

function assign(options: {
  readonly lines: string[];
  readonly cr: string;
  readonly path: Path;
  readonly value: SettingValue;
}): void {
  const { lines, cr, path, value } = options;
  const names = path.map(String);
  const table = names.slice(0, -1);
  const name = names.at(-1) ?? "";
  const setting = `${toName(name)} = ${JSON.stringify(value)}`;
  const range = rangeOf(lines, table);
  if (range === undefined) {
    if (lines.length > 0) lines.push(cr);
    lines.push(`[${table.map(toName).join(".")}]${cr}`, setting + cr);
    return;
  }
  const { from, to } = range;
  const own = lines.slice(from, to);
  const at = own.findIndex((line) => nameIn(line) === name);
  if (at !== -1) {
    const [, key = "", comment = "", end = ""] = settingLine.exec(own[at] ?? "") ?? [];
    lines[from + at] =
      `${key === "" ? toName(name) : key} = ${JSON.stringify(value)}${comment}${end}`;
    return;
  }
  const last = own.findLastIndex((line) => line.trim() !== "");
  const isBeforeTable = last === -1 && to < lines.length;
  lines.splice(from + last + 1, 0, setting + cr, ...(isBeforeTable ? [cr] : []));
}

const key = String.raw`[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*'`;
const keyAtStart = new RegExp(String.raw`^\s*(${key})\s*=`);
/** A setting whose value is a text, a number or a word, with the comment behind it. */
const settingLine = new RegExp(
  String.raw`^\s*(${key})\s*=\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'#[{][^\s#]*)(\s*#[^\r]*)?\s*?(\r?)$`,
);

/** The name that a line gives a value to, without its quotes. */
function nameIn(line: string): string | undefined {
  const name = keyAtStart.exec(line)?.[1];
  return name === undefined || /^[\w-]/.test(name) ? name : namesIn(`${name} = 0`)?.[0];
}

/** The lines of a table, without its head; those before the first head have no name. */
function rangeOf(
  lines: readonly string[],
  table: readonly string[],
): { readonly from: number; readonly to: number } | undefined {
  const isHead = (line: string) => /^\s*\[/.test(line);
  const at = lines.findIndex((line) => isHead(line) && Bun.deepEquals(namesIn(line), table));
  if (table.length > 0 && at === -1) return undefined;
  const from = table.length === 0 ? 0 : at + 1;
  const next = lines.slice(from).findIndex(isHead);
  return { from, to: next === -1 ? lines.length : from + next };
}

/** The path that a line of its own leads to; undefined where it is part of something else. */
function namesIn(line: string): readonly string[] | undefined {
  const names: string[] = [];
  try {
    let value: unknown = Bun.TOML.parse(line.trim());
    while (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const [entry] = Object.entries(value);
      if (entry === undefined) return names;
      names.push(entry[0]);
      value = entry[1];
    }
    return Array.isArray(value) ? undefined : names;
  } catch {
    return undefined;
  }
}

const toName = (name: string) => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));
