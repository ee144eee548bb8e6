import { parseArgs } from "node:util";
import { Problem } from "../base/problem.ts";
import type { Configuration } from "../config/load.ts";
import type { LedgerReader } from "../ledger/store.ts";
import type { Operations } from "../platform/operations.ts";
import { print, printJson, style } from "./terminal/output.ts";

interface Flag {
  readonly about: string;
  /** What stands for the value in the help; absent: the flag is a switch. */
  readonly value?: string;
  readonly required?: true;
  /** One letter that stands for the name. */
  readonly short?: string;
  /** May be given again and again; its values are in `lists`. */
  readonly multiple?: true;
}

/** What commands need from the composition root. */
export interface Wiring {
  readonly configuration: () => Configuration;
  /** Runs on the operations of the running server, or on the store itself when none runs. */
  readonly withOperations: <T>(run: (operations: Operations) => Promise<T>) => Promise<T>;
  /** The ledger as of now, read without the server's help. */
  readonly withLedger: <T>(run: (ledger: LedgerReader) => Promise<T>) => Promise<T>;
  readonly serve: () => Promise<void>;
  /** The engine's process, until it is stopped. */
  readonly engine: () => Promise<void>;
}

export interface Invocation {
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly switches: ReadonlySet<string>;
  /** The values of the flags that may be repeated, in order; empty when there are none. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly positionals: readonly string[];
  readonly wiring: Wiring;
}

export interface Command {
  /** One or two words. */
  readonly name: string;
  readonly about: string;
  readonly positionals?: readonly string[];
  /** Words that may follow those. */
  readonly optional?: readonly string[];
  /** What stands in the help for any number of further words. */
  readonly variadic?: string;
  readonly flags?: Readonly<Record<string, Flag>>;
  /** Flags of older versions, with what to do in their place. */
  readonly removedFlags?: Readonly<Record<string, string>>;
  readonly examples: readonly string[];
  /** Further lines of the help, such as a table to choose from. */
  readonly more?: () => readonly string[];
  readonly run: (invocation: Invocation) => Promise<void>;
}

export const jsonFlag = { json: { about: "print JSON for machines" } } as const;

/** A command that asks for one thing and shows it: for people, or as JSON. */
export function viewCommand<T>({
  load,
  show,
  flags,
  ...rest
}: Omit<Command, "run"> & {
  readonly load: (operations: Operations, invocation: Invocation) => Promise<T>;
  readonly show: (view: T, invocation: Invocation) => void;
}): Command {
  return {
    ...rest,
    flags: { ...flags, ...jsonFlag },
    async run(invocation) {
      const { wiring, switches } = invocation;
      const view = await wiring.withOperations((operations) => load(operations, invocation));
      if (switches.has("json")) printJson(view);
      else show(view, invocation);
    },
  };
}

/** Reads the words behind a command's name; what is wrong is said with the usage. */
export function readInvocation(
  command: Command,
  words: readonly string[],
  wiring: Wiring,
): Invocation {
  const known = Object.entries(command.flags ?? {});
  const options = Object.fromEntries(
    known.map(([name, { value, short, multiple = false }]) => [
      name,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        multiple,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  const { values, positionals } = parse(command, words, options);
  const expected = command.positionals ?? [];
  const most = expected.length + (command.optional ?? []).length;
  const isTooMany = command.variadic === undefined && positionals.length > most;
  if (positionals.length < expected.length || isTooMany) {
    const lacking = expected[positionals.length];
    const surplus = positionals.length - most;
    throw usageProblem(command, {
      message:
        lacking === undefined
          ? // Not the word itself: it may be a key.
            `There ${surplus === 1 ? "is one word" : `are ${surplus} words`} too many.`
          : `${lacking} is missing.`,
    });
  }
  const flags: Record<string, string | undefined> = {};
  const lists: Record<string, readonly string[]> = {};
  for (const [name, { required, multiple }] of known) {
    const value = values[name];
    if (multiple) lists[name] = Array.isArray(value) ? value.map(String) : [];
    else if (typeof value === "string") flags[name] = value;
    else if (required)
      throw usageProblem(command, {
        field: name.replaceAll("-", "_"),
        message: "A value is required.",
      });
  }
  const switches = new Set(known.map(([name]) => name).filter((name) => values[name] === true));
  return { flags, switches, lists, positionals, wiring };
}

function parse(
  command: Command,
  words: readonly string[],
  options: Record<string, { type: "string" | "boolean"; multiple: boolean; short?: string }>,
) {
  // Numbers here are above zero: a minus would be taken for a flag, and explained as one.
  const negative = beforeEnd(words).find((word) => /^-\d/.test(word));
  if (negative !== undefined)
    throw usageProblem(command, { message: `A number must not be below zero, like ${negative}.` });
  for (const [name, advice] of Object.entries(command.removedFlags ?? {}))
    if (beforeEnd(words).some((word) => word === `--${name}` || word.startsWith(`--${name}=`)))
      throw usageProblem(command, { field: name, message: `--${name} was removed. ${advice}` });
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true });
  } catch (error) {
    const message = error instanceof Error ? error.message.split(". ")[0] : String(error);
    throw usageProblem(command, { message: `${message?.replace(/\.$/, "")}.` });
  }
}

/** The words before `--`: behind it none is a flag. */
export function beforeEnd(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  return end === -1 ? words : words.slice(0, end);
}

/** Words that the command does not understand; its usage helps. */
export class UsageProblem extends Problem {}

function usageProblem(
  { name }: Command,
  { message, field }: { readonly message: string; readonly field?: string },
): UsageProblem {
  return new UsageProblem({ code: "invalid", message, field, command: `${name} --help` });
}

export function usage(command: Command): string {
  const { name, positionals = [], optional = [], variadic, flags = {} } = command;
  const shown = Object.entries(flags).map(([flag, { value, required, short, multiple }]) => {
    const flagText = short === undefined ? `--${flag}` : `-${short}`;
    const text = value === undefined ? flagText : `${flagText} ${value}`;
    return required ? text : `[${text}]${multiple === true ? "…" : ""}`;
  });
  const further = optional.map((word) => `[${word}]`);
  if (variadic !== undefined) further.push(`[${variadic} …]`);
  return ["svc", name, ...positionals, ...further, ...shown].join(" ");
}

export function printHelp(command: Command): void {
  print(`${command.about}\n`);
  print(`${style.bold("Usage")}\n  ${usage(command)}\n`);
  const flags = Object.entries(command.flags ?? {}).map(
    ([name, { about, value, short }]) =>
      [
        `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
        about,
      ] as const,
  );
  if (flags.length > 0) {
    const width = Math.max(...flags.map(([text]) => text.length));
    print(style.bold("Flags"));
    for (const [text, about] of flags) print(`  ${text.padEnd(width)}  ${about}`);
    print();
  }
  print(style.bold("Examples"));
  for (const example of command.examples) print(`  ${style.cyan(example)}`);
  const more = command.more?.() ?? [];
  if (more.length > 0) print(`\n${more.join("\n")}`);
}
