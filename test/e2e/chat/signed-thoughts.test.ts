/** Signed thoughts in streams, as the helpers of the official SDKs put them together. */

import { expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { chatDriver } from "../../dialects/drivers/chat.ts";
import { eventReply } from "../../fake/http/reply.ts";
import { type AnthropicBlock, anthropicEvents } from "../../fake/vendors/anthropic-messages.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({
  manifest: `
providers:
  vendor: { kind: anthropic, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  router: { kind: openai, vendor: openrouter, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  routed: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: router, model: any }] }
  thinker: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: vendor, model: claude-sonnet-4-5 }] }
`,
});

const usage = { input_tokens: 20, output_tokens: 30 };
const saying = (blocks: readonly AnthropicBlock[], stopReason: string) =>
  eventReply(anthropicEvents({ blocks, stopReason, usage }));
const thoughts: readonly AnthropicBlock[] = [
  { type: "thinking", thinking: "First I look.", signature: "c2lnbmVkIDE=" },
  { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
  { type: "text", text: "One moment." },
  { type: "thinking", thinking: "Then I think.", signature: "c2lnbmVkIDI=" },
];
const called: AnthropicBlock = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
const look = { name: "look", parameters: { type: "object", properties: {} } };
const question = {
  model: "thinker",
  messages: [{ role: "user" as const, content: "The weather?" }],
  max_tokens: 4_096,
  reasoning_effort: "low" as const,
};
const expected = [
  { type: "reasoning.text", text: "First I look.", signature: "c2lnbmVkIDE=", index: 0 },
  { type: "reasoning.encrypted", data: "ZW5jcnlwdGVk", index: 1 },
  { type: "reasoning.text", text: "Then I think.", signature: "c2lnbmVkIDI=", index: 2 },
];

test("the stream helper of the Node SDK keeps every signed thought, which can be sent back, and the vendor gets every signed thought", async () => {
  gateway.upstream.replyOnce(saying([...thoughts, called], "tool_use"));
  gateway.upstream.replyWith(saying([{ type: "text", text: "Rain." }], "end_turn"));
  const { completions } = gateway.client().chat;
  const tools = [{ type: "function" as const, function: look }];
  const first = completions.stream({ ...question, tools });
  const message = (await first.finalChatCompletion()).choices[0]?.message;
  if (message === undefined) throw new Error("no message");
  expect(Reflect.get(message, "reasoning_details")).toMatchObject(expected);
  const result = { role: "tool" as const, tool_call_id: "toolu_1", content: "rain" };
  const messages = [...question.messages, message, result];
  const second = completions.stream({ ...question, tools, messages });
  expect(await second.finalContent()).toBe("Rain.");
  const sent = gateway.upstream.requests.at(-1)?.json as { readonly messages: JsonObject[] };
  expect(sent.messages[1]?.["content"]).toMatchObject([
    { type: "thinking", thinking: "First I look.", signature: "c2lnbmVkIDE=" },
    { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
    { type: "thinking", thinking: "Then I think.", signature: "c2lnbmVkIDI=" },
    { type: "text", text: "One moment." },
    { type: "tool_use", id: "toolu_1" },
  ]);
});

test("deltas joined as the Python SDK joins them give every signed thought once", async () => {
  gateway.upstream.replyWith(saying([...thoughts, called], "tool_use"));
  const streamed = { stream: true, stream_options: { include_usage: true } };
  const reply = await gateway.call("/chat/completions", { ...question, ...streamed });
  expect(chatDriver.fromStream(await reply.text()).echo).toMatchObject({
    reasoning_details: expected,
    reasoning_content: "First I look.Then I think.",
  });
});

test("a compatible vendor's pieces of signed thoughts are put together for the helper", async () => {
  const piece = (details: readonly object[], finish: string | null = null) => ({
    choices: [
      { index: 0, delta: { content: "", reasoning_details: details }, finish_reason: finish },
    ],
  });
  const text = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };
  const sealed = { type: "reasoning.encrypted", data: "ZW5j", id: "rs_1", index: 1 };
  const events = [
    piece([{ ...text, text: "First " }]),
    piece([{ ...text, text: "I look." }]),
    piece([{ ...text, signature: "c2lnbmVk" }]),
    piece([sealed]),
    { choices: [{ index: 0, delta: { content: "Rain." }, finish_reason: "stop" }] },
    { choices: [], usage: { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50 } },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  gateway.upstream.replyWith(eventReply([...events, "data: [DONE]\n\n"]));
  const { completions } = gateway.client().chat;
  const messages = [{ role: "user" as const, content: "The weather?" }];
  const stream = completions.stream({ model: "routed", messages });
  const [choice] = (await stream.finalChatCompletion()).choices;
  expect(choice?.message.content).toBe("Rain.");
  expect(Reflect.get(choice?.message ?? {}, "reasoning_details")).toEqual([
    { ...text, text: "First I look.", signature: "c2lnbmVk" },
    sealed,
  ]);
});
