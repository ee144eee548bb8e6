/**
 * Runs every client against the real gateway and writes `docs/compatibility.md`:
 * bun test/clients/run.ts [--only typescript|python|anthropic|…|go|agents] [--json]
 *
 * The TypeScript suites and those of the agents are tests of ours, run by Bun. The clients in other
 * languages are programs of their own, which report each check on stdout.
 */

import { parseArgs } from "node:util";
import { print, printError, printJson, style } from "../../src/cli/terminal/output.ts";
import { keepLoopbackDirect } from "../../src/config/terminal.ts";
import { agentsFolder, checkNames } from "./agents/agent.ts";
import { agents } from "./agents/agents.ts";
import { type ClientResult, readResults, saveResult } from "./report.ts";
import { agentVersion, installAgents, installGo, installPython } from "./runner/install.ts";
import { lookAround, type Machine, needsOf } from "./runner/machine.ts";
import {
  type CheckResult,
  type Choice,
  choices,
  describeProgram,
  type Installed,
  isGo,
  runProgram,
  setOf,
  startOf,
} from "./runner/programs.ts";
import {
  checksIn,
  runTestFiles,
  type TestRun,
  typeScriptClients,
  versionOf,
} from "./runner/typescript.ts";

interface Outcome {
  readonly client: string;
  readonly version: string;
  readonly language: ClientResult["language"];
  readonly checks: readonly CheckResult[];
}

const typeScript = "typescript";
const agentChoice = "agents";
const all = [typeScript, ...choices, agentChoice] as const;
const usage = `npm run test:clients -- [--only ${all.join("|")}] [--json]`;

process.exit(await main());

async function main(): Promise<number> {
  const asked = readArguments();
  if (typeof asked === "number") return asked;
  const wanted = {
    python: asked.programs.some((choice) => !isGo(choice)),
    go: asked.programs.some(isGo),
    agents: asked.agents,
  };
  const needs = needsOf(wanted).map((need) => `  ${need}\n`);
  if (needs.length > 0) process.stderr.write(`This needs:\n${needs.join("")}\n`);
  const machine = lookAround(wanted);
  if (machine.missing.length > 0) {
    for (const one of machine.missing) printError(`missing: ${one}`);
    return 1;
  }
  keepLoopbackDirect();
  try {
    const outcomes = [
      ...(asked.typeScript ? await runTypeScript(asked) : []),
      ...(asked.programs.length > 0 ? await runPrograms({ ...asked, machine }) : []),
      ...(asked.agents ? await runAgents({ ...asked, machine }) : []),
    ];
    return conclude(outcomes, asked.json) ? 0 : 1;
  } catch (error) {
    printError(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

interface Asked {
  readonly typeScript: boolean;
  readonly programs: readonly Choice[];
  readonly agents: boolean;
  readonly json: boolean;
}

/** The arguments, or the exit code if there is nothing to run. */
function readArguments(): Asked | number {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) {
      print(usage);
      return 0;
    }
    const isWanted = (name: string) => values.only === undefined || values.only === name;
    if (all.some(isWanted))
      return {
        typeScript: isWanted(typeScript),
        programs: choices.filter(isWanted),
        agents: isWanted(agentChoice),
        json: values.json,
      };
    printError(`Unknown client "${values.only}". Usage: ${usage}`);
  } catch (error) {
    printError(`${error instanceof Error ? error.message : error}\n${usage}`);
  }
  return 1;
}

async function runTypeScript({ json }: Asked): Promise<Outcome[]> {
  if (!json) process.stderr.write("running the TypeScript clients …\n");
  const run = await runTestFiles({
    files: [...new Set(typeScriptClients.map(({ file }) => file))],
  });
  const saved = readResults();
  const outcomes = typeScriptClients.map((entry): Outcome => {
    const { client } = entry;
    const earlier = Object.keys(saved.find((result) => result.client === client)?.checks ?? {});
    const checks = checksIn({ report: run.report, client, earlier });
    return { client, version: versionOf(entry), language: "TypeScript", checks };
  });
  return concludeRun({ run, outcomes, json });
}

async function runAgents({ json, machine }: Asked & { machine: Machine }): Promise<Outcome[]> {
  const folder = await installAgents(machine);
  if (!json) process.stderr.write("running the agents …\n");
  const run = await runTestFiles({
    files: ["agents/run.ts"],
    environment: { [agentsFolder]: folder },
  });
  const outcomes = agents.map((agent): Outcome => {
    const { client } = agent;
    const checks = checksIn({ report: run.report, client, earlier: checkNames(agent) });
    return { client, version: agentVersion(client), language: "agent", checks };
  });
  return concludeRun({ run, outcomes, json });
}

function concludeRun(options: {
  readonly run: TestRun;
  readonly outcomes: Outcome[];
  readonly json: boolean;
}): Outcome[] {
  const { run, outcomes, json } = options;
  const isAllPassed = outcomes.every(({ checks }) => checks.every(({ ok }) => ok));
  if (run.code !== 0 && isAllPassed)
    throw new Error(`The test runner exited with ${run.code}, but no check failed:\n${run.output}`);
  for (const outcome of outcomes) {
    save(outcome);
    if (json) continue;
    printHeading(outcome);
    for (const check of outcome.checks) show(check);
    print();
  }
  return outcomes;
}

async function runPrograms(options: Asked & { readonly machine: Machine }): Promise<Outcome[]> {
  const installed = await installAll(options);
  // Loaded here: it needs the engine's packages, which the TypeScript clients do without.
  const { startWorld } = await import("./runner/world.ts");
  const world = await startWorld();
  const outcomes: Outcome[] = [];
  try {
    for (const choice of options.programs) {
      const program = describeProgram(choice);
      const { client, version, language } = program;
      if (!options.json) printHeading(program);
      const checks = await runProgram({
        program,
        start: startOf(choice, installed),
        environment: world.environment,
        onResult: (result) => (options.json ? undefined : show(result)),
      });
      const outcome = { client, version, language, checks };
      save(outcome);
      outcomes.push(outcome);
      if (!options.json) print();
    }
  } finally {
    await world.stop();
  }
  return outcomes;
}

async function installAll({ programs, machine }: Pick<Asked, "programs"> & { machine: Machine }) {
  const installed: { -readonly [Name in keyof Installed]: Installed[Name] } = {};
  for (const choice of programs)
    if (isGo(choice)) installed.go ??= await installGo(machine);
    else installed[setOf(choice)] ??= await installPython(setOf(choice), machine);
  return installed;
}

function printHeading({ client, version, language }: Omit<Outcome, "checks">): void {
  print(style.bold(`${client} ${version} (${language})`));
}

function show({ check, ok, error }: CheckResult): void {
  print(`  ${ok ? style.green("✓") : style.red("✗")} ${check}`);
  if (error !== undefined) print(style.red(error.replaceAll(/^/gm, "      ")));
}

function save({ client, version, language, checks }: Outcome): void {
  saveResult({
    client,
    version,
    language,
    checks: Object.fromEntries(checks.map(({ check, ok }) => [check, ok ? "passed" : "failed"])),
  });
}

/** The last line is the one that machines read. */
function conclude(outcomes: readonly Outcome[], json: boolean): boolean {
  const checks = outcomes.flatMap((outcome) => outcome.checks);
  const failed = checks.filter(({ ok }) => !ok).length;
  const counts = { passed: checks.length - failed, failed };
  if (json) printJson({ clients: outcomes, ...counts });
  else print(`${counts.passed} passed, ${counts.failed} failed`);
  return failed === 0 && checks.length > 0;
}
