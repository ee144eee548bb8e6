import { isJsonObject, type JsonObject } from "../../../call/chat.ts";
import {
  type Effort,
  nearestEffort,
  type ReasoningWish,
  reasoningWishOf,
} from "../../../call/reasoning-wish.ts";
import type { Family, Fields, Owner } from "../model.ts";
import { fromReasoningDetails } from "./reasoning-details.ts";

/**
 * How long a model may think, by the caller's wish.
 *
 * Older models of one vendor take a budget of tokens, which counts towards the cap of the answer:
 * a share of the cap, at least 1,024 and at most 32,000, and 1,024 are left for the answer; where
 * there is no room for both, they do not think. Packages add the budget to the cap that they are
 * given, which would pass what the caller pays for: they are given so much less. A budget that the
 * caller names is kept within the same room. Newer models take the effort itself, or choose alone. None of them thinks while a tool is forced; and those with a budget not while
 * tool calls are answered whose thoughts the caller has not sent back, which the vendor refuses.
 */
export interface Thinking {
  readonly fields: Fields;
  /** To be taken off the cap. */
  readonly budgetTokens: number;
}

const shares: Readonly<Record<Effort, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.95,
};
const leastTokens = 1_024;
const mostTokens = 32_000;
/** Of an answer whose length nobody has named. */
const usualCap = 8_192;

const nothing: Thinking = { fields: {}, budgetTokens: 0 };

export interface ThinkingOptions {
  readonly family: Family;
  readonly owner: Owner;
  readonly model: string;
  readonly cap: number | undefined;
  readonly options: JsonObject;
  readonly messages: readonly JsonObject[];
}

export function toThinking(given: ThinkingOptions): Thinking {
  const wish = reasoningWishOf(given.options);
  if (wish === undefined) return nothing;
  const { family, model, cap } = given;
  const isOwn = family === "anthropic" || (family === "bedrock" && model.includes("anthropic"));
  const effort = wish.kind === "off" ? "none" : nearestEffort(wish);
  if (!isOwn) {
    // One family of models has no cap while it thinks hard.
    const isCapless = family === "bedrock" && /nova/.test(model) && cap !== undefined;
    const isHard = effort === "high" || effort === "xhigh" || effort === "max";
    return {
      fields: { reasoning: isCapless && isHard ? "medium" : plain(effort) },
      budgetTokens: 0,
    };
  }
  if (wish.kind === "off" || effort === "none")
    return { fields: { reasoning: "none" }, budgetTokens: 0 };
  if (forcesTool(given.options) || /claude-(instant|v?2|3-(5|haiku|opus|sonnet))/.test(model))
    return nothing;
  if (takesBudget(model)) return toBudget(given, wish);
  const config = { type: "adaptive", display: "summarized" };
  const chosen = wish.kind === "on" ? {} : { reasoning: plain(effort) };
  return { fields: { ...chosen, providerOptions: own(family, config) }, budgetTokens: 0 };
}

/** Those that came before models chose by themselves; and those of other makers. */
function takesBudget(model: string): boolean {
  return (
    !model.includes("claude-") ||
    /claude-(3-7|(sonnet|opus|haiku)-4-5|opus-4-1|(sonnet|opus)-4([-@](0|2\d{7})|$))/.test(model)
  );
}

type Thoughtful = Exclude<ReasoningWish, { readonly kind: "off" }>;

function toBudget(given: ThinkingOptions, wish: Thoughtful): Thinking {
  const { family, cap, options } = given;
  const room = (cap ?? usualCap) - leastTokens;
  const share = Math.floor((cap ?? usualCap) * shares[nearestEffort(wish)]);
  const wanted = wish.kind === "budget" ? wish.tokens : Math.min(share, mostTokens);
  const budgetTokens = Math.min(room, Math.max(leastTokens, wanted));
  if (budgetTokens < leastTokens || lacksThoughts(given) || wantsSchema(options)) return nothing;
  const config = { type: "enabled", budgetTokens };
  return { fields: { providerOptions: own(family, config) }, budgetTokens };
}

function own(family: Family, config: Fields): Fields {
  return family === "bedrock"
    ? { amazonBedrock: { reasoningConfig: config } }
    : { anthropic: { thinking: config } };
}

/** Packages have no word above it. */
const plain = (effort: Effort | "none") => (effort === "max" ? "xhigh" : effort);

function forcesTool({ tool_choice: choice }: JsonObject): boolean {
  return choice === "required" || isJsonObject(choice);
}

/** Packages make a forced tool of it for models that know no schemas. */
function wantsSchema({ response_format: format }: JsonObject): boolean {
  return isJsonObject(format) && format["type"] === "json_schema";
}

/** Tool calls since the user spoke last whose signed thoughts are not there, or another vendor's. */
function lacksThoughts({ messages, owner }: ThinkingOptions): boolean {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message === undefined || message["role"] === "user") return false;
    const { tool_calls: calls } = message;
    if (
      Array.isArray(calls) &&
      calls.length > 0 &&
      fromReasoningDetails(message, owner).length === 0
    )
      return true;
  }
  return false;
}
