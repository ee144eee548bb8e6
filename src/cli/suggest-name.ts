import { Problem } from "../base/problem.ts";
import { didYouMean } from "../config/suggestion.ts";
import type { Operations } from "../platform/operations.ts";
import type { Wiring } from "./command.ts";

/** The names that exist, by the command that lists them. */
const lists: Readonly<Record<string, (operations: Operations) => Promise<readonly string[]>>> = {
  "account list": async ({ accounts }) => (await accounts.list({})).map(({ name }) => name),
  "model list": async ({ models }) => (await models.list({})).map(({ id }) => id),
  "provider list": async ({ providers }) => (await providers.list({})).map(({ name }) => name),
  "key list": async ({ keys }) => (await keys.list({})).map(({ id }) => id),
};

/**
 * Adds the most similar name to a problem about a name that does not exist. Only the command line
 * does this: over the API, it would reveal names that the caller may not see.
 */
export async function withSuggestion(
  problem: Problem,
  words: readonly string[],
  wiring: Wiring,
): Promise<Problem> {
  const { code, message, command = "" } = problem;
  const list = lists[command];
  if (code !== "not_found" || list === undefined || message.includes("Did you mean"))
    return problem;
  // The unknown name is one of the words that were typed, and the message quotes it.
  const typed = words
    .map((word) => word.replace(/^--[\w-]+=/, ""))
    .filter((word) => message.includes(`"${word}"`));
  const known = await wiring.withOperations(list).catch(() => []);
  const question = typed.map((word) => didYouMean(word, known)).find((text) => text !== "");
  return question === undefined ? problem : problem.reworded(message + question);
}
