import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import type { Settings } from "../../config/settings.ts";
import { type Checks, gibibyte, sizeText } from "./checks.ts";

const leastMemory = gibibyte / 2;
const memoryWithEngine = 2 * gibibyte;
/** The limit in docs/deploy and the systemd unit. A call needs two files: a connection on each side. */
const wantedFiles = 65_536;

/** `serverPid`: the server that runs on the data directory; undefined where none is known. */
export function checkMachine(
  checks: Checks,
  settings: Settings | undefined,
  serverPid: number | undefined,
): void {
  checks.ok(`Bun ${Bun.version} on ${process.platform} ${process.arch}`);
  checkMemory(checks, settings);
  checkCores(checks, settings);
  checkOpenFiles(checks, serverPid);
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

/** Checks the limit of the running server: a shell often has a lower limit than a service. */
function checkOpenFiles(checks: Checks, serverPid: number | undefined): void {
  const ofServer = serverPid === undefined ? undefined : openFilesOf(serverPid);
  const count = ofServer ?? openFilesOf("self");
  if (count === undefined) return;
  const who = ofServer === undefined ? "A process of this shell" : "The running server";
  const finding = `${who} may open ${Number.isFinite(count) ? count : "any number of"} files`;
  if (count >= wantedFiles) return checks.ok(finding);
  checks.warning(
    `${finding}, enough for about ${Math.floor(count / 2)} calls at once.`,
    `For production, raise the limit to ${wantedFiles} and restart: LimitNOFILE=${wantedFiles} in a systemd unit, --ulimit nofile=${wantedFiles} for a container, ulimit -n ${wantedFiles} in a shell.`,
  );
}

function openFilesOf(process: number | "self"): number | undefined {
  const limits = readText(`/proc/${process}/limits`) ?? "";
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? [];
  if (soft === undefined) return undefined;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
