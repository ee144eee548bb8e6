import { describe, expect, test } from "bun:test";
import { httpReply } from "../../../../test/fake/http/reply.ts";
import {
  type AnthropicBlock,
  anthropicMessage,
} from "../../../../test/fake/vendors/anthropic-messages.ts";
import { type BedrockBlock, bedrockReply } from "../../../../test/fake/vendors/bedrock-converse.ts";
import { type Bridge, useBridge } from "../../../../test/providers/bridge.ts";
import type { Json, JsonObject } from "../../../call/chat.ts";

const anthropic = useBridge({ kind: "anthropic" });
const bedrock = useBridge({ kind: "bedrock" });

const user = { role: "user", content: "The weather?" };
const options = {
  tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
  reasoning_effort: "low",
};
const first = { messages: [user], maxOutputTokens: 8_000, options };
const result = { role: "tool", tool_call_id: "toolu_1", content: "rain" };
const reply = (type: string, body: readonly (string | Uint8Array)[]) =>
  httpReply({ headers: { "content-type": type }, body, framing: "chunked" });

const blocks: readonly AnthropicBlock[] = [
  { type: "thinking", thinking: "I look outside.", signature: "c2lnbmF0dXJl" },
  { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
  { type: "tool_use", id: "toolu_1", name: "look", input: { far: true } },
];
const answer = { blocks, stopReason: "tool_use", usage: { input_tokens: 9, output_tokens: 5 } };

/** A mark, which names nobody. */
function formatOf(message: JsonObject = {}): string {
  const [detail] = message["reasoning_details"] as readonly JsonObject[];
  const format = String(detail?.["format"]);
  expect(format).toMatch(/^svc-[\w-]{8}$/);
  expect(JSON.stringify(message)).not.toMatch(/anthropic|claude|bedrock|amazon/i);
  return format;
}

const cloudBlocks: readonly BedrockBlock[] = [
  { reasoning: ["I look ", "outside."], signature: "c2lnbmF0dXJl" },
  { toolUseId: "toolu_1", name: "look", input: ['{"far":', "true}"] },
];

/** What a caller makes of an answer that was thought over. */
async function heard({ upstream, chat }: Bridge, body: string): Promise<JsonObject> {
  upstream.replyOnce(reply("application/json", [body]));
  const [choice] = (await chat(first)).choices;
  if (choice === undefined) throw new Error("no answer");
  return choice.message;
}

const cloudAnswer = { blocks: cloudBlocks, stopReason: "tool_use" };

test("thoughts of another vendor are left out, and nobody thinks without them", async () => {
  const foreign = await heard(bedrock, bedrockReply(cloudAnswer));
  anthropic.upstream.replyOnce(reply("application/json", [anthropicMessage(answer)]));
  await anthropic.chat({ ...first, messages: [user, foreign, result] });
  expect(anthropic.asked["messages"]).toMatchObject([
    { role: "user" },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1" }] },
    { role: "user" },
  ]);
  expect(anthropic.asked["thinking"]).toBeUndefined();
  expect(anthropic.asked["max_tokens"]).toBe(8_000);
});

test("unsigned thoughts, and those of a vendor by name, are left out", async () => {
  const { reasoning_details: _details, ...own } = await heard(anthropic, anthropicMessage(answer));
  for (const format of [undefined, "anthropic", "other", 7, null]) {
    const detail = { type: "reasoning.text", text: "I look.", signature: "b3RoZXI=" };
    const details = [format === undefined ? detail : { ...detail, format }, 7, null];
    anthropic.upstream.replyOnce(reply("application/json", [anthropicMessage(answer)]));
    await anthropic.chat({
      ...first,
      messages: [user, { ...own, reasoning_details: details }, result],
    });
    expect(anthropic.asked["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1" }] },
      { role: "user" },
    ]);
  }
});

describe("what a caller adds to thoughts and tool calls is not sent", () => {
  const cacheControl = { type: "ephemeral", ttl: "1h" };
  const caller = { type: "code_execution_20250825", toolId: "srvtoolu_1" };
  const cachePoint = { type: "default", ttl: "1h" };
  const itemId = "rs_of_somebody_else";
  const anthropicWish = { cacheControl, cache_control: cacheControl, caller, itemId };
  const cloudWish = { cachePoint, itemId };
  const wish = { ...anthropicWish, ...cloudWish };
  const named = { anthropic: anthropicWish, amazonBedrock: cloudWish, bedrock: cloudWish };
  const paid = /ttl|1h|cache|caller|code_execution|srvtoolu|somebody/i;

  /** The same message, with wishes in every place where they might be read. */
  const tampered = (message: JsonObject, format: string): JsonObject => ({
    ...message,
    reasoning_details: (message["reasoning_details"] as readonly JsonObject[]).map((detail) => ({
      ...detail,
      ...wish,
      metadata: wish,
      providerOptions: named,
    })),
    tool_calls: (message["tool_calls"] as readonly JsonObject[]).map((one) => ({
      ...one,
      provider_metadata: named,
      providerOptions: named,
      extra_content: { format, signature: "c2ln", ...wish, ...named, metadata: named },
    })),
  });

  test("to a vendor who would bill it", async () => {
    const message = await heard(anthropic, anthropicMessage(answer));
    anthropic.upstream.replyOnce(reply("application/json", [anthropicMessage(answer)]));
    const changed = tampered(message, formatOf(message));
    await anthropic.chat({ ...first, messages: [user, changed, result] });
    expect(JSON.stringify(anthropic.asked)).not.toMatch(paid);
    expect(anthropic.asked["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "The weather?" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "I look outside.", signature: "c2lnbmF0dXJl" },
          { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
          { type: "tool_use", id: "toolu_1", name: "look", input: { far: true } },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "rain" }],
      },
    ]);
  });

  test("to Amazon's cloud", async () => {
    const message = await heard(bedrock, bedrockReply(cloudAnswer));
    bedrock.upstream.replyOnce(reply("application/json", [bedrockReply(cloudAnswer)]));
    const changed = tampered(message, formatOf(message));
    await bedrock.chat({ ...first, messages: [user, changed, result] });
    expect(JSON.stringify(bedrock.asked)).not.toMatch(paid);
    expect(JSON.stringify(bedrock.asked["messages"])).toContain("c2lnbmF0dXJl");
  });

  test("nor what is larger than any signature, or none", async () => {
    const message = await heard(anthropic, anthropicMessage(answer));
    const format = formatOf(message);
    const ask = async (signature: Json) => {
      anthropic.upstream.replyOnce(reply("application/json", [anthropicMessage(answer)]));
      const detail = { type: "reasoning.text", format, text: "I look.", signature };
      const changed = { ...message, reasoning_details: [detail] };
      await anthropic.chat({ ...first, messages: [user, changed, result] });
      return JSON.stringify(anthropic.asked["messages"]);
    };
    expect(await ask("s".repeat(1024 * 1024))).toContain('"thinking"');
    for (const signature of ["s".repeat(1024 * 1024 + 1), "", { a: "b" }, ["s"], 7, null])
      expect(await ask(signature)).not.toContain('"thinking"');
  });
});
