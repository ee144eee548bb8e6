import { Problem, type ProblemCode } from "../base/problem.ts";
import {
  beforeEnd,
  type Command,
  printHelp,
  readInvocation,
  UsageProblem,
  usage,
  type Wiring,
} from "./command.ts";
import { commands } from "./commands.ts";
import { print, printError, printJsonError, style } from "./terminal/output.ts";

/** Scripts can tell these apart. */
const exitCodes: Readonly<Record<ProblemCode, number>> = {
  failed: 1,
  invalid: 2,
  not_found: 3,
  conflict: 4,
  busy: 5,
};

/** Runs one command line and gives the exit code. */
export async function runCli(
  words: readonly string[],
  wiring: Wiring,
  version: string,
): Promise<number> {
  try {
    if (words[0] === "--version" || words[0] === "-v") print(version);
    else if (words.length === 0 || words[0] === "help" || isHelp(words[0]))
      printOverview(words.slice(1), version);
    else await runCommand(words, wiring);
    return 0;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    report(error, words);
    return exitCodes[error.code];
  }
}

/** A problem for the terminal: its field as the flag that was typed, and where to look next. */
function report(problem: Problem, words: readonly string[]): void {
  const { code, message, field, command: hint } = problem;
  const command = findCommand(words);
  const flags = command?.flags ?? {};
  if (beforeEnd(words).includes("--json") && (command === undefined || "json" in flags))
    return printJsonError({ error: { code, message, field, command: hint } });
  const flag = flagOf(flags, field);
  printError(flag === undefined ? message : `${flag}: ${message}`, [
    ...(problem instanceof UsageProblem && command !== undefined
      ? [`Usage: ${usage(command)}`]
      : []),
    ...(hint === undefined ? [] : [`Try: svc ${hint}`]),
  ]);
}

/** What can be repeated is one of several in the API: `options.region` is `--option region=…`. */
function flagOf(flags: NonNullable<Command["flags"]>, field = ""): string | undefined {
  const [list = "", part] = field.split(/\.(.*)/s);
  const word = list.replaceAll("_", "-");
  const name = Object.entries(flags).find(
    ([flag, { multiple }]) => word === flag || (multiple === true && word === `${flag}s`),
  )?.[0];
  if (name === undefined) return undefined;
  return part === undefined ? `--${name}` : `--${name} ${part}=…`;
}

async function runCommand(words: readonly string[], wiring: Wiring): Promise<void> {
  const command = findCommand(words);
  if (command === undefined) {
    const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
    if (group.length > 0 && (words.length === 1 || isHelp(words[1]))) return printGroup(group);
    throw new Problem({
      code: "invalid",
      message: `Unknown command "${words.slice(0, 2).join(" ")}".`,
      command: "--help",
    });
  }
  const rest = words.slice(command.name.split(" ").length);
  if (beforeEnd(rest).some(isHelp)) return printHelp(command);
  await command.run(readInvocation(command, rest, wiring));
}

function findCommand(words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name === words.slice(0, name.split(" ").length).join(" "));
}

const isHelp = (word: string | undefined) => word === "--help" || word === "-h";

function printOverview(words: readonly string[], version: string): void {
  const named = findCommand(words);
  if (named !== undefined) return printHelp(named);
  const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
  if (group.length > 0) return printGroup(group);
  print(
    `${style.bold("svc gateway")} ${version}: one OpenAI-compatible address in front of your models.\n`,
  );
  print(style.bold("Commands"));
  printGroup(commands);
  print(
    `\nsvc COMMAND --help shows flags and examples (in a checkout: ./svc). Commands work beside a running server and without one.`,
  );
  print(`Exit codes: 0 done, 1 failed, 2 wrong usage or value, 3 not found, 4 conflict, 5 in use.`);
}

function printGroup(group: readonly Command[]): void {
  const width = Math.max(...group.map(({ name }) => name.length));
  for (const { name, about } of group) print(`  ${style.cyan(name.padEnd(width))}  ${about}`);
}
