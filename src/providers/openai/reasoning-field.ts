import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import type { ReasoningField } from "../../call/quirks.ts";
import { nearestEffort, type ReasoningWish, reasoningWishOf } from "../../call/reasoning-wish.ts";

/** Of the names for one wish, a vendor knows one, and ignores or refuses the others. */
export function withOneWish(options: JsonObject, field: ReasoningField): JsonObject {
  const { reasoning_effort, reasoning, thinking, enable_thinking, ...rest } = options;
  const isPlain =
    reasoning === undefined && thinking === undefined && enable_thinking === undefined;
  if (isPlain && (reasoning_effort === undefined || field === "reasoning_effort")) return options;
  const wish = reasoningWishOf(options);
  if (wish !== undefined) return { ...rest, [field]: toWish(wish, { field, reasoning }) };
  // Other wishes about reasoning, such as to hide it.
  return field === "reasoning" && reasoning !== undefined ? { ...rest, reasoning } : rest;
}

function toWish(
  wish: ReasoningWish,
  { field, reasoning }: { readonly field: ReasoningField; readonly reasoning: Json | undefined },
): Json | undefined {
  switch (field) {
    case "reasoning_effort":
      if (wish.kind === "off") return "none";
      // The model's own measure, which needs no word.
      return wish.kind === "on" ? undefined : nearestEffort(wish);
    case "reasoning": {
      const {
        effort: _e,
        max_tokens: _m,
        enabled: _is,
        ...others
      } = isJsonObject(reasoning) ? reasoning : {};
      if (wish.kind === "off") return { ...others, effort: "none" };
      if (wish.kind === "on") return { ...others, enabled: true };
      return wish.kind === "budget"
        ? { ...others, max_tokens: wish.tokens }
        : { ...others, effort: wish.effort };
    }
    case "thinking":
      // It has no levels.
      return { type: wish.kind === "off" ? "disabled" : "enabled" };
    default:
      return field satisfies never;
  }
}
