import { Problem } from "../../base/problem.ts";
import type { Invocation } from "../command.ts";

/** Whether a person can answer: input and output are terminals, and --json is not set. */
export function isInteractive({ switches }: Pick<Invocation, "switches">): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && !switches.has("json");
}

export interface Choice<T> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly isDisabled?: boolean;
}

/** Any number of a list, with the arrow keys and the space bar. */
export async function askMany<T>(options: {
  readonly question: string;
  readonly choices: readonly Choice<T>[];
  /** Those that are chosen to begin with. */
  readonly chosen: readonly T[];
  readonly signal: AbortSignal;
}): Promise<readonly T[]> {
  const { question, choices, chosen, signal } = options;
  const { multiselect } = await clack();
  // By place: the library compares values by identity and prints what has no label.
  const places = await answered(
    multiselect({
      message: question,
      options: choices.map(({ label, hint, isDisabled }, value) => ({
        value,
        label,
        ...(hint === undefined ? {} : { hint }),
        disabled: isDisabled === true,
      })),
      initialValues: choices.flatMap(({ value }, at) => (chosen.includes(value) ? [at] : [])),
      required: false,
      maxItems: 12,
      signal,
    }),
  );
  return places.flatMap((at) => {
    const choice = choices[at];
    return choice === undefined ? [] : [choice.value];
  });
}

/** One line; `read` throws a Problem if the answer is invalid. */
export async function askText<T>(options: {
  readonly question: string;
  readonly offered: string;
  readonly read: (answer: string) => T;
  readonly signal: AbortSignal;
}): Promise<T> {
  const { question, offered, read, signal } = options;
  const { text } = await clack();
  const answer = await answered(
    text({
      message: question,
      placeholder: offered,
      defaultValue: offered,
      signal,
      validate(given) {
        try {
          read(given?.trim() || offered);
          return undefined;
        } catch (error) {
          if (error instanceof Problem) return error.message;
          throw error;
        }
      },
    }),
  );
  return read(answer.trim() || offered);
}

export async function askYes(options: {
  readonly question: string;
  readonly offered: boolean;
  readonly signal: AbortSignal;
}): Promise<boolean> {
  const { question, offered, signal } = options;
  const { confirm } = await clack();
  return answered(confirm({ message: question, initialValue: offered, signal }));
}

/** A line that is masked while it is typed. */
export async function askSecret(question: string, signal: AbortSignal): Promise<string> {
  const { password } = await clack();
  const answer = await answered(password({ message: question, signal }));
  return (answer ?? "").trim();
}

/** Loaded on the first question: most commands ask none. */
const clack = () => import("@clack/prompts");

/** During a question, Ctrl-C reaches the library instead of us. It still ends the command. */
async function answered<T>(asking: Promise<T>): Promise<Exclude<T, symbol>> {
  const answer = await asking;
  if (!isCancelled(answer)) return answer as Exclude<T, symbol>;
  process.emit("SIGINT", "SIGINT");
  process.stderr.write("Stopped. Nothing was changed.\n");
  throw new Problem({ code: "failed", message: "Stopped. Nothing was changed." });
}

const isCancelled = <T>(answer: T): answer is Extract<T, symbol> => typeof answer === "symbol";
