/** CPU time and memory of a process and all processes that it started. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

export type Weight = {
  /** Since the start: user and kernel time of all threads, ended children included. */
  readonly cpuMs: number;
  readonly kernelMs: number;
  readonly rssBytes: number;
  /** Since the start or the last `resetPeak`. Where the kernel does not report it, the current RSS. */
  readonly peakRssBytes: number;
};

export function weigh(pid: number): Weight {
  const weight = process.platform === "linux" ? weighFromProc(pid) : weighFromPs(pid);
  if (Object.values(weight).every(Number.isFinite)) return weight;
  throw new Error(`cannot read CPU time and memory of process ${pid}`);
}

/** The peak counts from now on. Only Linux can do that. */
export function resetPeak(pid: number): void {
  if (process.platform !== "linux") return;
  for (const one of processTree(pid)) {
    try {
      writeFileSync(`/proc/${one}/clear_refs`, "5");
    } catch {
      // It has ended, or the kernel lacks the file: the peak then counts from the start.
    }
  }
}

/** The kernel counts in ticks of 10 ms for readers, on every architecture that Bun runs on. */
const tickMs = 10;
/** More than any server has, so that a loop in what the kernel reports ends. */
const maxProcesses = 1_000;

/** The process first. Where the kernel has no lists of children, the process alone. */
export function processTree(pid: number): readonly number[] {
  const found = [pid];
  for (let at = 0; at < found.length && at < maxProcesses; at++)
    found.push(...childrenOf(found[at] ?? pid));
  return found;
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1")
        .split(" ")
        .filter(Boolean)
        .map(Number),
    );
  } catch {
    // It has ended, or there is no such list here.
    return [];
  }
}

function weighFromProc(pid: number): Weight {
  const parts = processTree(pid).flatMap((one) => {
    try {
      return [weighOne(one)];
    } catch (error) {
      if (one === pid) throw error;
      return [];
    }
  });
  const sum = (name: keyof Weight) => parts.reduce((total, part) => total + part[name], 0);
  return {
    cpuMs: sum("cpuMs"),
    kernelMs: sum("kernelMs"),
    rssBytes: sum("rssBytes"),
    peakRssBytes: sum("peakRssBytes"),
  };
}

function weighOne(pid: number): Weight {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name in parentheses may hold spaces; what follows it starts with field 3, the state.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = (field: number) => Number(fields[field - 3]);
  // Fields 14 and 15 are its own user and kernel time, 16 and 17 those of its ended children.
  const kernelMs = (ticks(15) + ticks(17)) * tickMs;
  const cpuMs = kernelMs + (ticks(14) + ticks(16)) * tickMs;
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  // A child that ended and was not waited for has no memory.
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(status)?.[1] ?? 0) * 1024;
  return { cpuMs, kernelMs, rssBytes: bytes("VmRSS"), peakRssBytes: bytes("VmHWM") };
}

function weighFromPs(pid: number): Weight {
  const { stdout } = Bun.spawnSync(["ps", "-o", "time=,rss=", "-p", String(pid)]);
  const [time = "", rssKib = ""] = stdout.toString().trim().split(/\s+/);
  const rssBytes = Number(rssKib) * 1024;
  return { cpuMs: fromPsTime(time), kernelMs: 0, rssBytes, peakRssBytes: rssBytes };
}

/** `[[days-]hours:]minutes:seconds[.hundredths]`: Linux and macOS write different parts of it. */
export function fromPsTime(time: string): number {
  const [clock = "", days = "0"] = time.split("-").toReversed();
  const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round((Number(days) * 86_400 + seconds) * 1000);
}
