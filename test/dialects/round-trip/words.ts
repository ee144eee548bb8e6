/** What is said and called, at random; the same dice give the same. */

import type { Json, JsonObject } from "../../../src/call/chat.ts";
import type { Dice } from "../../fuzz/cases/dice.ts";
import type { CalledTool } from "../driver.ts";

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

export function called(dice: Dice, turn: number): readonly CalledTool[] {
  return dice.list(dice.between(1, 3), (at) => ({
    id: `call_${turn}_${at}`,
    name: dice.pick(toolNames),
    arguments: JSON.stringify(fields(dice)),
  }));
}
