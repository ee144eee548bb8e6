import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../call/chat.ts";
import { toGenerationConfig } from "./to-generation-config.ts";

const configOf = (options: JsonObject, model = "gemini-3-flash-preview") =>
  toGenerationConfig({ messages: [], maxOutputTokens: undefined, options }, model);

test("every field that has a word there goes along under it", () => {
  const options = {
    temperature: 0,
    top_p: 0.5,
    top_k: 40,
    presence_penalty: 0.5,
    frequency_penalty: -0.5,
    seed: 7,
    n: 3,
    stop: "END",
    logprobs: true,
    top_logprobs: 4,
  };
  const call = { messages: [], maxOutputTokens: 55, options };
  expect(toGenerationConfig(call, "gemini-3-flash")).toEqual({
    temperature: 0,
    topP: 0.5,
    topK: 40,
    presencePenalty: 0.5,
    frequencyPenalty: -0.5,
    seed: 7,
    candidateCount: 3,
    stopSequences: ["END"],
    responseLogprobs: true,
    logprobs: 4,
    maxOutputTokens: 55,
  });
});

test("what has no word there, or asks for what is so anyway, is left out", () => {
  expect(
    configOf({
      n: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      stop: [""],
      logprobs: false,
      top_logprobs: 3,
      response_format: { type: "text" },
      logit_bias: { 1: 2 },
      user: "u",
      metadata: { a: "b" },
      parallel_tool_calls: false,
      verbosity: "low",
    }),
  ).toBeUndefined();
});

test("a seed is brought into the range of the vendor, the same one each time", () => {
  expect(configOf({ seed: 2 ** 31 + 5 })).toEqual({ seed: 5 });
  expect(configOf({ seed: -(2 ** 40) - 5 })).toEqual({ seed: -5 });
  expect(configOf({ seed: 2 ** 31 - 1 })).toEqual({ seed: 2 ** 31 - 1 });
});

describe("how long it may think", () => {
  const thinkingOf = (effort: string, model: string) =>
    configOf({ reasoning_effort: effort }, model)?.["thinkingConfig"];

  for (const [model, levels] of [
    ["gemini-3-flash-preview", ["minimal", "minimal", "low", "medium", "high", "high"]],
    ["models/gemini-3.1-flash-lite", ["minimal", "minimal", "low", "medium", "high", "high"]],
    ["gemini-3-pro-preview", ["low", "low", "low", "high", "high", "high"]],
    ["gemini-3.1-pro-preview", ["low", "low", "low", "medium", "high", "high"]],
    ["gemini-3.8-flash", ["low", "low", "low", "medium", "high", "high"]],
  ] as const)
    test(`${model} thinks in levels`, () => {
      const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"];
      expect(efforts.map((effort) => thinkingOf(effort, model))).toEqual(
        levels.map((thinkingLevel) => ({ thinkingLevel })),
      );
    });

  for (const [model, least] of [
    ["models/gemini-2.5-flash", 0],
    ["gemini-2.5-pro", 128],
  ] as const)
    test(`${model} thinks in tokens`, () => {
      const efforts = ["none", "minimal", "low", "medium", "high"];
      expect(efforts.map((effort) => thinkingOf(effort, model))).toEqual(
        [least, 1_024, 1_024, 8_192, 24_576].map((thinkingBudget) => ({ thinkingBudget })),
      );
    });

  test("models that do not think are told nothing", () => {
    expect(thinkingOf("high", "gemini-2.0-flash")).toBeUndefined();
    expect(thinkingOf("high", "gemma-3-27b-it")).toBeUndefined();
  });

  test("words that are not known are refused by their field", () => {
    expect(() => thinkingOf("a lot", "gemini-3-flash")).toThrow("reasoning_effort must be one of");
    expect(() => thinkingOf("constructor", "gemini-2.5-flash")).toThrow("reasoning_effort must");
  });

  const pro = "gemini-2.5-pro";
  const flash = "gemini-2.5-flash";
  const newer = "gemini-3-flash";
  const budget = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } });
  for (const [options, model, expected] of [
    [{ reasoning: { effort: "low" } }, flash, { thinkingBudget: 1_024 }],
    [{ reasoning: { effort: "low" } }, newer, { thinkingLevel: "low" }],
    [budget(4_000), flash, { thinkingBudget: 4_000, includeThoughts: true }],
    [budget(90_000), pro, { thinkingBudget: 32_768, includeThoughts: true }],
    [budget(4_000), newer, { thinkingLevel: "medium", includeThoughts: true }],
    [{ thinking: { type: "adaptive" } }, flash, { thinkingBudget: -1, includeThoughts: true }],
    [{ thinking: { type: "adaptive" } }, newer, { includeThoughts: true }],
    [{ thinking: { type: "disabled" } }, flash, { thinkingBudget: 0 }],
    [{ thinking: { type: "disabled" } }, newer, { thinkingLevel: "minimal" }],
    [{ reasoning_effort: "max" }, newer, { thinkingLevel: "high" }],
  ] as const)
    test(`${model} understands ${JSON.stringify(options)}`, () => {
      expect(configOf(options, model)?.["thinkingConfig"]).toMatchObject(expected);
    });

  test("a budget that the caller names stays within the cap of the answer", () => {
    const call = { messages: [], maxOutputTokens: 2_000, options: budget(9_000) };
    expect(toGenerationConfig(call, flash)).toMatchObject({
      maxOutputTokens: 2_000,
      thinkingConfig: { thinkingBudget: 2_000 },
    });
  });

  test("thoughts are told to who asks for them alone", () => {
    expect(configOf({ include_reasoning: true })).toEqual({
      thinkingConfig: { includeThoughts: true },
    });
    expect(configOf({ include_reasoning: true, reasoning_effort: "low" })).toEqual({
      thinkingConfig: { thinkingLevel: "low", includeThoughts: true },
    });
    expect(configOf({ include_reasoning: false })).toBeUndefined();
  });
});
