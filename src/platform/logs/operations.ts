import type { LineLevel, LogRecord } from "../../base/log.ts";
import { Problem } from "../../base/problem.ts";
import type { Audits, Unbound } from "../audit/author.ts";

/** A line of the log, as its JSON on stderr has it. */
export type LogLineView = Readonly<Record<string, string | number | boolean | null>> & {
  readonly time: string;
  readonly level: LineLevel;
  readonly message: string;
};

export interface LogNewsView {
  /** Oldest first. */
  readonly lines: readonly LogLineView[];
  /** For the next question. */
  readonly after: number;
  /** Lines that were dropped because too many came at once. */
  readonly missed: number;
}

export interface LogOperations {
  /** The lines since the last question, or all that are still in memory. Needs a running server. */
  read(input: { after?: number }): Promise<LogNewsView>;
}

export const logAudits = { read: null } satisfies Audits<LogOperations>;

/** The latest lines of the running server. */
export interface LogReader {
  since(after: number | undefined): {
    readonly records: readonly LogRecord[];
    readonly after: number;
    readonly missed: number;
  };
}

export interface LogDependencies {
  /** Absent when a command has opened the store itself. */
  readonly recentLog?: LogReader | undefined;
}

export function logOperations({
  recentLog,
}: LogDependencies): Unbound<LogOperations, typeof logAudits> {
  return {
    async read({ after }) {
      if (recentLog === undefined)
        throw new Problem({
          code: "failed",
          message:
            "No server is running on this data directory, so there is no log in memory. What the last one wrote to stderr is with your service manager: journalctl -u svc-gateway -o cat | svc logs -",
          command: "serve",
        });
      const { records, ...news } = recentLog.since(after);
      return { ...news, lines: records.map(toLine) };
    },
  };
}

function toLine({ atMs, level, message, fields }: LogRecord): LogLineView {
  return { time: new Date(atMs).toISOString(), level, message, ...fields };
}
