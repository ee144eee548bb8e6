import { createLog, type Log, type LogOptions } from "../base/log.ts";
import type { Settings } from "../config/settings.ts";
import { wantsColour } from "../config/terminal.ts";
import { RecentLog } from "../telemetry/logs/recent-log.ts";

/** The log of a process that serves, and its latest lines. */
export interface ServerLog {
  readonly log: Log;
  readonly recent: RecentLog;
}

export function openLog(
  { logLevel: level }: Pick<Settings, "logLevel">,
  options: Pick<LogOptions, "write" | "fields">,
): ServerLog {
  const recent = new RecentLog();
  const pretty = wantsColour(process.stderr);
  return { log: createLog({ ...options, level, pretty, onRecord: recent.add }), recent };
}
