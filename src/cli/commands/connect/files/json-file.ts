import type { SettingValue } from "../tool.ts";
import type { Assignment, Path } from "./assignments.ts";
import { type JsonNode, parseJsonText } from "./json-text.ts";

export const parseJson = (text: string): unknown =>
  text.trim() === "" ? {} : parseJsonText(text).value;

export const renderJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Changes only what is set: comments, order and spaces of the rest stay. */
export function assignJson(text: string, assignments: readonly Assignment[]): string {
  const whole = text.trim() === "" ? "{}\n" : text;
  return assignments.reduce((now, { path, value }) => assign(now, path, value), whole);
}

function assign(text: string, path: Path, value: SettingValue): string {
  let node = parseJsonText(text);
  for (const [at, step] of path.entries()) {
    if (node.value === null) return replace(text, node, nested(path, at - 1, value));
    const next = typeof step === "number" ? node.items?.[step] : node.members?.get(step);
    if (next === undefined) return insert({ text, node, step, value: nested(path, at, value) });
    node = next;
  }
  return replace(text, node, value);
}

function replace(text: string, { start, end }: JsonNode, value: SettingValue): string {
  return text.slice(0, start) + stringify(text, value, indentAt(text, start)) + text.slice(end);
}

/** The value with the objects around it that are not there yet. */
function nested(path: Path, at: number, value: SettingValue): SettingValue {
  return path
    .slice(at + 1)
    .reduceRight<SettingValue>((inner, name) => ({ [String(name)]: inner }), value);
}

function insert(options: {
  readonly text: string;
  readonly node: JsonNode;
  readonly step: string | number;
  readonly value: SettingValue;
}): string {
  const { text, node, step, value } = options;
  const { start, end, last } = node;
  const outer = indentAt(text, start);
  const indent = outer + unitOf(text);
  const name = typeof step === "number" ? "" : `${JSON.stringify(step)}: `;
  const element = name + stringify(text, value, indent);
  if (last === undefined) {
    // Comments may be all that is in it.
    const inside = text.slice(start + 1, end - 1).trimEnd();
    return `${text.slice(0, start + 1)}${inside}\n${indent}${element}\n${outer}${text.slice(end - 1)}`;
  }
  const comma = last.hasComma ? "" : ",";
  const isOnOneLine = !text.slice(start, end).includes("\n");
  if (isOnOneLine) return `${text.slice(0, last.end)}${comma} ${element}${text.slice(last.end)}`;
  // A comment behind the last element stays on its line.
  const rest = /^[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*?\*\/[ \t]*)?(?=\r?\n)/.exec(text.slice(last.end));
  const comment = rest?.[0] ?? "";
  const after = text.slice(last.end + comment.length);
  const trailing = last.hasComma ? "," : "";
  return `${text.slice(0, last.end)}${comma}${comment}\n${indent}${element}${trailing}${after}`;
}

const stringify = (text: string, value: SettingValue, indent: string) =>
  JSON.stringify(value, null, unitOf(text)).replaceAll("\n", `\n${indent}`);

/** The spaces that the line of a place begins with. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** One step of indentation, as the file has it. */
const unitOf = (text: string) => /^(?:\t| {1,8})(?=["/])/m.exec(text)?.[0] ?? "  ";
