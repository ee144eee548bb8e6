import type { ChatCall, JsonObject } from "../../../call/chat.ts";
import {
  type Effort,
  nearestEffort,
  type ReasoningWish,
  reasoningWishOf,
  showsThoughts,
} from "../../../call/reasoning-wish.ts";

/**
 * What depends on the generation of a model is told from its name. Names are open-ended: one that
 * is not known to be old is taken for a new one.
 */
function isModern(model: string): boolean {
  return /(^|\/)gemini-/.test(model) && !/(^|\/)gemini-([12][.-]|pro(-vision)?$)/.test(model);
}

/** Refuses tool calls of earlier turns that lack the signature of the thought behind them. */
export const wantsSignatures = isModern;

/** Takes images and documents within the result of a tool; older ones have them beside it. */
export const takesMediaResults = isModern;

/** Knows no system instruction: what it is told stands in front of the first question. */
export function lacksInstructions(model: string): boolean {
  return /(^|\/)gemma-[1-3]/.test(model);
}

/** The budgets that the vendor's own compatible face uses for these words. */
const budgets: Readonly<Record<Effort, number>> = {
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

/**
 * How long it may think, by generation:
 *
 * | wish               | 3 and later                           | 2.5                                |
 * |--------------------|---------------------------------------|------------------------------------|
 * | off (none)         | the lowest level: it cannot be off    | no budget; `pro` its least, 128    |
 * | minimal            | the lowest level                      | 1,024                              |
 * | low                | low                                   | 1,024                              |
 * | medium             | medium; `3-pro`, which has none: high | 8,192                              |
 * | high, xhigh, max   | high                                  | 24,576                             |
 * | a budget of tokens | the level that comes nearest          | the budget, within the model's own |
 * | on                 | its own choice                        | its own choice (-1)                |
 *
 * The lowest level is `minimal` for the flash models up to 3.6, else `low`. Models before 2.5 get no
 * word of it. Thoughts are shown to those who ask for them with `include_reasoning`, or who ask for
 * thinking with `thinking` or `reasoning`, whose vendors show them.
 */
export function toThinkingConfig(
  {
    options,
    maxOutputTokens: cap,
    original,
  }: Pick<ChatCall, "options" | "maxOutputTokens" | "original">,
  model: string,
): JsonObject | undefined {
  const isNew = isModern(model);
  if (!isNew && !/(^|\/)gemini-2\.5/.test(model)) return undefined;
  const wish = reasoningWishOf(options);
  const depth =
    wish === undefined ? undefined : isNew ? toLevel(wish, model) : toBudget(wish, { model, cap });
  const isShown = showsThoughts(options) ?? original?.showsThoughts;
  return isShown === true ? { ...depth, includeThoughts: true } : depth;
}

/** The models' own bounds. */
const mostBudget = { pro: 32_768, flash: 24_576 } as const;
const leastBudget = { pro: 128, flash: 1, "flash-lite": 512 } as const;

function toBudget(
  wish: ReasoningWish,
  { model, cap }: { readonly model: string; readonly cap: number | undefined },
): JsonObject {
  const isPro = model.includes("pro");
  const least = leastBudget[isPro ? "pro" : model.includes("flash-lite") ? "flash-lite" : "flash"];
  switch (wish.kind) {
    case "off":
      return { thinkingBudget: isPro ? leastBudget.pro : 0 };
    case "on":
      return { thinkingBudget: -1 };
    case "effort":
      return { thinkingBudget: budgets[wish.effort] };
    case "budget": {
      // Thoughts count towards the cap of the answer.
      const most = Math.min(mostBudget[isPro ? "pro" : "flash"], cap ?? Number.POSITIVE_INFINITY);
      return { thinkingBudget: Math.max(least, Math.min(most, wish.tokens)) };
    }
    default:
      return wish satisfies never;
  }
}

function toLevel(wish: ReasoningWish, model: string): JsonObject | undefined {
  if (wish.kind === "on") return undefined;
  const effort = wish.kind === "off" ? "minimal" : nearestEffort(wish);
  switch (effort) {
    case "minimal":
      return { thinkingLevel: lowestLevel(model) };
    case "low":
      return { thinkingLevel: effort };
    case "medium":
      return { thinkingLevel: /gemini-3-pro/.test(model) ? "high" : effort };
    case "high":
    case "xhigh":
    case "max":
      return { thinkingLevel: "high" };
    default:
      return effort satisfies never;
  }
}

function lowestLevel(model: string): "minimal" | "low" {
  if (/gemini-3(\.[0-6])?-flash/.test(model) || model.includes("flash-lite")) return "minimal";
  return "low";
}
