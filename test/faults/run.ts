/** npm run test:faults. Ends with 1 when anything was found. */

import { runOutages } from "./disk/outages.ts";
import { runPowerCut } from "./disk/power-cut.ts";
import { KillCampaign, type RoundResult } from "./kill/kill-campaign.ts";
import { killSteps } from "./kill/steps.ts";
import { fromCommandLine, help, type Options } from "./options.ts";
import type { TrialResult } from "./trial.ts";

interface Results {
  readonly rounds: readonly RoundResult[];
  readonly trials: readonly TrialResult[];
}

interface Kills {
  readonly rounds: readonly RoundResult[];
  /** What the last process and the ledger were like at the end. */
  readonly end: TrialResult;
}

const maxShown = 10;

async function main(words: readonly string[]): Promise<number> {
  try {
    const options = fromCommandLine(words);
    if (options === undefined) {
      process.stdout.write(help);
      return 0;
    }
    const kills = options.only === "disk" ? undefined : await runKills(options);
    const disks =
      options.only === "kill"
        ? []
        : [...(await runOutages({ seed: options.seed, tell })), await runPowerCut()];
    const results: Results = {
      rounds: kills?.rounds ?? [],
      trials: [...(kills === undefined ? [] : [kills.end]), ...disks],
    };
    const problems = [...results.rounds, ...results.trials].flatMap((one) => one.problems);
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ seed: options.seed, ok: problems.length === 0, ...results })}\n`
        : told(results, options),
    );
    return problems.length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? "") : String(error)}\n`);
    return 2;
  }
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function runKills({ rounds, seed }: Options): Promise<Kills> {
  const results: RoundResult[] = [];
  const campaign = await KillCampaign.start({ seed, callers: 24, callsEach: 8 });
  const isLive = process.stderr.isTTY === true;
  try {
    for (let at = 0; at < rounds; at++) {
      // Each step in turn, and every fourth at a random moment.
      const step =
        at % 4 === 3 ? "random" : killSteps[(at - Math.floor(at / 4)) % killSteps.length];
      const result = await campaign.round(step ?? "random");
      results.push(result);
      const problems = results.reduce((sum, one) => sum + one.problems.length, 0);
      const line = `${at + 1} of ${rounds} kills, ${problems} problems (${result.step})`;
      if (isLive) process.stderr.write(`\r\x1b[2K${line}`);
      else if ((at + 1) % 10 === 0 || at + 1 === rounds) tell(line);
    }
    const ending = await campaign.stopServer();
    const { code, stdout } = await campaign.svc(["ledger", "verify", "--json"]);
    const problems = [
      ...(ending === 0 ? [] : [`the last process ended with ${ending}`]),
      ...(code === 0 ? [] : [`svc ledger verify ended with ${code}: ${stdout}`]),
    ];
    const receipts = results.reduce((sum, one) => sum + one.receipts, 0);
    const end = { name: "orderly stop, svc ledger verify", problems, figures: { receipts } };
    return { rounds: results, end };
  } finally {
    if (isLive) process.stderr.write("\r\x1b[2K");
    await campaign.stop();
  }
}

function told({ rounds, trials }: Results, { seed }: Options): string {
  const lines: string[] = [];
  if (rounds.length > 0) {
    lines.push(`${rounds.length} kills, seed ${seed}`, ...killTable(rounds));
    const problems = rounds.flatMap((one) =>
      one.problems.map((problem) => `  ✗ round ${one.round} (${one.step}): ${problem}`),
    );
    lines.push(...problems.slice(0, maxShown));
    if (problems.length > maxShown) lines.push(`  … ${problems.length - maxShown} more`);
  }
  for (const { name, notRun, problems, figures } of trials) {
    const state = notRun === undefined ? (problems.length === 0 ? "ok" : "failed") : "not run here";
    const numbers = Object.entries(figures).map(([what, value]) => `${what} ${value}`);
    const detail = notRun ?? numbers.join(", ");
    lines.push(`${name}: ${state}${detail === "" ? "" : `: ${detail}`}`);
    for (const problem of problems.slice(0, maxShown)) lines.push(`  ✗ ${problem}`);
  }
  return `${lines.join("\n")}\n`;
}

const columns = [
  "calls",
  "whole",
  "broken",
  "receipts",
  "receiptsWithoutReply",
  "repeats",
] as const;

function killTable(rounds: readonly RoundResult[]): readonly string[] {
  const titles = ["kills", "calls", "whole", "broken", "receipts", "unread", "repeats", "problems"];
  const row = (name: string, cells: readonly (string | number)[]) =>
    `  ${name.padEnd(20)}${cells.map((cell) => String(cell).padStart(10)).join("")}`;
  const sums = (name: string, list: readonly RoundResult[]) => {
    const counts = columns.map((column) => list.reduce((sum, one) => sum + one[column], 0));
    const problems = list.reduce((sum, one) => sum + one.problems.length, 0);
    return row(name, [list.length, ...counts, problems]);
  };
  return [
    row("killed at", titles),
    ...killSteps
      .map((step) => ({ step, list: rounds.filter((one) => one.step === step) }))
      .filter(({ list }) => list.length > 0)
      .map(({ step, list }) => sums(step, list)),
    sums("all", rounds),
  ];
}

process.exitCode = await main(process.argv.slice(2));
