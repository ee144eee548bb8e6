import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../call/chat.ts";
import type { ReasoningField } from "../../call/quirks.ts";
import { toOptions } from "./to-messages.ts";

describe("a wish for reasoning reaches a vendor in the one field that it takes", () => {
  const sent = (field: ReasoningField, options: JsonObject) =>
    toOptions(options, { cap: 5_000, rules: [], reasoningField: field });

  const budget = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } });
  const rows: readonly (readonly [ReasoningField, JsonObject, JsonObject])[] = [
    ["reasoning_effort", { reasoning_effort: "odd" }, { reasoning_effort: "odd" }],
    ["reasoning_effort", { reasoning: { effort: "high" } }, { reasoning_effort: "high" }],
    ["reasoning_effort", { thinking: { type: "disabled" } }, { reasoning_effort: "none" }],
    ["reasoning_effort", budget(2_000), { reasoning_effort: "medium" }],
    ["reasoning_effort", { enable_thinking: true }, {}],
    ["reasoning", { reasoning_effort: "low" }, { reasoning: { effort: "low" } }],
    // No more than the cap of the answer.
    ["reasoning", budget(9_000), { reasoning: { max_tokens: 5_000 } }],
    [
      "reasoning",
      { reasoning: { effort: "high", exclude: true } },
      { reasoning: { effort: "high", exclude: true } },
    ],
    ["reasoning", { reasoning: { exclude: true } }, { reasoning: { exclude: true } }],
    ["reasoning", { reasoning: { max_tokens: 0 } }, { reasoning: { effort: "none" } }],
    ["reasoning", { enable_thinking: false }, { reasoning: { effort: "none" } }],
    ["thinking", { reasoning_effort: "low" }, { thinking: { type: "enabled" } }],
    ["thinking", { reasoning_effort: "none" }, { thinking: { type: "disabled" } }],
  ];
  test.each(rows)("in %s: %j", (field, options, expected) => {
    const body = JSON.stringify(sent(field, { seed: 1, ...options }));
    expect(JSON.parse(body)).toEqual({ seed: 1, ...expected });
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
