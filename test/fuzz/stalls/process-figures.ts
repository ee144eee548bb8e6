import { readFileSync, writeFileSync } from "node:fs";

/** What the kernel knows of a process, read from /proc; undefined where there is none. */

export interface ThreadTimes {
  readonly busyMs: number;
  /** Ready to run, while others had the processor. */
  readonly waitedMs: number;
}

/** The thread that runs the event loop has the id of its process. */
export const loopTimes = (pid: number) => readTimes(`/proc/${pid}/task/${pid}/schedstat`);

export const ownTimes = () => readTimes("/proc/thread-self/schedstat");

function readTimes(path: string): ThreadTimes | undefined {
  const [busyNs, waitedNs] = read(path)?.split(" ").map(Number) ?? [];
  if (busyNs === undefined || waitedNs === undefined) return undefined;
  return { busyMs: busyNs / 1e6, waitedMs: waitedNs / 1e6 };
}

const ticksPerSecond = 100;

/** Of all threads, the collector's included. */
export function processorSeconds(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // Behind the name, which may have spaces, user and system time are the 12th and 13th field.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields === undefined) return undefined;
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Since the process began, or since `forgetPeak`. */
export function peakBytes(pid: number): number | undefined {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? "")?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

export function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // Then the peak is that of the whole run so far.
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
