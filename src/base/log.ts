export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
type LineLevel = Exclude<LogLevel, "silent">;
type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export type Log = Readonly<Record<LineLevel, (message: string, fields?: Fields) => void>>;

export interface LogOptions {
  readonly level: LogLevel;
  /** Coloured words for a terminal, else one JSON object a line. */
  readonly pretty: boolean;
  readonly write: (line: string) => void;
  /** On every line, such as the name of one process among several. */
  readonly fields?: Fields;
}

const colours: Readonly<Record<LineLevel, number>> = { debug: 90, info: 36, warn: 33, error: 31 };

/** There is no line for a success: what succeeded is in the receipts, not in the log. */
export function createLog({ level, pretty, write, fields: shared = {} }: LogOptions): Log {
  const line = (at: LineLevel) => {
    if (logLevels.indexOf(at) < logLevels.indexOf(level)) return () => {};
    return (message: string, fields: Fields = {}) => {
      const time = new Date().toISOString();
      if (!pretty)
        return write(`${JSON.stringify({ time, level: at, message, ...shared, ...fields })}\n`);
      const rest = Object.entries({ ...shared, ...fields })
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => ` \x1b[90m${name}=\x1b[0m${value}`)
        .join("");
      return write(
        `\x1b[90m${time.slice(11, 19)}\x1b[0m \x1b[${colours[at]}m${at}\x1b[0m ${message}${rest}\n`,
      );
    };
  };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}
