import { parseArgs } from "node:util";
import { Problem } from "../base/problem.ts";
import { eitherOf } from "../base/text/list-text.ts";
import type { Configuration } from "../config/load.ts";
import { didYouMean } from "../config/suggestion.ts";
import type { LedgerReader } from "../ledger/store.ts";
import type { Operations } from "../platform/operations.ts";
import type { BackupWiring } from "./backup-wiring.ts";
import type { DoctorWiring } from "./doctor-wiring.ts";
import type { StoreWiring } from "./store-wiring.ts";
import { printJson } from "./terminal/output.ts";

interface Flag {
  readonly about: string;
  /** What stands for the value in the help; absent: the flag is a switch. */
  readonly value?: string;
  readonly required?: true;
  /** One letter that stands for the name. */
  readonly short?: string;
  /** Can be repeated; its values are in `lists`. */
  readonly multiple?: true;
  /** All values that it accepts, for shell completion. */
  readonly choices?: readonly string[];
  /** It says how a change is made, and is none by itself. */
  readonly isNoChange?: true;
  /** Its own message says what is wrong with a negative number. */
  readonly judgesSign?: true;
}

export interface StoreOptions {
  /**
   * Where there is no store, creates one, or tries the command on an empty one, which is removed
   * afterwards. Absent: throws NoDatabase.
   */
  readonly whereNone?: "create" | "try";
}

/** What commands need from the composition root. */
export interface Wiring extends StoreWiring, BackupWiring, DoctorWiring {
  readonly configuration: () => Configuration;
  /** Runs on the operations of the running server, or on the store itself when none runs. */
  readonly withOperations: <T>(
    run: (operations: Operations) => Promise<T>,
    options?: StoreOptions,
  ) => Promise<T>;
  /** The ledger as of now, read without the server. */
  readonly withLedger: <T>(run: (ledger: LedgerReader) => Promise<T>) => Promise<T>;
  /** Workers: gateway processes; by the settings, if absent. */
  readonly serve: (workers?: number) => Promise<void>;
  /** A gateway alone, until it is stopped. */
  readonly gateway: () => Promise<void>;
  /** The platform alone, until it is stopped. */
  readonly platform: () => Promise<void>;
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
  /** One to three words. */
  readonly name: string;
  /** The first sentence is its summary in lists of commands. */
  readonly about: string;
  readonly positionals?: readonly string[];
  /** Arguments that may follow those. */
  readonly optional?: readonly string[];
  /** The name in the help for any number of further arguments. */
  readonly variadic?: string;
  /** Known values of its arguments, for shell completion. */
  readonly choices?: readonly string[];
  readonly flags?: Readonly<Record<string, Flag>>;
  /**
   * It can be the first one of an installation: where there is no database yet, it creates one, unless
   * it is a dry run.
   */
  readonly createsStore?: true;
  /** Its flags are the changes, so that it needs at least one of them. */
  readonly needsChange?: true;
  /** Flags that people expect or know from older versions, with what to do instead. */
  readonly refusedFlags?: Readonly<Record<string, string>>;
  readonly examples: readonly string[];
  /** Further lines of the help, such as a table to choose from. */
  readonly more?: () => readonly string[];
  readonly run: (invocation: Invocation) => Promise<void>;
}

export const jsonFlag = { json: { about: "print JSON" } } as const;

/** A command that asks for one thing and shows it: for people, or as JSON. */
export function viewCommand<T>({
  check,
  load,
  show,
  flags,
  ...rest
}: Omit<Command, "run"> & {
  /** Refuses wrong values before a store is opened, which may create it. */
  readonly check?: (invocation: Invocation) => void;
  readonly load: (operations: Operations, invocation: Invocation) => Promise<T>;
  readonly show: (view: T, invocation: Invocation) => void;
}): Command {
  return {
    ...rest,
    flags: { ...flags, ...jsonFlag },
    async run(invocation) {
      const { wiring, switches } = invocation;
      check?.(invocation);
      const view = await wiring.withOperations((operations) => load(operations, invocation));
      if (switches.has("json")) printJson(view);
      else show(view, invocation);
    },
  };
}

