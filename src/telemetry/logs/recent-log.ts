import type { LogRecord } from "../../base/log.ts";

/** Some minutes of a bad day; about a megabyte at most. */
const mostRecords = 2_000;
const mostChars = 1024 * 1024;
/** Of one text of a record. */
const mostTextChars = 4_096;

export interface LogNews {
  readonly records: readonly LogRecord[];
  /** For the next question. */
  readonly after: number;
  /** Came and went since the last question. */
  readonly missed: number;
}

interface Kept {
  readonly record: LogRecord;
  readonly chars: number;
}

/** The latest lines of the log, in memory. */
export class RecentLog {
  /** Get every line that this process writes. */
  readonly watchers = new Set<(record: LogRecord) => void>();
  #kept: Kept[] = [];
  #chars = 0;
  #added = 0;

  readonly add = (given: LogRecord): void => {
    const record = this.#keep(given);
    for (const watch of this.watchers) watch(record);
  };

  /** Lines of another process, which sends them elsewhere itself. */
  addOthers(records: readonly LogRecord[]): void {
    for (const record of records) this.#keep(record);
  }

  since(after = 0): LogNews {
    // A number from before this process began: all is new.
    const seen = after <= this.#added ? after : 0;
    const count = Math.min(this.#added - seen, this.#kept.length);
    const records = this.#kept.slice(this.#kept.length - count).map(({ record }) => record);
    const missed = after === 0 ? 0 : this.#added - seen - count;
    return { records, after: this.#added, missed };
  }

  #keep(given: LogRecord): LogRecord {
    const record = bounded(given);
    const chars = charsOf(record);
    this.#kept.push({ record, chars });
    this.#chars += chars;
    this.#added++;
    while (this.#kept.length > mostRecords || this.#chars > mostChars)
      this.#chars -= this.#kept.shift()?.chars ?? 0;
    return record;
  }
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
