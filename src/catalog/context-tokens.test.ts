import { expect, test } from "bun:test";
import { routedTo } from "../../test/setup/model-sample.ts";
import { maxContextTokens } from "./context-tokens.ts";

test("a prompt has at most as many tokens as the longest of its routes takes", () => {
  for (const [name, tokens] of [
    ["claude-sonnet-4-5-20250929", 200_000],
    ["us.anthropic.claude-opus-4-1-20250805-v1:0", 200_000],
    ["claude-sonnet-4-20250514", 200_000],
    ["claude-opus-4-8", 1_000_000],
    ["gemini-3-flash-preview", 1_048_576],
    ["gpt-4o-mini", 128_000],
    ["gpt-4-1-mini", 1_050_000],
    ["gpt-4-1106-preview", 128_000],
    ["of-nobody", 1_048_576],
  ] as const)
    expect([name, maxContextTokens(routedTo(name))]).toEqual([name, tokens]);
  expect(maxContextTokens(routedTo("gpt-4o", "claude-3-5-haiku"))).toBe(200_000);
  expect(maxContextTokens(routedTo())).toBe(1_048_576);
});

test("what the operator says of a model counts, not its name", () => {
  expect(maxContextTokens({ ...routedTo("gpt-4o"), contextLength: 32_000 })).toBe(32_000);
});
