/** Random questions in neutral words; the same seed and number give the same. */

import type { Dice } from "../../fuzz/cases/dice.ts";
import { pixelPng } from "../../providers/calls.ts";
import type { CalledTool, Content, Question, Turn, WantedTool } from "../driver.ts";
import { pastAnswer, type Spoken } from "./spoken.ts";
import { called, text, toolNames } from "./words.ts";

const pdf = Buffer.from("%PDF-1.7\n%%EOF\n").toString("base64");

const picture = (dice: Dice) => ({
  mediaType: "image/png",
  base64: pixelPng,
  ...(dice.percent(50) ? { detail: dice.pick(["low", "high"] as const) } : {}),
});

const file = (dice: Dice) => ({ filename: `part ${dice.below(10)}.pdf`, base64: pdf });

function content(dice: Dice): Content {
  return dice.list(dice.between(1, 3), () => {
    const make = dice.weighted<(dice: Dice) => Content[number]>([
      [75, text],
      [17, picture],
      [8, file],
    ]);
    return make(dice);
  });
}

/** A text, or media with and without one. */
function result(dice: Dice): Content {
  return dice.percent(60) ? [text(dice)] : [...content(dice), picture(dice)];
}

/** A turn that was heard before: it is asked for first, and sent back as clients do. */
export type PastTurn = Turn | { readonly by: "assistant"; readonly heard: Spoken };

export interface PastQuestion extends Omit<Question, "turns"> {
  readonly turns: readonly PastTurn[];
}

function turns(dice: Dice): readonly PastTurn[] {
  const list: PastTurn[] = [];
  for (let left = dice.below(4), at = 0; left > 0; left--, at++) {
    list.push({ by: "user", content: content(dice) });
    if (dice.percent(20))
      list.push({ by: dice.pick(["system", "developer"] as const), text: text(dice) });
    list.push(...answered(dice, at));
  }
  return [...list, { by: "user", content: content(dice) }];
}

function answered(dice: Dice, at: number): readonly PastTurn[] {
  const answer = dice.weighted<() => readonly PastTurn[]>([
    [35, () => [{ by: "assistant", text: text(dice) }]],
    [10, () => [{ by: "assistant", refusal: text(dice) }]],
    [35, () => [...calling(dice, at), { by: "assistant", text: text(dice) }]],
    [20, () => heardBefore(dice, at)],
  ]);
  return answer();
}

function calling(dice: Dice, at: number): readonly PastTurn[] {
  const calls = called(dice, at);
  const said = dice.percent(50) ? { text: text(dice) } : {};
  const between = dice.percent(30) ? { between: text(dice) } : {};
  return [{ by: "assistant", calls, ...said, ...between }, ...results(dice, calls)];
}

const results = (dice: Dice, calls: readonly CalledTool[]): readonly Turn[] =>
  calls.map(({ id }) => ({
    by: "tool",
    id,
    content: result(dice),
    ...(dice.percent(25) ? { isError: true } : {}),
  }));

function heardBefore(dice: Dice, at: number): readonly PastTurn[] {
  const calls = dice.percent(50) ? called(dice, at) : [];
  const heard = pastAnswer(dice, calls);
  return [{ by: "assistant", heard }, ...results(dice, calls)];
}

function tools(dice: Dice): readonly WantedTool[] {
  return toolNames.map((name) => ({
    name,
    description: dice.percent(70) ? text(dice) : undefined,
    ...(dice.percent(40) ? { strict: dice.percent(60) } : {}),
    parameters: {
      type: "object",
      properties: { city: { type: "string", description: text(dice) }, days: { type: "integer" } },
      ...(dice.percent(50) ? { required: ["city"], additionalProperties: false } : {}),
    },
  }));
}

/** What dialects have beyond a question's own fields, each with a place in several of them. */
export interface Extras {
  readonly user?: string;
  readonly isSerial?: boolean;
  readonly topK?: number;
  readonly verbosity?: "low" | "high";
  readonly effort?: "low" | "medium" | "high";
  /** How many alternatives of each token. */
  readonly alternatives?: number;
  readonly cacheKey?: string;
  /** Tokens for thinking. */
  readonly budget?: number;
  /** What is said of the question's schema. */
  readonly format?: Format;
}

export interface Format {
  readonly name: string;
  readonly strict?: boolean;
  readonly description?: string;
}

export function randomExtras(dice: Dice, hasTools: boolean): Extras {
  return {
    ...(dice.percent(30) ? { user: `user-${dice.below(100)}` } : {}),
    ...(hasTools && dice.percent(40) ? { isSerial: true } : {}),
    ...(dice.percent(30) ? { topK: dice.between(1, 64) } : {}),
    ...(dice.percent(30) ? { verbosity: dice.pick(["low", "high"] as const) } : {}),
    ...(dice.percent(30) ? { effort: dice.pick(["low", "medium", "high"] as const) } : {}),
    ...(dice.percent(30) ? { alternatives: dice.between(1, 20) } : {}),
    ...(dice.percent(30) ? { cacheKey: `cache-${dice.below(100)}` } : {}),
    ...(dice.percent(30) ? { budget: dice.between(1_024, 2_048) } : {}),
    format: {
      name: dice.pick(["answer", "weather_report"]),
      ...(dice.percent(60) ? { strict: dice.percent(50) } : {}),
      ...(dice.percent(50) ? { description: text(dice) } : {}),
    },
  };
}

export function randomQuestion(dice: Dice): Omit<PastQuestion, "model"> {
  const list = turns(dice);
  const needsTools = list.some((turn) => turn.by === "tool");
  const hasTools = needsTools || dice.percent(30);
  const choices = ["auto", "none", "required", { name: "get_time" }] as const;
  return {
    turns: list,
    ...(dice.percent(50) ? { system: text(dice) } : {}),
    ...(hasTools ? { tools: tools(dice) } : {}),
    ...(hasTools && dice.percent(50) ? { toolChoice: dice.pick(choices) } : {}),
    ...(dice.percent(50) ? { cap: dice.between(1, 8_192) } : {}),
    ...(dice.percent(40) ? { temperature: dice.pick([0, 0.5, 1]) } : {}),
    ...(dice.percent(40) ? { topP: dice.pick([0.1, 0.9, 1]) } : {}),
    ...(dice.percent(30) ? { stop: dice.list(dice.between(1, 4), (at) => `END ${at}`) } : {}),
    ...(!hasTools && dice.percent(40)
      ? { schema: { type: "object", properties: { a: { type: "string" } } } }
      : {}),
  };
}
