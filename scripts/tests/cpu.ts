/**
 * Preloaded into the processes that run test files: notes the CPU time of each file, that of its
 * threads and child processes included. Linux shows the children's; elsewhere only its own counts.
 */

import { afterAll, beforeAll } from "bun:test";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const report = process.env["TEST_CPU_FILE"];
const ticksPerSecond = 100;

interface ProcessTime {
  readonly parent: number;
  /** Of the process and of its children that have ended. */
  readonly ticks: number;
}

function readTime(pid: string): ProcessTime | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it may contain spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
    return { parent: Number(fields[1]), ticks };
  } catch {
    // It has ended meanwhile; its parent has its time.
    return undefined;
  }
}

/** Of this process and all of its descendants. */
function cpuSeconds(): number {
  if (process.platform !== "linux") {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  const times = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const time = readTime(name);
      return time === undefined ? [] : [{ pid: Number(name), ...time }];
    });
  const children = Map.groupBy(times, ({ parent }) => parent);
  const sum = (pid: number): number =>
    (children.get(pid) ?? []).reduce((total, child) => total + child.ticks + sum(child.pid), 0);
  return ((readTime("self")?.ticks ?? 0) + sum(process.pid)) / ticksPerSecond;
}

// What a file imports is loaded before its first hook runs, so it counts from the end of the last.
let before = 0;
let beganMs = Date.now();
beforeAll(() => {
  beganMs = Date.now();
});
afterAll(() => {
  const now = cpuSeconds();
  const file = relative(process.cwd(), Bun.main);
  const line = { file, cpuS: Number((now - before).toFixed(2)), wallMs: Date.now() - beganMs };
  if (report !== undefined) appendFileSync(report, `${JSON.stringify(line)}\n`);
  before = now;
});
