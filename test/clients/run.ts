/**
 * Clients in other languages, each a program of its own, against the real gateway:
 * bun test/clients/run.ts [--only python|langchain|go] [--json]
 */

import { join } from "node:path";
import { parseArgs } from "node:util";
import { print, printError, printJson, style } from "../../src/cli/terminal/output.ts";
import { keepLoopbackDirect } from "../../src/config/terminal.ts";
import { startEngineHome } from "../setup/engine-home.ts";
import { startTestGateway } from "../setup/harness.ts";
import { saveResult } from "./report.ts";
import { createAnswers, limitedMs, speechSeconds } from "./runner/answers.ts";
import { type InstalledPython, installGo, installPython } from "./runner/install.ts";
import { lookAround, type Machine, needsOf } from "./runner/machine.ts";
import { startObserver } from "./runner/observer.ts";
import {
  type CheckResult,
  type Choice,
  choices,
  describeProgram,
  type Program,
  runProgram,
  startOf,
} from "./runner/programs.ts";
import { createProgress } from "./runner/progress.ts";

interface Outcome {
  readonly client: string;
  readonly version: string;
  readonly language: string;
  readonly checks: readonly CheckResult[];
}

const usage = `npm run test:clients -- [--only ${choices.join("|")}] [--json]`;

process.exit(await main());

async function main(): Promise<number> {
  const asked = readArguments();
  if (typeof asked === "number") return asked;
  const wanted = {
    python: asked.clients.some((choice) => choice !== "go"),
    go: asked.clients.includes("go"),
  };
  const needs = needsOf(wanted).map((need) => `  ${need}\n`);
  process.stderr.write(`This needs:\n${needs.join("")}\n`);
  const machine = lookAround(wanted);
  if (machine.missing.length > 0) {
    for (const one of machine.missing) printError(`missing: ${one}`);
    return 1;
  }
  keepLoopbackDirect();
  try {
    const outcomes = await runAll({ ...asked, machine });
    return conclude(outcomes, asked.json) ? 0 : 1;
  } catch (error) {
    printError(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

interface Asked {
  readonly clients: readonly Choice[];
  readonly json: boolean;
}

/** What was asked for, or the exit code where nothing is to be run. */
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
    const clients = choices.filter((choice) => [undefined, choice].includes(values.only as Choice));
    if (clients.length > 0) return { clients, json: values.json };
    printError(`There is no client "${values.only}"; ${usage}`);
  } catch (error) {
    printError(`${error instanceof Error ? error.message : error}\n${usage}`);
  }
  return 1;
}

async function runAll(options: Asked & { readonly machine: Machine }): Promise<Outcome[]> {
  const installed = await installAll(options);
  const world = await startWorld();
  const outcomes: Outcome[] = [];
  try {
    for (const choice of options.clients) {
      const program = describeProgram(choice);
      const { client, version, language } = program;
      if (!options.json) print(style.bold(`${client} ${version} (${language})`));
      const checks = await runProgram({
        program,
        start: startOf(choice, installed),
        environment: world.environment,
        onResult: (result) => (options.json ? undefined : show(result)),
      });
      save(program, checks);
      outcomes.push({ client, version, language, checks });
      if (!options.json) print();
    }
  } finally {
    await world.stop();
  }
  return outcomes;
}

async function installAll({ clients, machine }: { clients: readonly Choice[]; machine: Machine }) {
  const progress = createProgress();
  const installed: { python?: InstalledPython; go?: string } = {};
  if (clients.some((choice) => choice !== "go"))
    installed.python = await installPython(machine, progress);
  if (clients.includes("go")) installed.go = await installGo(machine, progress);
  return installed;
}

/** The gateway in front of recorded bytes, one in front of the embedded models, and the observer. */
async function startWorld() {
  const engine = await startEngineHome({ sets: ["text", "chat", "speech"] });
  const gateway = await startTestGateway();
  const answers = createAnswers();
  gateway.upstream.replyWith(answers.replyTo);
  const observer = startObserver(gateway.upstream, answers);
  const narrow = await gateway.server.operations.createKey({
    account: gateway.account,
    models: ["svc-embedding-2"],
  });
  return {
    environment: {
      SVC_BASE_URL: gateway.baseUrl,
      SVC_API_KEY: gateway.key,
      SVC_NARROW_KEY: narrow.key,
      SVC_ENGINE_URL: engine.server.baseUrl,
      SVC_ENGINE_KEY: engine.server.key ?? "",
      SVC_OBSERVER_URL: observer.url,
      SVC_MEDIA_DIR: join(import.meta.dir, "..", "fixtures", "media"),
      SVC_LIMITED_MS: String(limitedMs),
      SVC_SPEECH_SECONDS: String(speechSeconds),
    },
    async stop() {
      await observer.stop();
      await gateway.stop();
      await engine.stop();
    },
  };
}

function show({ check, ok, error }: CheckResult): void {
  print(`  ${ok ? style.green("✓") : style.red("✗")} ${check}`);
  if (error !== undefined) print(style.red(error.replaceAll(/^/gm, "      ")));
}

function save({ client, version, language }: Program, checks: readonly CheckResult[]): void {
  saveResult({
    client,
    version,
    language,
    command: "npm run test:clients",
    checks: Object.fromEntries(checks.map(({ check, ok }) => [check, ok ? "passed" : "failed"])),
  });
}

/** The last line is the one that machines read. */
function conclude(outcomes: readonly Outcome[], json: boolean): boolean {
  const all = outcomes.flatMap(({ checks }) => checks);
  const failed = all.filter(({ ok }) => !ok).length;
  const counts = { passed: all.length - failed, failed };
  if (json) printJson({ clients: outcomes, ...counts });
  else print(`${counts.passed} passed, ${counts.failed} failed`);
  return failed === 0 && all.length > 0;
}
