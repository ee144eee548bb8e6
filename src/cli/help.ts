import type { Command } from "./command.ts";
import { print, style } from "./terminal/output.ts";

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}

const maxColumns = 100;
const minColumns = 60;

/** Some terminals report 0. */
function helpColumns(): number {
  const { columns = 0 } = process.stdout;
  return columns > 0 ? Math.max(minColumns, Math.min(maxColumns, columns)) : maxColumns;
}

interface WrapOptions {
  /** Spaces before every line after the first. */
  readonly indent?: number;
  /** The column where the first line starts. */
  readonly start?: number;
  readonly columns?: number;
}

/** Lines of whole words; the first one without its indent. A word that is too long stays whole. */
export function wrap(words: readonly string[], options: WrapOptions = {}): readonly string[] {
  const { indent = 0, start = indent, columns = helpColumns() } = options;
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    const before = lines.length === 0 ? start : 0;
    if (line.trim() !== "" && before + Bun.stringWidth(`${line} ${word}`) > columns) {
      lines.push(line);
      line = " ".repeat(indent) + word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

const wrapText = (text: string, options?: WrapOptions) => wrap(text.split(" "), options);

/** The first sentence, for a list of commands. */
export function summary({ about }: Pick<Command, "about">): string {
  return (/^.*?\.(?= |$)/s.exec(about)?.[0] ?? about).replace(/\.$/, "");
}

/** The usage line, wrapped; `start` is the column where it begins. */
export function usage(command: Command, start = 0): string {
  const { name, positionals = [], optional = [], variadic, flags = {} } = command;
  const shown = Object.entries(flags).map(([flag, { value, required, short, multiple }]) => {
    const flagText = short === undefined ? `--${flag}` : `-${short}`;
    const text = value === undefined ? flagText : `${flagText} ${value}`;
    return required ? text : `[${text}]${multiple === true ? "…" : ""}`;
  });
  const further = optional.map((word) => `[${word}]`);
  if (variadic !== undefined) further.push(`[${variadic} …]`);
  const head = `svc ${name}`;
  const indent = start + head.length + 1;
  return wrap([head, ...positionals, ...further, ...shown], { start, indent }).join("\n");
}

/** `all` is for the commands that begin with this one's name, such as `receipt list`. */
export function printHelp(command: Command, all: readonly Command[] = []): void {
  print(`${wrapText(command.about).join("\n")}\n`);
  print(`${style.bold("Usage")}\n  ${usage(command, 2)}\n`);
  const flags = Object.entries(command.flags ?? {}).map(
    ([name, { about, value, short }]) =>
      [
        `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
        about,
      ] as const,
  );
  if (flags.length > 0) {
    print(style.bold("Flags"));
    printColumns(flags);
    print();
  }
  print(style.bold("Examples"));
  for (const example of command.examples) print(`  ${style.cyan(example)}`);
  const more = command.more?.() ?? [];
  if (more.length > 0) {
    print();
    for (const line of more) print(line);
  }
  const below = commandsBelow(command.name, all);
  if (below.length > 0) {
    print(`\n${style.bold("Related commands")}`);
    printCommands(below);
  }
}

/** The commands whose names begin with these words. */
export function commandsBelow(words: string, all: readonly Command[]): readonly Command[] {
  return all.filter(({ name }) => name.startsWith(`${words} `));
}

export function printOverview(groups: readonly CommandGroup[], version: string): void {
  print(`${style.bold("svc gateway")} ${version}: one address in front of your models.\n`);
  print(`${style.bold("Usage")}\n  svc COMMAND [ARGUMENTS] [FLAGS]\n`);
  const all = groups.flatMap(({ commands }) => commands);
  const width = Math.max(...all.map(({ name }) => name.length));
  for (const { title, commands } of groups) {
    print(style.bold(title));
    printCommands(commands, width);
    print();
  }
  for (const text of [
    "svc COMMAND --help shows a command's flags and examples. In a clone, the command is ./svc; in a folder with the package, npx svc.",
    "Commands work with or without a running server. With --json, output and errors are JSON.",
    "Exit codes: 0 success, 1 failure, 2 invalid usage or value, 3 not found, 4 conflict, 5 in use.",
  ])
    print(wrapText(text).join("\n"));
}

/** For a word that several commands share, such as `svc account`. */
export function printGroup(words: string, group: readonly Command[]): void {
  print(`${style.bold("Usage")}\n  svc ${words} COMMAND [ARGUMENTS] [FLAGS]\n`);
  print(style.bold("Commands"));
  printCommands(group);
  print(`\nsvc ${words} COMMAND --help shows a command's flags and examples.`);
}

function printCommands(commands: readonly Command[], width?: number): void {
  const rows = commands.map((command) => [command.name, summary(command)] as const);
  printColumns(rows, { paint: style.cyan, width });
}

/** Two columns; the second one is wrapped. */
function printColumns(
  rows: readonly (readonly [string, string])[],
  options: { readonly paint?: (text: string) => string; readonly width?: number | undefined } = {},
): void {
  const { paint = (text) => text, width = Math.max(...rows.map(([text]) => text.length)) } =
    options;
  for (const [text, about] of rows)
    print(
      `  ${paint(text.padEnd(width))}  ${wrapText(about, { indent: width + 4 }).join("\n")}`.trimEnd(),
    );
}
