/** Random questions and answers in neutral words; the same seed and number give the same. */

import type { FinishReason, Json, JsonObject } from "../../../src/call/chat.ts";
import type { Dice } from "../../fuzz/cases/dice.ts";
import type { Answer, AskedTool, Piece } from "../../providers/dialect.ts";
import type { CalledTool, Content, Question, Turn } from "../driver.ts";

const words = [
  "plain words",
  " a space before and after ",
  "line\nends\r\nand\ttabs",
  'quotes " and \\ backslashes \\n',
  "Grüße 👋🏽 an 한국어 und 的一是",
  "\u2028\u2029\u0000\u007f\ufeff",
  "data: [DONE]\n\nevent: message_stop\n\n",
  '{"type":"response.completed"}',
  "<think>not a thought</think>",
  "x".repeat(5_000),
];

export function text(dice: Dice): string {
  return dice.list(dice.between(1, 3), () => dice.pick(words)).join(dice.pick(["", " ", "\n"]));
}

/** Not all words may stand in a request: some ask for more than a model may be asked. */
const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function content(dice: Dice): Content {
  return dice.list(dice.between(1, 3), () =>
    dice.percent(20) ? { mediaType: "image/png", base64: pixel } : text(dice),
  );
}

function json(dice: Dice, depth = 0): Json {
  const kind = dice.below(depth > 2 ? 4 : 6);
  switch (kind) {
    case 0:
      return text(dice).slice(0, 200);
    case 1:
      return dice.pick([0, -1, 1.5, 1e21, 9_007_199_254_740_991]);
    case 2:
      return dice.percent(50);
    case 3:
      return null;
    case 4:
      return dice.list(dice.below(4), () => json(dice, depth + 1));
    default:
      return fields(dice, depth + 1);
  }
}

function fields(dice: Dice, depth = 0): JsonObject {
  const names = dice.some(["city", "days", "a b", "ключ", "nested", "__x", "0"], 40);
  return Object.fromEntries(names.map((name) => [name, json(dice, depth)]));
}

export const toolNames = ["get_weather", "get_time", "look-up", "f_1"];

function called(dice: Dice, turn: number): readonly CalledTool[] {
  return dice.list(dice.between(1, 3), (at) => ({
    id: `call_${turn}_${at}`,
    name: dice.pick(toolNames),
    arguments: JSON.stringify(fields(dice)),
  }));
}

function turns(dice: Dice): readonly Turn[] {
  const list: Turn[] = [];
  for (let left = dice.below(4), at = 0; left > 0; left--, at++) {
    list.push({ by: "user", content: content(dice) });
    if (dice.percent(50)) {
      list.push({ by: "assistant", text: text(dice) });
      continue;
    }
    const calls = called(dice, at);
    list.push({ by: "assistant", calls, ...(dice.percent(50) ? { text: text(dice) } : {}) });
    for (const { id } of calls) list.push({ by: "tool", id, content: [text(dice)] });
    list.push({ by: "assistant", text: text(dice) });
  }
  return [...list, { by: "user", content: content(dice) }];
}

function tools(dice: Dice): readonly AskedTool[] {
  return toolNames.map((name) => ({
    name,
    description: dice.percent(70) ? text(dice) : undefined,
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
  };
}

export function randomQuestion(dice: Dice): Omit<Question, "model"> {
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
    ...(!hasTools && dice.percent(20)
      ? { schema: { type: "object", properties: { a: { type: "string" } } } }
      : {}),
  };
}

/** As a server of the chat-completions format answers: thoughts, words, calls. */
export function randomAnswer(dice: Dice): Answer {
  const pieces: Piece[] = [];
  const inPieces = (said: string) => {
    const cut = dice.below(said.length + 1);
    return [said.slice(0, cut), said.slice(cut)].filter((piece) => piece !== "");
  };
  if (dice.percent(30))
    for (const reasoning of inPieces(text(dice).toWellFormed())) pieces.push({ reasoning });
  if (dice.percent(80))
    for (let left = dice.between(1, 5); left > 0; left--) pieces.push({ text: text(dice) });
  const hasCalls = dice.percent(40);
  if (hasCalls)
    for (const { id, name, arguments: whole } of called(dice, 0))
      pieces.push({ call: { id, name, pieces: inPieces(whole) } });
  const ends: readonly FinishReason[] = ["stop", "length", "content_filter"];
  const input = dice.between(1, 100_000);
  const output = dice.between(1, 8_000);
  return {
    pieces,
    finish: hasCalls ? "tool_calls" : dice.pick(ends),
    usage: {
      input,
      output,
      cached: dice.below(input),
      reasoning: dice.below(output),
    },
  };
}
