import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type AnthropicBlock,
  anthropicEvents,
  anthropicMessage,
} from "../../../test/fake/anthropic-messages.ts";
import {
  type BedrockBlock,
  bedrockEvents,
  bedrockReply,
} from "../../../test/fake/bedrock-converse.ts";
import { httpReply } from "../../../test/fake/http-reply.ts";
import { type Bridge, openBridge } from "../../../test/providers/bridge.ts";
import type { ChatPart, Json, JsonObject } from "../../call/chat.ts";

let anthropic: Bridge;
let bedrock: Bridge;
beforeAll(async () => {
  anthropic = await openBridge({ kind: "anthropic" });
  bedrock = await openBridge({ kind: "bedrock" });
});
afterAll(() => Promise.all([anthropic.upstream.stop(), bedrock.upstream.stop()]));

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

/** What a client makes of a stream: texts joined, lists behind each other. */
function joined(parts: readonly ChatPart[]): JsonObject {
  let thought = "";
  const details: Json[] = [];
  const calls: { id: Json | undefined; name: string; text: string }[] = [];
  for (const part of parts) {
    if (part.type !== "delta") continue;
    const { reasoning_content: text, reasoning_details: more, tool_calls: pieces } = part.delta;
    if (typeof text === "string") thought += text;
    if (Array.isArray(more)) details.push(...more);
    for (const piece of (Array.isArray(pieces) ? pieces : []) as readonly JsonObject[]) {
      const { name, arguments: given } = piece["function"] as JsonObject;
      if (piece["id"] !== undefined) calls.push({ id: piece["id"], name: String(name), text: "" });
      const call = calls.at(-1);
      if (call !== undefined) call.text += String(given);
    }
  }
  const tool_calls = calls.map(({ id = "", name, text }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
  }));
  const message = { role: "assistant", content: null, refusal: null };
  return { ...message, reasoning_content: thought, reasoning_details: details, tool_calls };
}

for (const form of ["whole", "streamed"] as const)
  test(`${form}: signed thoughts reach the caller, and go back as they were when a tool has answered`, async () => {
    const { upstream, chat, hear } = anthropic;
    upstream.replyOnce(
      form === "whole"
        ? reply("application/json", [anthropicMessage(answer)])
        : reply("text/event-stream", anthropicEvents(answer)),
    );
    const message =
      form === "whole" ? (await chat(first)).choices[0]?.message : joined(await hear(first));
    expect(message).toEqual({
      role: "assistant",
      content: null,
      refusal: null,
      reasoning_content: "I look outside.",
      reasoning_details: [
        {
          type: "reasoning.text",
          format: "anthropic",
          text: "I look outside.",
          signature: "c2lnbmF0dXJl",
        },
        { type: "reasoning.encrypted", format: "anthropic", data: "ZW5jcnlwdGVk" },
      ],
      tool_calls: [
        { id: "toolu_1", type: "function", function: { name: "look", arguments: '{"far":true}' } },
      ],
    });
    upstream.replyOnce(reply("application/json", [anthropicMessage(answer)]));
    await chat({ ...first, messages: [user, message ?? {}, result] });
    expect(anthropic.asked).toMatchObject({
      thinking: { type: "enabled" },
      messages: [
        { role: "user" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "I look outside.", signature: "c2lnbmF0dXJl" },
            { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
            { type: "tool_use", id: "toolu_1", name: "look", input: { far: true } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] },
      ],
    });
  });

const cloudBlocks: readonly BedrockBlock[] = [
  { reasoning: ["I look ", "outside."], signature: "c2lnbmF0dXJl" },
  { toolUseId: "toolu_1", name: "look", input: ['{"far":', "true}"] },
];

for (const form of ["whole", "streamed"] as const)
  test(`${form}: so do those of a model in Amazon's cloud`, async () => {
    const { upstream, chat, hear } = bedrock;
    const said = { blocks: cloudBlocks, stopReason: "tool_use" };
    upstream.replyOnce(
      form === "whole"
        ? reply("application/json", [bedrockReply(said)])
        : reply("application/vnd.amazon.eventstream", bedrockEvents(said)),
    );
    const message =
      form === "whole" ? (await chat(first)).choices[0]?.message : joined(await hear(first));
    upstream.replyOnce(reply("application/json", [bedrockReply(said)]));
    await chat({ ...first, messages: [user, message ?? {}, result] });
    expect(bedrock.asked["messages"]).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          {
            reasoningContent: {
              reasoningText: { text: "I look outside.", signature: "c2lnbmF0dXJl" },
            },
          },
          { toolUse: { toolUseId: "toolu_1", name: "look", input: { far: true } } },
        ],
      },
      { role: "user" },
    ]);
  });

test("thoughts of another vendor, and unsigned ones, are left out", async () => {
  anthropic.upstream.replyOnce(reply("application/json", [anthropicMessage(answer)]));
  const message = {
    role: "assistant",
    content: "Rain.",
    reasoning_content: "I look.",
    reasoning_details: [
      { type: "reasoning.text", format: "other", text: "I look.", signature: "b3RoZXI=" },
    ],
  };
  await anthropic.chat({ ...first, messages: [user, message, user] });
  expect(anthropic.asked["messages"]).toMatchObject([
    { role: "user" },
    { role: "assistant", content: [{ type: "text", text: "Rain." }] },
    { role: "user" },
  ]);
});
