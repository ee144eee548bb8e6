import { Problem, type ProblemCode } from "../base/problem.ts";
import { closest } from "../config/suggestion.ts";
import { beforeEnd, type Command, readInvocation, UsageProblem, type Wiring } from "./command.ts";
import { commandGroups, commands } from "./commands.ts";
import { commandsBelow, printGroup, printHelp, printOverview, usage } from "./help.ts";
import { withSuggestion } from "./suggest-name.ts";
import { print, printError, printJsonError } from "./terminal/output.ts";

/** Scripts can tell these apart. */
const exitCodes: Readonly<Record<ProblemCode, number>> = {
  failed: 1,
  test_failed: 1,
  invalid: 2,
  not_found: 3,
  conflict: 4,
  busy: 5,
};

/** Runs one command line and returns the exit code. */
export async function runCli(
  words: readonly string[],
  wiring: Wiring,
  version: string,
): Promise<number> {
  try {
    if (isVersion(words[0])) print(version);
    else if (words.length === 0 || words[0] === "help" || isHelp(words[0]))
      showHelp(words.slice(1), version);
    else await runCommand(words, wiring);
    return 0;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    report(await withSuggestion(error, words, wiring), words);
    return exitCodes[error.code];
  }
}

/** Prints a problem: its field as the flag that was typed, and where to look next. */
function report(problem: Problem, words: readonly string[]): void {
  const { code, message, field, command: hint } = problem;
  if (beforeEnd(words).includes("--json"))
    return printJsonError({ error: { code, message, field, command: hint } });
  const command = findCommand(words);
  const flags = command?.flags ?? {};
  const flag = flagOf(flags, field);
  const text = withFlags(flags, message, field);
  printError(flag === undefined ? text : afterFlag({ flag, text, field }), [
    ...(problem instanceof UsageProblem && command !== undefined
      ? [`Usage: ${usage(command, "Usage: ".length)}`]
      : []),
    ...(hint === undefined ? [] : [`Try: svc ${hint}`]),
  ]);
}

/** Behind its flag, a message does not name the field again: `--by: Must be model or account.` */
function afterFlag(options: {
  readonly flag: string;
  readonly text: string;
  readonly field: string | undefined;
}): string {
  const { flag, text, field } = options;
  if (text.startsWith(`${flag} `)) return text;
  if (!text.startsWith(`${field} `)) return `${flag}: ${text}`;
  const rest = text.slice(`${field} `.length);
  return `${flag}: ${rest.startsWith("must ") ? `M${rest.slice(1)}` : `This ${rest}`}`;
}

/** Names of the API as the flags that were typed: `allow_private` is `--allow-private`. */
function withFlags(
  flags: NonNullable<Command["flags"]>,
  message: string,
  field: string | undefined,
): string {
  return Object.keys(flags)
    .filter((flag) => flag.includes("-") && flag.replaceAll("-", "_") !== field)
    .reduce(
      (text, flag) =>
        text.replaceAll(
          new RegExp(`(?<![\\w.-])${flag.replaceAll("-", "_")}(?![\\w:])`, "g"),
          `--${flag}`,
        ),
      message,
    );
}

/** A repeated flag is a list in the API: `options.region` is `--option region=…`. */
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
  if (command === undefined) return showGroup(words);
  const rest = words.slice(command.name.split(" ").length);
  if (beforeEnd(rest).some(isHelp)) return printHelp(command, commands);
  await command.run(readInvocation(command, rest, wiring));
}

/** The longest name that matches: `receipt list` before `receipt`. */
function findCommand(words: readonly string[]): Command | undefined {
  return commands
    .filter(({ name }) => name === words.slice(0, name.split(" ").length).join(" "))
    .toSorted((left, right) => right.name.length - left.name.length)[0];
}

const isVersion = (word = "") => ["--version", "-v", "-V", "version"].includes(word);
const isHelp = (word: string | undefined) => word === "--help" || word === "-h";

function showHelp(words: readonly string[], version: string): void {
  const named = findCommand(words);
  if (named !== undefined) return printHelp(named, commands);
  if (plainWords(words).length > 0) return showGroup(words);
  printOverview(commandGroups, version);
}

/** The words before the first flag. */
function plainWords(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word) => word.startsWith("-"));
  return end === -1 ? words : words.slice(0, end);
}

function showGroup(words: readonly string[]): void {
  const typed = plainWords(words);
  const name = typed.join(" ");
  const group = commandsBelow(name, commands);
  const flags = words.slice(typed.length);
  if (group.length === 0) throw unknownCommand(typed, words[0] ?? "");
  if (flags.every(isHelp)) return printGroup(name, group);
  const next = new Set(group.map((one) => one.name.slice(name.length + 1).split(" ")[0]));
  throw new Problem({
    code: "invalid",
    message: `"svc ${name}" needs a command: ${[...next].join(", ")}.`,
    command: `${name} --help`,
  });
}

function unknownCommand(typed: readonly string[], first: string): Problem {
  if (typed.length === 0)
    return new Problem({
      code: "invalid",
      message: `Unknown flag "${first}". Flags follow the command.`,
      command: "--help",
    });
  const similar = similarCommand(typed);
  // In a group that exists, the word after it is the unknown one.
  const groupWords = [2, 1].find(
    (count) =>
      typed.length > count && commandsBelow(typed.slice(0, count).join(" "), commands).length > 0,
  );
  const shown = typed.slice(0, similar?.split(" ").length ?? (groupWords ?? 0) + 1).join(" ");
  const question = similar === undefined ? "" : ` Did you mean "svc ${similar}"?`;
  const help = groupWords === undefined ? "" : `${typed.slice(0, groupWords).join(" ")} `;
  return new Problem({
    code: "invalid",
    message: `Unknown command "${shown}".${question}`,
    command: `${help}--help`,
  });
}

/** Compares as many words as each name has; words that several commands share count as names. */
function similarCommand(typed: readonly string[]): string | undefined {
  const names = new Set(
    commands.flatMap(({ name }) => {
      const parts = name.split(" ");
      return parts.map((_, at) => parts.slice(0, at + 1).join(" "));
    }),
  );
  for (const count of [3, 2, 1]) {
    const start = typed.slice(0, count).join(" ");
    if (typed.length < count) continue;
    // The words so far are right, so the next one is the unknown one.
    if (names.has(start)) return undefined;
    const known = [...names].filter((name) => name.split(" ").length === count);
    const found = closest(start, known);
    if (found !== undefined) return found;
  }
  return undefined;
}
