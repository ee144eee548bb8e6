import { ApiError } from "../base/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "./chat.ts";

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = Exclude<(typeof efforts)[number], "none">;

/** How long a model is to think, whichever of the fields says so. */
export type ReasoningWish =
  | { readonly kind: "off" }
  /** As long as the model sees fit. */
  | { readonly kind: "on" }
  | { readonly kind: "effort"; readonly effort: Effort }
  | { readonly kind: "budget"; readonly tokens: number };

/**
 * The one wish behind the names that clients have for it. The first of them that says anything
 * counts: `reasoning_effort`, `reasoning`, `thinking`, `enable_thinking`. Undefined where none does.
 * A word that means nothing is the caller's mistake: the answer would not be the one asked for.
 */
export function reasoningWishOf(options: JsonObject): ReasoningWish | undefined {
  const { reasoning_effort: effort, reasoning, thinking, enable_thinking: isOn } = options;
  return (
    fromEffort(effort, "reasoning_effort") ??
    fromReasoning(reasoning) ??
    fromThinking(thinking) ??
    fromFlag(isOn, "enable_thinking")
  );
}

/** Whether the caller wants to read the thoughts; undefined where nothing says so. */
export function showsThoughts(options: JsonObject): boolean | undefined {
  const { include_reasoning: isIncluded, reasoning, thinking } = options;
  if (typeof isIncluded === "boolean") return isIncluded;
  const wish = fromReasoning(reasoning) ?? fromThinking(thinking);
  if (wish === undefined || wish.kind === "off") return undefined;
  return !(isJsonObject(reasoning) && reasoning["exclude"] === true);
}

/** The effort that comes nearest to a wish. */
export function nearestEffort(wish: Exclude<ReasoningWish, { readonly kind: "off" }>): Effort {
  switch (wish.kind) {
    case "on":
      return "medium";
    case "effort":
      return wish.effort;
    case "budget":
      return budgets.find(({ most }) => wish.tokens <= most)?.effort ?? "high";
    default:
      return wish satisfies never;
  }
}

const budgets = [
  { most: 1_024, effort: "low" },
  { most: 8_192, effort: "medium" },
] as const;

/** Words of clients that leave it to the model. */
const usual: ReadonlySet<Json | undefined> = new Set([undefined, null, "", "auto", "default"]);

function fromEffort(word: Json | undefined, param: string): ReasoningWish | undefined {
  if (usual.has(word)) return undefined;
  const effort = efforts.find((known) => known === word);
  if (effort === undefined) throw refusal(param, `one of ${efforts.join(", ")}`);
  return effort === "none" ? { kind: "off" } : { kind: "effort", effort };
}

function fromReasoning(reasoning: Json | undefined): ReasoningWish | undefined {
  if (reasoning === undefined || reasoning === null) return undefined;
  if (!isJsonObject(reasoning)) throw refusal("reasoning", 'an object such as {"effort":"low"}');
  const { effort, max_tokens: tokens, enabled } = reasoning;
  return (
    fromEffort(effort, "reasoning.effort") ??
    fromTokens(tokens) ??
    fromFlag(enabled, "reasoning.enabled")
  );
}

function fromThinking(thinking: Json | undefined): ReasoningWish | undefined {
  if (!isJsonObject(thinking)) return fromFlag(thinking, "thinking");
  const { type, budget_tokens: tokens } = thinking;
  switch (type) {
    case "disabled":
      return { kind: "off" };
    case "enabled":
      return fromTokens(tokens) ?? { kind: "on" };
    case "adaptive":
    case "auto":
      return { kind: "on" };
    case undefined:
      return fromTokens(tokens);
    default:
      throw refusal("thinking.type", "enabled, disabled or adaptive");
  }
}

/** Less than nothing leaves it to the model, as with Gemini. */
function fromTokens(tokens: Json | undefined): ReasoningWish | undefined {
  if (typeof tokens !== "number") return undefined;
  if (tokens <= 0) return { kind: tokens === 0 ? "off" : "on" };
  return { kind: "budget", tokens: Math.ceil(tokens) };
}

function fromFlag(flag: Json | undefined, param: string): ReasoningWish | undefined {
  if (flag === undefined || flag === null) return undefined;
  if (typeof flag !== "boolean") throw refusal(param, "true or false");
  return { kind: flag ? "on" : "off" };
}

function refusal(param: string, words: string): ApiError {
  return new ApiError({
    code: "invalid_request",
    param,
    message: `${param} must be ${words} for this model.`,
  });
}
