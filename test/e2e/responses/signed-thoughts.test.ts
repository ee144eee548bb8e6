/** What vendors sign or encrypt survives a tool loop, although clients have only one opaque string. */

import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { httpReply } from "../../fake/http/reply.ts";
import { chatAnswers, chatChunk, chatJson, chatStream, DONE } from "../../fake/recordings.ts";
import {
  type AnthropicBlock,
  anthropicEvents,
  anthropicMessage,
} from "../../fake/vendors/anthropic-messages.ts";
import {
  geminiEvent,
  geminiJson,
  geminiReply,
  geminiStream,
} from "../../fake/vendors/gemini-replies.ts";
import { lastResponse, readResponseEvents } from "../../replies/response-events.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({
  manifest: `
providers:
  anthropic: { kind: anthropic, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  gemini: { kind: gemini, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  router: { kind: openai, vendor: openrouter, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  plain: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  claude: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: anthropic, model: claude-sonnet-4-5 }] }
  gemini: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: gemini, model: gemini-3-pro }] }
  routed: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: router, model: any }] }
  plain: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: plain, model: any }] }
`,
});

const look = { type: "function", name: "look", parameters: { type: "object", properties: {} } };
const question = { role: "user", content: "The weather?" };
const asked = { tools: [look], reasoning: { effort: "low" }, max_output_tokens: 4_096 };
const ask = (model: string, input: readonly unknown[], more: object = {}) =>
  gateway.call("/responses", { model, input, ...asked, ...more });
const sent = () => gateway.upstream.requests.at(-1)?.json as Record<string, JsonObject[]>;

/** The items of a reply and the result of its call, as every client sends them back. */
async function nextInput(reply: Response, isStreamed: boolean): Promise<readonly unknown[]> {
  const response = isStreamed ? lastResponse(await readResponseEvents(reply)) : await reply.json();
  const call = response.output.find(({ type }: JsonObject) => type === "function_call");
  const result = { type: "function_call_output", call_id: call.call_id, output: "rain" };
  return [question, ...response.output, result];
}

