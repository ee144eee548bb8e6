/** What every command refuses by the arguments and flags that it declares. */

import { describe, expect, test } from "bun:test";
import { type Command, readInvocation, UsageProblem, type Wiring } from "./command.ts";
import { commands } from "./commands.ts";

const refusal = (command: Command, words: readonly string[]) => {
  try {
    readInvocation(command, words, {} as Wiring);
  } catch (error) {
    if (!(error instanceof UsageProblem)) throw error;
    expect(error.command).toBe(`${command.name} --help`);
    return { message: error.message, field: error.field };
  }
  return undefined;
};

const refuses = (command: Command, words: readonly string[], message: string, field?: string) =>
  expect([words, refusal(command, words)]).toEqual([
    words,
    { message: expect.stringContaining(message), field },
  ]);

describe.each(commands.map((command) => [command.name, command] as const))(
  "svc %s",
  (_, command) => {
    const flags = Object.entries(command.flags ?? {});
    const positionals = command.positionals ?? [];
    const required = flags.flatMap(([name, flag]) => (flag.required ? [`--${name}=x`] : []));

    test("refuses flags that it does not have, and suggests the closest", () => {
      refuses(command, ["--nothing-like-it"], 'Unknown flag "--nothing-like-it".');
      refuses(command, ["--hlep"], 'Unknown flag "--hlep". Did you mean "--help"?');
    });

    test("refuses a flag without its value, or with one that it does not take", () => {
      for (const [name, { value }] of flags)
        if (value === undefined)
          refuses(command, [`--${name}=x`], `--${name} does not take a value.`);
        else {
          refuses(command, [`--${name}`], `--${name} needs a value.`);
          refuses(command, [`--${name}`, "--other"], `write --${name}=VALUE`);
        }
    });

    test("names what is missing", () => {
      for (const [at, name] of positionals.entries())
        refuses(command, [...positionals.slice(0, at), ...required], `${name} is missing.`);
      for (const [name, flag] of flags)
        if (flag.required) {
          const others = required.filter((one) => one !== `--${name}=x`);
          const words = [...positionals, ...others];
          refuses(command, words, `--${name} is required.`, name.replaceAll("-", "_"));
        }
      if (command.needsChange)
        refuses(command, [...positionals, ...required], "Nothing to change. Set --");
    });

    test("refuses negative numbers, and repeats no argument that may be a secret", () => {
      refuses(command, ["-5"], "Negative numbers are not allowed: -5.");
      if (command.variadic !== undefined) return;
      const all = [...positionals, ...(command.optional ?? [])];
      refuses(command, [...all, "more"], 'Unexpected argument: "more".');
      refuses(command, [...all, "sk-svc-0", "b"], 'Unexpected arguments: …, "b".');
    });

    test("refuses flags that it no longer has, with what to do instead", () => {
      for (const [name, advice] of Object.entries(command.refusedFlags ?? {}))
        for (const word of [`--${name}`, `--${name}=x`])
          refuses(
            command,
            [...positionals, word, ...(word.includes("=") ? [] : ["x"])],
            advice,
            name,
          );
    });
  },
);
