import { describe, expect, test } from "bun:test";
import { useBridge } from "../../../../test/providers/bridge.ts";
import { apiErrorOf } from "../../../../test/providers/failure-of.ts";
import type { JsonObject } from "../../../call/chat.ts";

const user = { role: "user", content: "Why?" };
const tool = { type: "function", function: { name: "look", parameters: { type: "object" } } };
const anthropic = useBridge({ kind: "anthropic" });
const bedrock = useBridge({ kind: "bedrock" });

interface Ask {
  readonly model: string;
  readonly cap?: number;
  readonly options?: JsonObject;
  readonly messages?: readonly JsonObject[];
}

async function askAnthropic({ model, cap, options = {}, messages = [user] }: Ask) {
  await anthropic.chat({ messages, maxOutputTokens: cap, options }, { model });
  const { thinking, max_tokens: maxTokens, output_config: config } = anthropic.asked;
  return { thinking, maxTokens, config };
}

const wish = (reasoning_effort: string) => ({ options: { reasoning_effort } });

describe("a model that takes a budget", () => {
  const model = "claude-sonnet-4-5";
  for (const [effort, budget] of [
    ["minimal", 1_024],
    ["low", 2_000],
    ["medium", 5_000],
    ["high", 8_000],
    ["xhigh", 8_976],
  ] as const)
    test(`thinks with ${budget} of 10,000 tokens at the effort ${effort}, and the cap stays`, async () => {
      const asked = await askAnthropic({ model, cap: 10_000, ...wish(effort) });
      expect(asked.thinking).toEqual({ type: "enabled", budget_tokens: budget });
      expect(asked.maxTokens).toBe(10_000);
    });

  test("thinks with no more than 32,000 tokens", async () => {
    const asked = await askAnthropic({ model, cap: 60_000, ...wish("high") });
    expect(asked).toMatchObject({ thinking: { budget_tokens: 32_000 }, maxTokens: 60_000 });
  });

  for (const [what, cap, options, messages] of [
    ["has no room for it", 2_000, {}, [user]],
    ["must call a tool", 9_000, { tools: [tool], tool_choice: "required" }, [user]],
    [
      "answers tool calls whose thoughts are not there",
      9_000,
      { tools: [tool] },
      [
        user,
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "a", content: "seen" },
      ],
    ],
  ] as const)
    test(`does not think where it ${what}, and the cap stays`, async () => {
      const wished = { ...options, reasoning_effort: "high" };
      const asked = await askAnthropic({ model, cap, options: wished, messages });
      expect(asked.thinking).toBeUndefined();
      expect(asked.maxTokens).toBe(cap);
    });

  test("does not think unless it is asked to", async () => {
    expect((await askAnthropic({ model, cap: 9_000 })).thinking).toBeUndefined();
  });
});

test("a model that chooses by itself is told the effort, and the cap stays", async () => {
  for (const effort of ["low", "high"]) {
    const asked = await askAnthropic({ model: "claude-opus-4-8", cap: 500, ...wish(effort) });
    expect(asked).toEqual({
      thinking: { type: "adaptive", display: "summarized" },
      config: { effort },
      maxTokens: 500,
    });
  }
});

describe("thinking in another vendor's words means the same", () => {
  const older = "claude-sonnet-4-5";
  const newer = "claude-opus-4-8";
  const adaptive = { type: "adaptive", display: "summarized" };
  const budgetOf = (budget_tokens: number) => ({ type: "enabled", budget_tokens });
  for (const [options, model, thinking, config] of [
    [{ thinking: budgetOf(3_000) }, older, budgetOf(3_000), undefined],
    [{ thinking: budgetOf(100) }, older, budgetOf(1_024), undefined],
    [{ thinking: budgetOf(3_000) }, newer, adaptive, { effort: "medium" }],
    [{ reasoning: { max_tokens: 3_000 } }, older, budgetOf(3_000), undefined],
    [{ reasoning: { effort: "low" } }, older, budgetOf(2_000), undefined],
    [{ reasoning: { effort: "low" } }, newer, adaptive, { effort: "low" }],
    [{ thinking: { type: "adaptive" } }, older, budgetOf(5_000), undefined],
    [{ thinking: { type: "adaptive" } }, newer, adaptive, undefined],
    [{ thinking: { type: "disabled" } }, newer, { type: "disabled" }, undefined],
    [{ enable_thinking: true }, newer, adaptive, undefined],
  ] as const)
    test(`${JSON.stringify(options)} to ${model}`, async () => {
      expect(await askAnthropic({ model, cap: 10_000, options })).toEqual({
        thinking,
        config,
        maxTokens: 10_000,
      });
    });

  test("in Amazon's cloud, too", async () => {
    const model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
    const options = { thinking: { type: "enabled", budget_tokens: 3_000 } };
    await bedrock.chat({ messages: [user], maxOutputTokens: 10_000, options }, { model });
    expect(bedrock.asked).toMatchObject({
      inferenceConfig: { maxTokens: 10_000 },
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 3_000 } },
    });
  });

  test("a word that means nothing is refused by its field", async () => {
    const asking = askAnthropic({ model: older, ...wish("a lot") });
    expect(await apiErrorOf(asking)).toMatchObject({ param: "reasoning_effort" });
  });
});

describe("a budget that the caller names stays within the cap of the answer", () => {
  const wishes = [
    { thinking: { type: "enabled", budget_tokens: 500_000 } },
    { reasoning: { max_tokens: 500_000 } },
    { reasoning: { effort: "low", max_tokens: 500_000 } },
    { reasoning_effort: "low", thinking: { type: "enabled", budget_tokens: 500_000 } },
  ];
  for (const options of wishes)
    test(JSON.stringify(options), async () => {
      for (const model of ["claude-sonnet-4-5", "claude-opus-4-8"]) {
        const asked = await askAnthropic({ model, cap: 10_000, options });
        expect(asked.maxTokens).toBe(10_000);
        expect(JSON.stringify(anthropic.asked)).not.toContain("500000");
      }
      const model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
      await bedrock.chat({ messages: [user], maxOutputTokens: 10_000, options }, { model });
      expect(bedrock.asked["inferenceConfig"]).toMatchObject({ maxTokens: 10_000 });
      expect(JSON.stringify(bedrock.asked)).not.toContain("500000");
    });
});

test("no effort switches thinking off", async () => {
  const asked = await askAnthropic({ model: "claude-opus-4-8", ...wish("none") });
  expect(asked.thinking).toEqual({ type: "disabled" });
});

test("a model from before there was thinking is not asked for it", async () => {
  const model = "claude-3-5-haiku-20241022";
  const asked = await askAnthropic({ model, cap: 4_000, ...wish("high") });
  expect(asked).toEqual({ thinking: undefined, config: undefined, maxTokens: 4_000 });
});

describe("in Amazon's cloud", () => {
  const ask = async (model: string, options: JsonObject) => {
    await bedrock.chat({ messages: [user], maxOutputTokens: 10_000, options }, { model });
    return bedrock.asked;
  };

  test("a budget is part of the cap, too", async () => {
    const model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
    const asked = await ask(model, { reasoning_effort: "medium" });
    expect(asked).toMatchObject({
      inferenceConfig: { maxTokens: 10_000 },
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 5_000 } },
    });
  });

  test("a model that has no cap while it thinks hard does not think so hard", async () => {
    const asked = await ask("us.amazon.nova-2-lite-v1:0", { reasoning_effort: "high" });
    expect(asked).toMatchObject({
      inferenceConfig: { maxTokens: 10_000 },
      additionalModelRequestFields: { reasoningConfig: { maxReasoningEffort: "medium" } },
    });
  });
});
