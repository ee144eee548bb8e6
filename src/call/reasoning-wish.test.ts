import { expect, test } from "bun:test";
import { ApiError } from "../base/errors.ts";
import type { JsonObject } from "./chat.ts";
import {
  nearestEffort,
  type ReasoningWish,
  reasoningWishOf,
  showsThoughts,
} from "./reasoning-wish.ts";

const wishes: readonly (readonly [JsonObject, ReasoningWish | undefined])[] = [
  [{}, undefined],
  [{ reasoning_effort: null, reasoning: null, thinking: null }, undefined],
  [{ reasoning_effort: "default" }, undefined],
  [{ reasoning: {} }, undefined],
  [{ reasoning_effort: "none" }, { kind: "off" }],
  [{ reasoning_effort: "high" }, { kind: "effort", effort: "high" }],
  [{ reasoning: { effort: "low" } }, { kind: "effort", effort: "low" }],
  [{ reasoning: { max_tokens: 2_000 } }, { kind: "budget", tokens: 2_000 }],
  [{ reasoning: { enabled: false } }, { kind: "off" }],
  [{ reasoning: { enabled: true } }, { kind: "on" }],
  [{ thinking: { type: "enabled", budget_tokens: 4_000 } }, { kind: "budget", tokens: 4_000 }],
  [{ thinking: { type: "enabled" } }, { kind: "on" }],
  [{ thinking: { type: "adaptive" } }, { kind: "on" }],
  [{ thinking: { type: "disabled" } }, { kind: "off" }],
  [{ thinking: { type: "enabled", budget_tokens: 0 } }, { kind: "off" }],
  [{ enable_thinking: false }, { kind: "off" }],
  [
    { reasoning_effort: "low", thinking: { type: "disabled" } },
    { kind: "effort", effort: "low" },
  ],
];

for (const [options, wish] of wishes)
  test(`${JSON.stringify(options)} means ${JSON.stringify(wish)}`, () => {
    expect(reasoningWishOf(options)).toEqual(wish);
  });

test("a word that means nothing is refused by its field", () => {
  for (const [options, param] of [
    [{ reasoning_effort: "a lot" }, "reasoning_effort"],
    [{ reasoning: { effort: "constructor" } }, "reasoning.effort"],
    [{ thinking: { type: "deep" } }, "thinking.type"],
  ] as const) {
    let thrown: unknown;
    try {
      reasoningWishOf(options);
    } catch (error) {
      thrown = error;
    }
    expect(thrown instanceof ApiError ? [thrown.code, thrown.param] : undefined).toEqual([
      "invalid_request",
      param,
    ]);
  }
});

test("a budget has the effort that comes nearest to it", () => {
  const tokens = [1, 1_024, 1_025, 8_192, 8_193, 500_000];
  expect(tokens.map((budget) => nearestEffort({ kind: "budget", tokens: budget }))).toEqual([
    "low",
    "low",
    "medium",
    "medium",
    "high",
    "high",
  ]);
});

test("reasoning is shown to a caller who sends a field of a vendor that shows it", () => {
  expect(showsThoughts({ reasoning_effort: "high" })).toBeUndefined();
  expect(showsThoughts({ thinking: { type: "enabled" } })).toBe(true);
  expect(showsThoughts({ reasoning: { effort: "low" } })).toBe(true);
  expect(showsThoughts({ reasoning: { effort: "low", exclude: true } })).toBe(false);
  expect(showsThoughts({ thinking: { type: "disabled" } })).toBeUndefined();
  expect(showsThoughts({ thinking: { type: "enabled" }, include_reasoning: false })).toBe(false);
});
