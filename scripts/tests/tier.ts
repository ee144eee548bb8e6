/** Runs test files, shows the CPU time of their areas, and compares it with the tier's budget. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkBudget, measureReference } from "./budget.ts";
import { root } from "./checkout.ts";
import type { Choice } from "./choose.ts";
import { type Failure, readReport } from "./report.ts";
import { areaOf, filesOfTier, type TierName, testWords, tiers } from "./tiers.ts";

export interface TierResult {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
  readonly isGreen: boolean;
  readonly isBudgetKept: boolean;
}

interface FileTime {
  readonly file: string;
  readonly cpuS: number;
}

/** With `isBuffered`, the output comes whole, at the end: another tier may run at the same time. */
export async function runTier(
  name: TierName,
  { files, flags }: Choice = { flags: [] },
  { isBuffered = false }: { readonly isBuffered?: boolean } = {},
): Promise<TierResult> {
  const isWhole = files === undefined && flags.length === 0;
  const chosen = files ?? filesOfTier(name);
  if (chosen.length === 0)
    return { name, passed: 0, failed: 0, failures: [], isGreen: true, isBudgetKept: true };
  const folder = mkdtempSync(join(tmpdir(), "svc-test-"));
  const report = join(folder, "junit.xml");
  const cpuFile = join(folder, "cpu.jsonl");
  const words = testWords({
    files: chosen,
    workers: Math.min(tiers[name].workers, chosen.length),
    more: [
      `--preload=${join(root, "scripts", "tests", "cpu.ts")}`,
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...flags,
    ],
  });
  // With CI set, a test that someone focused and forgot is an error.
  const env = { ...process.env, TEST_CPU_FILE: cpuFile, ...(isWhole ? { CI: "1" } : {}) };
  const referenceBefore = isWhole ? await measureReference() : 0;
  const beganMs = Date.now();
  const { code, output } = await runProgram([process.execPath, ...words], { env, isBuffered });
  const wallSeconds = (Date.now() - beganMs) / 1000;
  const referenceAfter = isWhole ? await measureReference() : 0;
  if (isBuffered) process.stdout.write(`\n== ${name}\n${output}`);
  const read = readReport(report);
  const times = readTimes(cpuFile);
  rmSync(folder, { recursive: true });
  const isGreen = code === 0 && read.failed === 0 && read.passed > 0;
  // A run that ended early, or a file that does not load, is missing from the report.
  const failed = isGreen ? 0 : Math.max(read.failed, 1);
  const failures = [...read.failures];
  if (failed > failures.length)
    failures.push({ file: undefined, name: "a file did not load, or the run ended early" });
  const budget = isWhole
    ? checkBudget(name, {
        cpuSeconds: sum(times),
        referenceSeconds: (referenceBefore + referenceAfter) / 2,
      })
    : { text: "", isKept: true };
  if (chosen.length > 1) process.stdout.write(cpuTable(name, times, wallSeconds));
  process.stdout.write(`${budget.text}\n${read.passed} passed, ${failed} failed\n`);
  return { name, passed: read.passed, failed, failures, isGreen, isBudgetKept: budget.isKept };
}

/** The output is empty unless it is buffered. */
export async function runProgram(
  command: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly isBuffered?: boolean;
  } = {},
): Promise<{ readonly code: number; readonly output: string }> {
  const { env = process.env, isBuffered = false } = options;
  const target = isBuffered ? "pipe" : "inherit";
  const child = Bun.spawn([...command], {
    cwd: root,
    env,
    stdin: "ignore",
    stdout: target,
    stderr: target,
  });
  const read = (stream: unknown) =>
    stream instanceof ReadableStream ? new Response(stream).text() : "";
  const [out, err] = await Promise.all([read(child.stdout), read(child.stderr)]);
  return { code: await child.exited, output: `${err}${out}` };
}

function readTimes(path: string): readonly FileTime[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const sum = (times: readonly { readonly cpuS: number }[]) =>
  times.reduce((total, { cpuS }) => total + cpuS, 0);
const inColumn = (value: number) => `${value.toFixed(1).padStart(7)} s`;
const mostFiles = 8;

function cpuTable(name: string, times: readonly FileTime[], wallSeconds: number): string {
  const areas = [...Map.groupBy(times, ({ file }) => areaOf(file))]
    .map(([area, own]) => ({ area, cpuS: sum(own), count: own.length }))
    .toSorted((a, b) => b.cpuS - a.cpuS);
  const slowest = times.toSorted((a, b) => b.cpuS - a.cpuS).slice(0, mostFiles);
  return [
    "",
    `CPU time of the tier "${name}": ${sum(times).toFixed(0)} s in ${times.length} files, within ${wallSeconds.toFixed(0)} s`,
    ...areas.map(({ area, cpuS, count }) => `${inColumn(cpuS)}  ${area} (${count})`),
    "The files that take the most:",
    ...slowest.map(({ file, cpuS }) => `${inColumn(cpuS)}  ${file}`),
    "",
  ].join("\n");
}
