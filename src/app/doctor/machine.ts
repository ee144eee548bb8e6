import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import type { Settings } from "../../config/settings.ts";
import { type Checks, gibibyte, sizeText } from "./checks.ts";

const leastMemory = gibibyte / 2;
const memoryWithEngine = 2 * gibibyte;
/** A call needs two connections: the caller's and the upstream's. */
const fewFiles = 4_096;

export function checkMachine(checks: Checks, settings: Settings | undefined): void {
  checks.ok(`Bun ${Bun.version} on ${process.platform} ${process.arch}`);
  checkMemory(checks, settings);
  checkCores(checks, settings);
  checkOpenFiles(checks);
}

function checkMemory(checks: Checks, settings: Settings | undefined): void {
  const bytes = memoryBytes();
  const finding = `${sizeText(bytes)} of memory`;
  if (bytes < leastMemory)
    return checks.problem(
      `Only ${finding}.`,
      `Give it at least ${sizeText(leastMemory)}, or lower SVC_MAX_BODIES_MB.`,
    );
  if (settings?.engine === "on" && bytes < memoryWithEngine)
    return checks.warning(
      `${finding}, which is little for the embedded models.`,
      "Set SVC_ENGINE=off unless you use them.",
    );
  const bodies = (settings?.maxBodiesMb ?? 0) * 1024 * 1024;
  if (bodies > bytes / 2)
    return checks.warning(
      `${finding}, of which request bodies may take ${sizeText(bodies)}.`,
      "Lower SVC_MAX_BODIES_MB to less than half of the memory.",
    );
  checks.ok(finding);
}

/** Of the machine, or of the container where that has less. */
function memoryBytes(): number {
  const limit = Number(readText("/sys/fs/cgroup/memory.max"));
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

function checkCores(checks: Checks, settings: Settings | undefined): void {
  const cores = availableParallelism();
  const workers = settings?.workers ?? 1;
  const finding = `${cores} ${cores === 1 ? "core" : "cores"}`;
  if (workers > cores)
    checks.warning(
      `${finding} for ${workers} workers.`,
      "Set SVC_WORKERS=auto for one worker per core.",
    );
  else checks.ok(finding);
}

function checkOpenFiles(checks: Checks): void {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readText("/proc/self/limits") ?? "") ?? [];
  if (soft === undefined) return;
  const count = Number(soft);
  if (count < fewFiles)
    checks.warning(
      `${count} open files are allowed, enough for about ${Math.floor(count / 2)} calls at once.`,
      "Raise the limit: ulimit -n 65536 in a shell, LimitNOFILE=65536 in a systemd unit.",
    );
  else checks.ok(`${count} open files allowed`);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
