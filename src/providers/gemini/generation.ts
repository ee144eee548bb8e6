import type { JsonObject } from "../../call/chat.ts";

/**
 * What depends on the generation of a model is told from its name. Names are open-ended: one that
 * is not known to be old is taken for a new one.
 */
function isModern(model: string): boolean {
  return /(^|\/)gemini-/.test(model) && !/(^|\/)gemini-([12][.-]|pro(-vision)?$)/.test(model);
}

/** Refuses tool calls of earlier turns that lack the signature of the thought behind them. */
export const wantsSignatures = isModern;

/** Knows no system instruction: what it is told stands in front of the first question. */
export function lacksInstructions(model: string): boolean {
  return /(^|\/)gemma-[1-3]/.test(model);
}

/** The budgets that the vendor's own compatible face uses for these words. */
const budgets: ReadonlyMap<string, number> = new Map([
  ["minimal", 1_024],
  ["low", 1_024],
  ["medium", 8_192],
  ["high", 24_576],
  ["xhigh", 24_576],
]);

/**
 * `reasoning_effort`, by generation:
 *
 * | effort  | 3 and later                             | 2.5                              |
 * |---------|-----------------------------------------|----------------------------------|
 * | none    | the lowest level: it cannot be off      | no budget; `pro` its least, 128  |
 * | minimal | the lowest level                        | 1,024                            |
 * | low     | low                                     | 1,024                            |
 * | medium  | medium; `3-pro`, which has none: high   | 8,192                            |
 * | high    | high (xhigh too)                        | 24,576                           |
 *
 * The lowest level is `minimal` for the flash models up to 3.6, else `low`. Models before 2.5, and
 * words that are none of these, get no word of it. Thoughts are told only to those who ask for
 * them with `include_reasoning`.
 */
export function toThinkingConfig(options: JsonObject, model: string): JsonObject | undefined {
  const { reasoning_effort: effort, include_reasoning: isTold } = options;
  const isNew = isModern(model);
  if (!isNew && !/(^|\/)gemini-2\.5/.test(model)) return undefined;
  const word = typeof effort === "string" ? effort : "";
  const depth = isNew ? toLevel(word, model) : toBudget(word, model);
  if (isTold !== true) return depth;
  return { ...depth, includeThoughts: true };
}

function toBudget(effort: string, model: string): JsonObject | undefined {
  if (effort === "none") return { thinkingBudget: model.includes("pro") ? 128 : 0 };
  const thinkingBudget = budgets.get(effort);
  return thinkingBudget === undefined ? undefined : { thinkingBudget };
}

function toLevel(effort: string, model: string): JsonObject | undefined {
  switch (effort) {
    case "none":
    case "minimal":
      return { thinkingLevel: lowestLevel(model) };
    case "low":
    case "high":
      return { thinkingLevel: effort };
    case "medium":
      return { thinkingLevel: /gemini-3-pro/.test(model) ? "high" : effort };
    case "xhigh":
      return { thinkingLevel: "high" };
    default:
      return undefined;
  }
}

function lowestLevel(model: string): "minimal" | "low" {
  if (/gemini-3(\.[0-6])?-flash/.test(model) || model.includes("flash-lite")) return "minimal";
  return "low";
}
