import { visible } from "./text/visible-text.ts";

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
export type LineLevel = Exclude<LogLevel, "silent">;
type Field = string | number | boolean | null;
type Fields = Readonly<Record<string, Field | undefined>>;

export type Log = Readonly<Record<LineLevel, (message: string, fields?: Fields) => void>>;

/** A line of the log as a value. */
export interface LogRecord {
  readonly atMs: number;
  readonly level: LineLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, Field>>;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Colored words for a terminal, else one JSON object per line. */
  readonly pretty: boolean;
  readonly write: (line: string) => void;
  /** On every line, such as the name of one process among several. */
  readonly fields?: Fields;
  /** Gets every line as a value, too. */
  readonly onRecord?: ((record: LogRecord) => void) | undefined;
}

const colors: Readonly<Record<LineLevel, number>> = { debug: 90, info: 36, warn: 33, error: 31 };

/** There is no line for a success: what succeeded is in the receipts, not in the log. */
export function createLog(options: LogOptions): Log {
  const { level, pretty, write, fields: shared = {}, onRecord } = options;
  const line = (at: LineLevel) => {
    if (logLevels.indexOf(at) < logLevels.indexOf(level)) return () => {};
    return (message: string, fields: Fields = {}) => {
      const record = {
        atMs: Date.now(),
        level: at,
        message,
        fields: known({ ...shared, ...fields }),
      };
      const time = new Date(record.atMs).toISOString();
      write(
        pretty
          ? `${toReadable(record, { time: time.slice(11, 19), isColored: true })}\n`
          : `${JSON.stringify({ time, level: at, message, ...record.fields })}\n`,
      );
      onRecord?.(record);
    };
  };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

function known(fields: Fields): LogRecord["fields"] {
  const kept: Record<string, Field> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** One line for people. What others wrote cannot control their terminal. */
export function toReadable(
  { level, message, fields }: Omit<LogRecord, "atMs">,
  { time, isColored }: { readonly time: string; readonly isColored: boolean },
): string {
  const paint = (code: number, text: string) => (isColored ? `\x1b[${code}m${text}\x1b[0m` : text);
  const rest = Object.entries(fields)
    .map(([name, value]) => ` ${paint(90, `${visible(name)}=`)}${visible(String(value))}`)
    .join("");
  return `${paint(90, time)} ${paint(colors[level], level)} ${visible(message)}${rest}`;
}
