import type { LogRecord } from "../../base/log.ts";
import type { RecentLog } from "../../telemetry/logs/recent-log.ts";
import type { ChannelProcess } from "./channel.ts";

const everyMs = 200;
/** In one message. */
const mostRecords = 200;

/** Passes a worker's lines to its supervisor, which answers for `svc logs`. stderr has all of them. */
export function sendLog(process: ChannelProcess, recent: RecentLog): { flush(): void } {
  let records: LogRecord[] = [];
  let missing = 0;
  const flush = () => {
    if (records.length === 0) return;
    if (missing > 0) records.push(noteOf(missing, records.at(-1)));
    process.send?.({ type: "log", records });
    records = [];
    missing = 0;
  };
  recent.watchers.add((record) => {
    if (records.length < mostRecords) records.push(record);
    else missing++;
  });
  setInterval(flush, everyMs).unref();
  return { flush };
}

function noteOf(lines: number, last: LogRecord | undefined): LogRecord {
  return {
    atMs: last?.atMs ?? Date.now(),
    level: "warn",
    message: "further lines of this worker are only on stderr",
    fields: { worker: last?.fields["worker"] ?? null, lines },
  };
}