const thoughts: readonly AnthropicBlock[] = [
  { type: "thinking", thinking: "First I look.", signature: "c2lnbmVkIDE=" },
  { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
  { type: "text", text: "One moment." },
  { type: "tool_use", id: "toolu_1", name: "look", input: {} },
];
const usage = { input_tokens: 20, output_tokens: 30 };
const claudeStream = (blocks: readonly AnthropicBlock[], stopReason: string) =>
  httpReply({
    headers: { "content-type": "text/event-stream" },
    body: anthropicEvents({ blocks, stopReason, usage }),
    framing: "chunked",
  });
const claudeWhole = (blocks: readonly AnthropicBlock[], stopReason: string) =>
  httpReply({
    headers: { "content-type": "application/json" },
    body: [anthropicMessage({ blocks, stopReason, usage })],
    framing: "length",
  });

for (const isStreamed of [true, false])
  test(`Anthropic gets its signed thoughts back, ${isStreamed ? "streamed" : "whole"}`, async () => {
    const say = isStreamed ? claudeStream : claudeWhole;
    gateway.upstream.replyOnce(say(thoughts, "tool_use"));
    gateway.upstream.replyOnce(say([{ type: "text", text: "Rain." }], "end_turn"));
    const more = { stream: isStreamed };
    const input = await nextInput(await ask("claude", [question], more), isStreamed);
    await (await ask("claude", input, more)).text();
    expect(sent()["messages"]?.[1]?.["content"]).toMatchObject([
      { type: "thinking", thinking: "First I look.", signature: "c2lnbmVkIDE=" },
      { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
      { type: "text", text: "One moment." },
      { type: "tool_use", id: "toolu_1" },
    ]);
  });

const geminiCall = geminiReply({
  parts: [{ functionCall: { name: "look", args: {} }, thoughtSignature: "c2lnbmVk" }],
  finishReason: "STOP",
  usage: { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 },
});
const geminiText = geminiReply({ parts: [{ text: "Rain." }], finishReason: "STOP" });

for (const isStreamed of [true, false])
  test(`Gemini gets the signature of its call back, ${isStreamed ? "streamed" : "whole"}`, async () => {
    const say = (reply: JsonObject) =>
      isStreamed ? geminiStream([geminiEvent(reply)]) : geminiJson(reply);
    gateway.upstream.replyOnce(say(geminiCall));
    gateway.upstream.replyOnce(say(geminiText));
    const more = { stream: isStreamed };
    const input = await nextInput(await ask("gemini", [question], more), isStreamed);
    await (await ask("gemini", input, more)).text();
    expect(sent()["contents"]?.[1]?.["parts"]).toMatchObject([
      { functionCall: { name: "look" }, thoughtSignature: "c2lnbmVk" },
    ]);
  });

test("a compatible vendor that signs gets its details back", async () => {
  const details = [{ type: "reasoning.encrypted", data: "abc", format: "x", index: 0 }];
  const call = {
    index: 0,
    id: "c1",
    type: "function",
    function: { name: "look", arguments: "{}" },
  };
  gateway.upstream.replyOnce(
    chatStream({
      events: [
        chatChunk({ delta: { reasoning: "Hm.", reasoning_details: details } }),
        chatChunk({ delta: { tool_calls: [call] } }),
        chatChunk({ finish: "tool_calls" }),
        DONE,
      ],
    }),
  );
  gateway.upstream.replyOnce(chatAnswers.plain());
  const input = await nextInput(await ask("routed", [question], { stream: true }), true);
  await (await ask("routed", input)).json();
  expect(sent()["messages"]?.[1]).toMatchObject({
    role: "assistant",
    reasoning: "Hm.",
    reasoning_details: details,
    tool_calls: [{ id: "c1" }],
  });
});

describe("thoughts that come as signed details alone", () => {
  const detail = { type: "reasoning.text", index: 0, signature: "s1" };
  const streamed = () => {
    const deltas = ["First ", "this."].map((text) => ({
      reasoning_details: [{ ...detail, text }],
    }));
    const pieces = [...deltas, { content: "Rain." }].map((delta) => chatChunk({ delta }));
    return chatStream({ events: [...pieces, chatChunk({ finish: "stop" }), DONE] });
  };
  const whole = () => {
    const details = [{ ...detail, text: "First this." }];
    const message = { role: "assistant", content: "Rain.", reasoning_details: details };
    return chatJson({ choices: [{ index: 0, message, finish_reason: "stop" }] });
  };
  /** The texts of all summaries. */
  const read = async (isStreamed: boolean, summary: string | undefined) => {
    gateway.upstream.replyOnce(isStreamed ? streamed() : whole());
    const more = { stream: isStreamed, reasoning: { effort: "low", summary } };
    const reply = await ask("routed", [question], more);
    const response = isStreamed
      ? lastResponse(await readResponseEvents(reply))
      : await reply.json();
    expect(JSON.stringify(response.output)).toContain("encrypted_content");
    return response.output.flatMap((item: JsonObject) => item["summary"] ?? []);
  };

  for (const isStreamed of [true, false])
    test(`are readable when a summary was requested, ${isStreamed ? "streamed" : "whole"}`, async () => {
      const text = { type: "summary_text", text: "First this." };
      expect(await read(isStreamed, "auto")).toEqual([text]);
      expect(await read(isStreamed, undefined)).toEqual([]);
    });
});

test("a vendor does not get what another one signed", async () => {
  gateway.upstream.replyOnce(claudeWhole(thoughts, "tool_use"));
  gateway.upstream.replyOnce(chatAnswers.plain());
  const input = await nextInput(await ask("claude", [question]), false);
  await (await ask("plain", input)).json();
  const body = JSON.stringify(sent());
  for (const secret of ["c2lnbmVkIDE=", "ZW5jcnlwdGVk", "svc1."])
    expect(body).not.toContain(secret);
  expect(body).toContain("One moment.");
});

test("Gemini is asked for reasoning when a summary is requested", async () => {
  for (const [summary, expected] of [
    ["auto", true],
    [undefined, undefined],
  ] as const) {
    gateway.upstream.replyOnce(geminiJson(geminiText));
    await (await ask("gemini", [question], { reasoning: { summary } })).json();
    const { generationConfig } = sent() as unknown as { generationConfig: JsonObject };
    const { thinkingConfig } = generationConfig as { thinkingConfig?: JsonObject };
    expect(thinkingConfig?.["includeThoughts"]).toBe(expected);
  }
});
