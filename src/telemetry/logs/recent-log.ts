import type { LogRecord } from "../../base/log.ts";

/** Some minutes of a bad day; about a megabyte at most. */
const mostRecords = 2_000;
const mostChars = 1024 * 1024;
/** Of one text of a record. */
const mostTextChars = 4_096;

/** The latest lines of the log, in memory; whoever wants new ones watches. */
export class RecentLog {
  readonly watchers = new Set<(record: LogRecord) => void>();
  #kept: { readonly record: LogRecord; readonly chars: number }[] = [];
  #chars = 0;

  get records(): readonly LogRecord[] {
    return this.#kept.map(({ record }) => record);
  }

  readonly add = (given: LogRecord): void => {
    const record = bounded(given);
    const chars = charsOf(record);
    this.#kept.push({ record, chars });
    this.#chars += chars;
    while (this.#kept.length > mostRecords || this.#chars > mostChars) {
      const oldest = this.#kept.shift();
      if (oldest === undefined) break;
      this.#chars -= oldest.chars;
    }
    for (const watch of this.watchers) watch(record);
  };
}

function bounded(record: LogRecord): LogRecord {
  const isLong = (value: unknown) => typeof value === "string" && value.length > mostTextChars;
  const { message, fields } = record;
  if (!isLong(message) && !Object.values(fields).some(isLong)) return record;
  const cut = <T>(value: T) =>
    typeof value === "string" && isLong(value) ? `${value.slice(0, mostTextChars)}…` : value;
  const entries = Object.entries(fields).map(([name, value]) => [name, cut(value)]);
  return { ...record, message: cut(message), fields: Object.fromEntries(entries) };
}

function charsOf({ message, fields }: LogRecord): number {
  let chars = 100 + message.length;
  for (const name in fields) chars += name.length + String(fields[name]).length;
  return chars;
}
