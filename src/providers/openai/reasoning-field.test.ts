import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../call/chat.ts";
import type { ReasoningField } from "../../call/quirks.ts";
import { toOptions } from "./to-messages.ts";

describe("a wish for reasoning reaches a vendor in the one field that it takes", () => {
  const sent = (field: ReasoningField, options: JsonObject) =>
    toOptions(options, { cap: 5_000, rules: [], reasoningField: field });

  test("as an effort", () => {
    const effort = (options: JsonObject) => sent("reasoning_effort", { seed: 1, ...options });
    const plain = { seed: 1, reasoning_effort: "odd" };
    expect(effort(plain)).toEqual(plain);
    expect(effort({ reasoning: { effort: "high" } })).toEqual({
      seed: 1,
      reasoning_effort: "high",
    });
    expect(effort({ thinking: { type: "disabled" } })).toEqual({
      seed: 1,
      reasoning_effort: "none",
    });
    expect(effort({ thinking: { type: "enabled", budget_tokens: 2_000 } })).toEqual({
      seed: 1,
      reasoning_effort: "medium",
    });
    expect(JSON.stringify(effort({ enable_thinking: true }))).toBe('{"seed":1}');
  });

  test("as OpenRouter's object, within the cap of the answer", () => {
    expect(sent("reasoning", { reasoning_effort: "low" })).toEqual({
      reasoning: { effort: "low" },
    });
    expect(sent("reasoning", { thinking: { type: "enabled", budget_tokens: 9_000 } })).toEqual({
      reasoning: { max_tokens: 5_000 },
    });
    expect(sent("reasoning", { reasoning: { effort: "high", exclude: true } })).toEqual({
      reasoning: { effort: "high", exclude: true },
    });
    expect(sent("reasoning", { reasoning: { exclude: true } })).toEqual({
      reasoning: { exclude: true },
    });
    expect(sent("reasoning", { reasoning: { max_tokens: 0 } })).toEqual({
      reasoning: { effort: "none" },
    });
    expect(sent("reasoning", { enable_thinking: false })).toEqual({
      reasoning: { effort: "none" },
    });
  });

  test("as on or off", () => {
    expect(sent("thinking", { reasoning_effort: "low" })).toEqual({
      thinking: { type: "enabled" },
    });
    expect(sent("thinking", { reasoning_effort: "none" })).toEqual({
      thinking: { type: "disabled" },
    });
  });

  test("and a word that means nothing is the caller's mistake", () => {
    const wrong = () => sent("thinking", { reasoning_effort: "very" });
    expect(wrong).toThrow("reasoning_effort must be one of none, minimal");
  });

  test("and nothing is copied where nothing is wished", () => {
    const options = { seed: 1 };
    for (const field of ["reasoning_effort", "reasoning", "thinking"] as const)
      expect(sent(field, options)).toBe(options);
  });
});