/** Reads the words after a command's name. Errors include the usage. */
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
    throw usageProblem(command, {
      message:
        lacking === undefined ? unexpected(positionals.slice(most)) : `${lacking} is missing.`,
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
        message: `--${name} is required.`,
      });
  }
  const switches = new Set(known.map(([name]) => name).filter((name) => values[name] === true));
  const changes = known
    .filter(([name, { isNoChange }]) => !(name in jsonFlag) && isNoChange !== true)
    .map(([name]) => name);
  if (command.needsChange && changes.every((name) => values[name] === undefined))
    throw usageProblem(command, {
      message: `Nothing to change. Set ${eitherOf(changes.map((name) => `--${name}`))}.`,
    });
  return { flags, switches, lists, positionals, wiring: wiringOf(command, { switches, wiring }) };
}

function wiringOf(
  { createsStore }: Command,
  { switches, wiring }: Pick<Invocation, "switches" | "wiring">,
): Wiring {
  if (createsStore === undefined) return wiring;
  const isTry = switches.has("dry-run") || switches.has("print");
  const whereNone = isTry ? "try" : "create";
  return { ...wiring, withOperations: (run) => wiring.withOperations(run, { whereNone }) };
}

/** An argument that may be a secret is not repeated. */
function unexpected(words: readonly string[]): string {
  const shown = words.map((word) =>
    /^[\w.:/@-]{1,20}$/.test(word) && !word.startsWith("sk-") ? `"${word}"` : "…",
  );
  return `Unexpected argument${words.length === 1 ? "" : "s"}: ${shown.join(", ")}.`;
}

type Options = Record<string, { type: "string" | "boolean"; multiple: boolean; short?: string }>;

function parse(command: Command, words: readonly string[], options: Options) {
  // No number here is negative, and the parser would report a minus as an unknown flag.
  const judgesSign = (word = "") => command.flags?.[word.replace(/^--/, "")]?.judgesSign === true;
  const negative = beforeEnd(words).find(
    (word, at, all) => /^-\d/.test(word) && !judgesSign(all[at - 1]),
  );
  if (negative !== undefined)
    throw usageProblem(command, { message: `Negative numbers are not allowed: ${negative}.` });
  for (const [name, message] of Object.entries(command.refusedFlags ?? {}))
    if (beforeEnd(words).some((word) => word === `--${name}` || word.startsWith(`--${name}=`)))
      throw usageProblem(command, { field: name, message });
  const { values, positionals, tokens } = parseArgs({
    args: [...words],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    const problem = token.kind === "option" ? flagProblem(token, options) : undefined;
    if (problem !== undefined) throw usageProblem(command, { message: problem });
  }
  return { values, positionals };
}

function flagProblem(
  token: {
    readonly name: string;
    readonly rawName: string;
    readonly value?: string | undefined;
    readonly inlineValue?: boolean | undefined;
  },
  options: Options,
): string | undefined {
  const { name, rawName, value, inlineValue } = token;
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) {
    const known = Object.keys(options).map((one) => `--${one}`);
    return `Unknown flag "${rawName}".${didYouMean(rawName, [...known, "--help"])}`;
  }
  if (option.type === "boolean")
    return value === undefined ? undefined : `${rawName} does not take a value.`;
  if (value === undefined) return `${rawName} needs a value.`;
  // Most likely the value was forgotten and this is the next flag.
  return inlineValue !== true && /^-\D/.test(value)
    ? `${rawName} needs a value. If the value starts with "-", write --${name}=VALUE.`
    : undefined;
}

/** The words before `--`. After it, no word is a flag. */
export function beforeEnd(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  return end === -1 ? words : words.slice(0, end);
}

/** A command line that the command does not accept. It is shown with the usage. */
export class UsageProblem extends Problem {}

export function usageProblem(
  { name }: Command,
  { message, field }: { readonly message: string; readonly field?: string },
): UsageProblem {
  return new UsageProblem({ code: "invalid", message, field, command: `${name} --help` });
}
