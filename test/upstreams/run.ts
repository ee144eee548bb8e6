/**
 * The real gateway in front of a real llama.cpp server: bun test/upstreams/run.ts [--json]
 */

import { parseArgs } from "node:util";
import { print, printError, printJson, printTable, style } from "../../src/cli/terminal/output.ts";
import { keepLoopbackDirect } from "../../src/config/terminal.ts";
import { lookAround } from "../clients/runner/machine.ts";
import { breakChecks } from "./break-checks.ts";
import { type Check, checks } from "./checks.ts";
import { type Installed, installServer } from "./install.ts";
import { openStage, type Stage } from "./stage.ts";

interface Outcome {
  readonly check: string;
  readonly result: "passed" | "not offered" | "failed";
  readonly ms: number;
  readonly detail: string;
}

const usage = "npm run test:upstreams -- [--json]";
const checkWithinMs = 180_000;

process.exit(await main());

async function main(): Promise<number> {
  const { json, help } = readArguments();
  if (help) {
    print(usage);
    return 0;
  }
  process.stderr.write(
    "This needs:\n  python3 >= 3.10 with venv, and a package index that pip reaches\n  the weights of the embedded chat model (fetched once, shared with the other tests)\n\n",
  );
  const machine = lookAround({ python: true, go: false });
  for (const one of machine.missing) printError(`missing: ${one}`);
  if (machine.python === undefined || machine.missing.length > 0) return 1;
  keepLoopbackDirect();
  try {
    return await runAll(machine.python, json);
  } catch (error) {
    printError(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

function readArguments(): { readonly json: boolean; readonly help: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    printError(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return process.exit(2);
  }
}

async function runAll(systemPython: string, json: boolean): Promise<number> {
  process.stderr.write("installing the server …\n");
  const installed = await installServer(systemPython);
  const outcomes: Outcome[] = [];
  let stage: Stage | undefined;
  const end = async () => {
    await stage?.close();
    installed.remove();
  };
  // Stopped by hand, it must leave nothing behind either.
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.once(name, () => void end().finally(() => process.exit(130)));
  try {
    process.stderr.write(`starting llama.cpp (xllamacpp ${installed.version}) and the gateway …\n`);
    stage = await openStage(installed.python);
    for (const check of [...checks, ...breakChecks]) {
      const outcome = await runCheck(check, stage);
      outcomes.push(outcome);
      process.stderr.write(`  ${outcome.result}: ${outcome.check}\n`);
    }
  } finally {
    await end();
  }
  return conclude({ outcomes, installed, json });
}

async function runCheck({ name, run }: Check, stage: Stage): Promise<Outcome> {
  const startedMs = performance.now();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("it took too long")), checkWithinMs);
  const ms = () => Math.round(performance.now() - startedMs);
  try {
    const reason = await Promise.race([run(stage), late]);
    const isOffered = reason === undefined;
    return {
      check: name,
      result: isOffered ? "passed" : "not offered",
      ms: ms(),
      detail: reason ?? "",
    };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { check: name, result: "failed", ms: ms(), detail };
  } finally {
    clearTimeout(timer);
  }
}

function conclude(options: {
  readonly outcomes: readonly Outcome[];
  readonly installed: Installed;
  readonly json: boolean;
}): number {
  const { outcomes, installed, json } = options;
  const failed = outcomes.filter(({ result }) => result === "failed");
  const notOffered = outcomes.filter(({ result }) => result === "not offered").length;
  const passed = outcomes.length - failed.length - notOffered;
  if (json) {
    printJson({
      server: `xllamacpp ${installed.version}`,
      checks: outcomes,
      passed,
      not_offered: notOffered,
      failed: failed.length,
    });
    return failed.length === 0 ? 0 : 1;
  }
  const marks = { passed: "yes", "not offered": "not offered", failed: style.red("NO") };
  printTable(
    ["check", "works", "ms", ""],
    outcomes.map(({ check, result, ms, detail }) => [
      check,
      marks[result],
      ms,
      result === "failed" ? "" : detail,
    ]),
  );
  for (const { check, detail } of failed)
    print(`\n${style.red("✗")} ${check}\n${detail.replaceAll(/^/gm, "    ")}`);
  print(`${passed} passed, ${notOffered} not offered, ${failed.length} failed`);
  return failed.length === 0 ? 0 : 1;
}
