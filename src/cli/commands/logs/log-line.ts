import { type LineLevel, logLevels } from "../../../base/log.ts";

/** A line of a log: one of ours, or something else that was written between ours. */
export type LogLine =
  | {
      readonly kind: "record";
      readonly atMs: number;
      readonly level: LineLevel;
      readonly message: string;
      readonly fields: Readonly<Record<string, string | number | boolean | null>>;
    }
  | { readonly kind: "text"; readonly text: string };

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads a line of JSON. Journals and containers put a prefix in front of it, or make it a text in a
 * JSON object of their own: `MESSAGE` in journald, `log` in Docker.
 */
export function readLogLine(line: string): LogLine {
  return readRecord(line, 2) ?? { kind: "text", text: line };
}

function readRecord(line: string, depth: number): LogLine | undefined {
  const start = line.indexOf("{");
  const json = start === -1 ? undefined : parsed(line.slice(start));
  if (json === undefined) return undefined;
  const record = toLogLine(json);
  if (record !== undefined || depth === 0) return record;
  const inner = [json["MESSAGE"], json["log"]].find((value) => typeof value === "string");
  return typeof inner === "string" ? readRecord(inner, depth - 1) : undefined;
}

function parsed(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Json)
      : undefined;
  } catch {
    return undefined;
  }
}

const levels = logLevels.filter((level): level is LineLevel => level !== "silent");

/** Also of what the server sends: it may be of another version. */
export function toLogLine({ time, level, message, ...rest }: Json): LogLine | undefined {
  const atMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
  const known = levels.find((one) => one === level);
  if (Number.isNaN(atMs) || known === undefined || typeof message !== "string") return undefined;
  const fields = Object.entries(rest).map(([name, value]) => [name, toField(value)]);
  return { kind: "record", atMs, level: known, message, fields: Object.fromEntries(fields) };
}

function toField(value: unknown): string | number | boolean | null {
  if (value === null || typeof value === "number" || typeof value === "boolean") return value;
  return typeof value === "string" ? value : JSON.stringify(value);
}
