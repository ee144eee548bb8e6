import type { DialectKind } from "./dialect-bodies.ts";
import type { Dice } from "./dice.ts";
import type { FuzzBody, FuzzJson } from "./json-text.ts";
import { validMessage, validPrompt, wrongMessages, wrongPrompts } from "./valid-messages.ts";
import { maybe, said, type Wrong } from "./valid-parts.ts";
import { validResponse, wrongResponses } from "./valid-responses.ts";

function validCompletion(dice: Dice): FuzzBody {
  const prompt = dice.pick<FuzzJson>([said(dice), [said(dice)], [1, 2, dice.below(50_000)]]);
  return {
    model: "svc-3-flash",
    prompt,
    ...maybe(dice, {
      max_tokens: dice.between(1, 64),
      stream: dice.percent(50),
      temperature: dice.pick([0, 1, 2]),
      top_p: dice.pick([0, 0.5, 1]),
      logprobs: dice.between(0, 5),
      echo: false,
      stop: dice.percent(50) ? "END" : ["END", "STOP"],
      seed: dice.below(1_000),
      presence_penalty: dice.pick([-2, 0, 2]),
      frequency_penalty: dice.pick([-2, 0, 2]),
      logit_bias: { "50256": -100 },
      user: `user-${dice.below(1_000)}`,
      unknown_field: said(dice),
    }),
  };
}

const wrongCompletions: readonly Wrong[] = [
  ["prompt", ""],
  ["prompt", []],
  ["prompt", 7],
  ["max_tokens", -1],
  ["n", 0],
  ["best_of", 0],
  ["logprobs", 6],
  ["temperature", 3],
  ["top_p", -1],
  ["stream", "yes"],
  ["stop", 7],
  ["presence_penalty", 3],
  ["frequency_penalty", -3],
  ["logit_bias", { word: 1 }],
];

/** Bodies that are valid by the way they are made, and what makes any of them wrong. */
export const validBodies: Readonly<
  Record<
    DialectKind,
    { readonly make: (dice: Dice) => FuzzBody; readonly wrongs: readonly Wrong[] }
  >
> = {
  responses: { make: validResponse, wrongs: wrongResponses },
  messages: { make: validMessage, wrongs: wrongMessages },
  "count-tokens": { make: validPrompt, wrongs: wrongPrompts },
  completions: { make: validCompletion, wrongs: wrongCompletions },
};
