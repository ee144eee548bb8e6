import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CampaignResult,
  type FuzzFailure,
  leaksIn,
  runCampaign,
  samenessIn,
} from "./campaign.ts";
import { makeCase } from "./cases/cases.ts";
import type { Progress } from "./progress.ts";
import { type FuzzTarget, startFuzzTarget } from "./target.ts";

/** More than this at the end is a leak: the largest body alone is 32 MiB. */
const mostResidentBytes = 700 * 1024 * 1024;

export interface OursOptions {
  readonly seed: number;
  readonly first: number;
  readonly cases: number;
  readonly make?: typeof makeCase;
  /** One that is running and stays so; default: one of their own. */
  readonly target?: FuzzTarget;
  readonly progress?: Progress;
  /** Where cases that fail are written. */
  readonly failuresDir?: string;
}

export interface OursResult extends Omit<CampaignResult, "failures"> {
  readonly problems: readonly string[];
  readonly residentBytesAtStart: number;
  readonly residentBytesAtEnd: number;
  readonly logBytes: number;
}

/** Our cases against a gateway, and what its log and memory say afterwards. */
export async function runOurs(options: OursOptions): Promise<OursResult> {
  const { seed, first, cases, make, progress, failuresDir } = options;
  const target = options.target ?? (await startFuzzTarget());
  try {
    const residentBytesAtStart = await target.residentBytes();
    const { failures, ...result } = await runCampaign({
      origin: target.origin,
      key: target.key,
      exited: target.exited,
      filled: target.filled,
      seed,
      first,
      cases,
      ...(make === undefined ? {} : { make }),
      onBatch: (casesDone) => {
        target.tidy();
        progress?.update(casesDone, cases);
      },
    });
    progress?.end();
    const residentBytesAtEnd = await target.residentBytes();
    const log = target.log();
    const problems = failures.map((failure) => told(failure, seed));
    for (const secret of leaksIn(log, target.key))
      problems.push(`the log holds a secret: ${secret === target.key ? "the key" : secret}`);
    for (const problem of new Set(target.upstreamProblems)) problems.push(`upstream: ${problem}`);
    problems.push(...samenessIn(result));
    if (residentBytesAtEnd > mostResidentBytes)
      problems.push(`the gateway holds ${Math.round(residentBytesAtEnd / 2 ** 20)} MiB`);
    if (failuresDir !== undefined) writeFailures({ failures, failuresDir, seed, key: target.key });
    return { ...result, problems, residentBytesAtStart, residentBytesAtEnd, logBytes: log.length };
  } finally {
    if (options.target === undefined) await target.stop();
  }
}

function told({ caseNumber, group, name, problem }: FuzzFailure, seed: number): string {
  return `case ${caseNumber} (${group}; ${name}): ${problem}\n    replay: npm run test:fuzz -- --seed ${seed} --case ${caseNumber}`;
}

/** The bytes of each request as they went over the wire, without the key. */
function writeFailures(options: {
  readonly failures: readonly FuzzFailure[];
  readonly failuresDir: string;
  readonly seed: number;
  readonly key: string;
}): void {
  const { failures, failuresDir, seed, key } = options;
  if (failures.length > 0) mkdirSync(failuresDir, { recursive: true });
  for (const { caseNumber, bytes } of failures) {
    const text = bytes.toString("latin1").replaceAll(key, "KEY");
    writeFileSync(join(failuresDir, `seed-${seed}-case-${caseNumber}.http`), text, "latin1");
  }
}

const shownBytes = 2_000;

/** One case for a person's eyes. */
export function showCase(seed: number, caseNumber: number): string {
  const { group, name, form, expects, bytes } = makeCase(seed, caseNumber, "KEY");
  const text = bytes.toString("latin1");
  const more = text.length > shownBytes ? `\n… and ${text.length - shownBytes} bytes more` : "";
  const wanted = expects.map(({ statuses }) => statuses.join(" or ")).join(", ");
  return `case ${caseNumber} of seed ${seed}: ${group}; ${name} (${form} HTTP; right: ${wanted})\n${text.slice(0, shownBytes)}${more}\n`;
}
