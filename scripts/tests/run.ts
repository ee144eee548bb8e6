/** `bun scripts/tests/run.ts TIER [words]`, `… check`, `… ci`: see CONTRIBUTING.md, "Tests". */

import { join } from "node:path";
import { giveUp, root } from "./checkout.ts";
import { chooseFiles } from "./choose.ts";
import { runProgram, runTier, type TierResult } from "./tier.ts";
import { isTier, tiers } from "./tiers.ts";

const [task = "", ...words] = Bun.argv.slice(2);

if (task === "ci") await runCi();
else if (task === "check") await runCheck();
else if (task === "static") process.exit((await checkStatic()) ? 0 : 1);
else if (isTier(task)) conclude([await runTier(task, chooseFiles(task, words))]);
else giveUp(`Unknown tier "${task}". Tiers: ${Object.keys(tiers).join(", ")}.`);

async function runCheck(): Promise<void> {
  if (!(await checkStatic())) process.exit(1);
  conclude([await runTier("test", chooseFiles("test", ["--since", "main", ...words]))]);
}

/**
 * The models get the machine to themselves: their threads wait for each other, so beside other work
 * they are several times slower. The guard of the bench comes last, alone. A failure is final:
 * nothing runs a second time.
 */
async function runCi(): Promise<void> {
  if (!(await checkStatic())) process.exit(1);
  const results = [await runTier("test"), await runTier("postgres"), await runTier("processes")];
  results.push(await runTier("engine"));
  const beside = (["browser", "install", "clients"] as const).map((name) =>
    runTier(name, undefined, { isBuffered: true }),
  );
  results.push(...(await Promise.all(beside)));
  results.push(await runGuard());
  conclude(results, { holdsBudgets: true });
}

/** All at once: each takes one core. */
async function checkStatic(): Promise<boolean> {
  const tool = (name: string) => join(root, "node_modules", ".bin", name);
  const checks = {
    format: [tool("biome"), "check", "."],
    lint: [tool("oxlint"), "--quiet"],
    // After the first time it checks what changed.
    types: [tool("tsc"), "--incremental", "--tsBuildInfoFile", "node_modules/.cache/tsc.json"],
    "dead code": [tool("knip")],
  };
  const failed: string[] = [];
  await Promise.all(
    Object.entries(checks).map(async ([name, command]) => {
      const { code, output } = await runProgram(command, { isBuffered: true });
      process.stderr.write(`${name}: ${code === 0 ? "ok" : "failed"}\n`);
      if (code !== 0) failed.push(output);
    }),
  );
  for (const output of failed) process.stderr.write(output);
  return failed.length === 0;
}

/** Counts as one test. */
async function runGuard(): Promise<TierResult> {
  process.stdout.write("\n== bench guard\n");
  const file = "bench/guard/run.ts";
  const { code } = await runProgram([process.execPath, join(root, file)]);
  const isGreen = code === 0;
  return {
    name: "guard",
    passed: isGreen ? 1 : 0,
    failed: isGreen ? 0 : 1,
    failures: isGreen ? [] : [{ file, name: "above its limits, see the table" }],
    isGreen,
    isBudgetKept: true,
  };
}

/** Ends the process. The last lines name what failed, and the total. */
function conclude(results: readonly TierResult[], { holdsBudgets = false } = {}): never {
  const sum = (name: "passed" | "failed") =>
    results.reduce((total, result) => total + result[name], 0);
  const failures = results.flatMap((result) => result.failures);
  const above = results.filter(({ isBudgetKept }) => !isBudgetKept).map(({ name }) => name);
  const lines = failures.map(
    ({ file, name }) => `  ${file === undefined ? "" : `${file}: `}${name}\n`,
  );
  if (lines.length > 0) process.stdout.write(`\nFailed:\n${lines.join("")}\n`);
  if (above.length > 0) process.stdout.write(`Above its budget: ${above.join(", ")}\n`);
  if (results.length > 1 || failures.length > 0)
    process.stdout.write(`${sum("passed")} passed, ${sum("failed")} failed\n`);
  const isGreen = results.every((result) => result.isGreen);
  process.exit(isGreen && !(holdsBudgets && above.length > 0) ? 0 : 1);
}
