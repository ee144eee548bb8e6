/** npm run test:fuzz: our cases, schemathesis, audio, the stalls. Ends with 1 when anything was found. */
import { join, resolve } from "node:path";
import { type AudioResult, runAudio } from "./audio/audio.ts";
import { fromCommandLine, help, type Options } from "./options.ts";
import { type OursResult, runOurs, showCase } from "./ours.ts";
import { Progress } from "./progress.ts";
import { runSchemathesis, type SchemathesisResult } from "./schemathesis.ts";
import { findCases, runStalls, type StallsResult } from "./stalls/stalls.ts";
import { stallTable } from "./stalls/table.ts";
import { runStrayTrials, type StrayTrials } from "./strays/strays.ts";

const root = resolve(import.meta.dir, "../..");
const progress = new Progress();

interface Results {
  readonly ours?: OursResult;
  readonly schemathesis?: SchemathesisResult;
  readonly audio?: AudioResult;
  readonly stalls?: StallsResult;
  readonly strays?: StrayTrials;
}

process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  try {
    const options = fromCommandLine(words);
    if (options === undefined) {
      process.stdout.write(help);
      return 0;
    }
    const results = await runAll(options);
    const { ours, schemathesis, audio, stalls, strays } = results;
    const problems = [ours, schemathesis, audio, stalls, strays].flatMap(
      (one) => one?.problems ?? [],
    );
    process.stdout.write(
      options.json ? `${JSON.stringify({ seed: options.seed, ...results })}\n` : told(results),
    );
    return problems.length === 0 ? 0 : 1;
  } catch (error) {
    progress.end();
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
}

async function runAll({ seed, caseNumber, cases, only, ...options }: Options): Promise<Results> {
  if (caseNumber !== undefined) process.stderr.write(showCase(seed, caseNumber));
  // Before anything runs: a name that does not exist is told at once.
  const stallCases = options.stallCase === undefined ? undefined : findCases(options.stallCase);
  const results: { -readonly [Name in keyof Results]: Results[Name] } = {};
  if (only === undefined || only === "ours")
    results.ours = await runOurs({
      seed,
      first: caseNumber ?? 0,
      cases: caseNumber === undefined ? cases : 1,
      progress,
      failuresDir: join(root, ".fuzz", "failures"),
    });
  if (only === undefined || only === "schemathesis")
    results.schemathesis = await runSchemathesis({
      root,
      seed,
      cases: options.schemathesisCases,
      tell: (line) => progress.tell(line),
    });
  if (only === undefined || only === "audio") {
    results.audio = await runAudio({
      root,
      seed,
      mutants: options.mutants,
      tell: (line) => progress.tell(line),
      onFile: (done, all) => progress.update(done, all),
    });
    progress.end();
  }
  if (only === undefined || only === "stalls") {
    results.stalls = await runStalls({
      ...(stallCases === undefined ? {} : { cases: stallCases }),
      boundMs: options.boundMs,
      repeats: options.repeats,
      onCase: (done, all) => progress.update(done, all),
    });
    progress.end();
  }
  if (only === undefined || only === "strays") results.strays = await runStrayTrials();
  return results;
}

function told({ ours, schemathesis, audio, stalls, strays }: Results): string {
  const lines: string[] = [];
  if (ours !== undefined)
    lines.push(
      `ours: ${ours.casesRun} cases (${ours.distinct} distinct), ${ours.requests} requests, ${ours.problems.length} problems`,
      `  replies by status: ${counted(ours.statuses)}`,
      `  refused by the HTTP parser or cut off: ${ours.refusedBelow} cases`,
      `  slowest: ${Math.round(ours.slowestMs)} ms (case ${ours.slowestCase})`,
      `  memory: ${megabytes(ours.residentBytesAtStart)} at the start, ${megabytes(ours.residentBytesAtEnd)} at the end`,
      ...ours.problems.map((problem) => `  ✗ ${problem}`),
    );
  if (schemathesis !== undefined)
    lines.push(
      `schemathesis ${schemathesis.version}: ${schemathesis.casesRun} cases over ${schemathesis.operations} operations, ${schemathesis.problems.length} problems`,
      `  valid and served: ${counted(schemathesis.accepted)}`,
      `  memory: ${megabytes(schemathesis.residentBytesAtEnd)} at the end`,
      ...schemathesis.problems.map((problem) => `  ✗ ${problem}`),
    );
  if (audio !== undefined)
    lines.push(
      `audio: ${audio.corpus} files of encoders, ${audio.polyglots} polyglots, ${audio.attacks} packed M4A files, ${audio.mutants} mutants, ${audio.problems.length} problems`,
      `  accepted and played: ${audio.accepted}; ${counted(audio.played)}`,
      `  played by billed seconds, at most: ${audio.worst.ratio.toFixed(3)}, ${audio.worst.name}`,
      `  ${counted(audio.versions)}`,
      ...audio.problems.map((problem) => `  ✗ ${problem}`),
    );
  if (stalls !== undefined) lines.push(...stallTable(stalls));
  if (strays !== undefined)
    lines.push(
      ...strays.trials.map(
        ({ reuse, calls, connections, sent, wrong }) =>
          `strays (${reuse}): ${calls} calls on ${connections} connections, ${sent} second replies, ${wrong} wrong`,
      ),
      ...strays.problems.map((problem) => `  ✗ ${problem}`),
    );
  return `${lines.join("\n")}\n`;
}

function counted(counts: Readonly<Record<string, number | string>>): string {
  return Object.entries(counts)
    .map((entry) => entry.join(": "))
    .join(", ");
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}
