import { describe, expect, test } from "bun:test";
import { routedTo } from "../../test/setup/model-sample.ts";
import { maxImageTokens } from "./image-tokens.ts";

describe("the most tokens of an image", () => {
  for (const [name, tokens] of [
    ["gpt-4o-mini", 48_169],
    ["openai/GPT-4o-mini-2024-07-18", 48_169],
    ["gpt-4o-2024-11-20", 1_445],
    ["gpt-4.1", 1_445],
    ["gpt-4.1-mini", 2_489],
    ["gpt-4.1-nano-2025-04-14", 3_779],
    ["gpt-5", 1_190],
    ["gpt-5-mini", 2_489],
    ["gpt-5.4", 10_000],
    ["gpt-5.4-nano", 24_600],
    ["o4-mini", 2_642],
    ["o3", 1_275],
    ["openai/o1", 1_275],
    ["claude-3-7-sonnet-latest", 1_600],
    ["claude-sonnet-4-5-20250929", 1_600],
    ["us.anthropic.claude-sonnet-4-20250514-v1:0", 1_600],
    ["claude-opus-4-6", 1_600],
    ["claude-opus-4-7", 4_784],
    ["claude-sonnet-5", 4_784],
    ["gemini-2.5-flash", 6_192],
    ["models/gemini-3-flash", 2_240],
    ["grok-4", 1_792],
    ["pixtral-large-latest", 4_160],
    ["mistral-medium-latest", 3_080],
    ["meta-llama/Llama-3.2-90B-Vision-Instruct", 6_404],
    ["meta-llama/llama-4-scout", 2_512],
    ["Qwen/Qwen2.5-VL-72B-Instruct", 16_384],
  ] as const)
    test(`is what its vendor counts at most: ${name}`, () => {
      expect(maxImageTokens(routedTo(name))).toBe(tokens);
    });

  test("of a model that nobody knows is what the largest of own models count", () => {
    for (const name of ["my-deployment", "o30", "gpt-50", ""])
      expect([name, maxImageTokens(routedTo(name))]).toEqual([name, 16_384]);
    expect(maxImageTokens(routedTo())).toBe(16_384);
  });

  test("is that of the dearest of its routes", () => {
    expect(maxImageTokens(routedTo("gpt-4o", "gemini-2.5-flash", "grok-4"))).toBe(6_192);
    expect(maxImageTokens(routedTo("gpt-4o", "my-deployment"))).toBe(16_384);
  });

  test("is what the catalogue says, where it does", () => {
    const told = { ...routedTo("gpt-4o-mini"), maxImageTokens: 1_000 };
    expect(maxImageTokens(told)).toBe(1_000);
  });
});
