/** Signatures in the Messages format, on models of vendors with signatures of their own. */

import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { httpReply, type Recording } from "../../fake/http/reply.ts";
import { chatChunk, chatJson, chatStream, DONE } from "../../fake/recordings.ts";
import { bedrockEvents, bedrockReply } from "../../fake/vendors/bedrock-converse.ts";
import {
  GEMINI_USAGE,
  geminiEvent,
  geminiJson,
  geminiReply,
  geminiStream,
} from "../../fake/vendors/gemini-replies.ts";
import { anthropicAt, ask, messagesManifest, nativeWhole } from "../../setup/messages-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: messagesManifest });
const sent = (at = -1) => gateway.upstream.requests.at(at)?.json as JsonObject;
const tools = [
  {
    name: "look",
    description: "Looks.",
    input_schema: { type: "object" as const, properties: { city: { type: "string" } } },
  },
];
const base = { max_tokens: 4_000, messages: [ask] };

describe("signatures of vendors survive a tool call", () => {
  const reply = (type: string, body: readonly (string | Uint8Array)[]): Recording =>
    httpReply({ headers: { "content-type": type }, body, framing: "chunked" });
  const cloud = {
    blocks: [
      { reasoning: ["I look ", "outside."], signature: "Y2xvdWQ=" },
      { toolUseId: "toolu_1", name: "look", input: ['{"city":', '"Oslo"}'] },
    ],
    stopReason: "tool_use",
    usage: { inputTokens: 9, outputTokens: 5, totalTokens: 14 },
  };
  const google = [
    { text: "I look outside.", thought: true },
    { functionCall: { name: "look", args: { city: "Oslo" } }, thoughtSignature: "Z29vZ2xl" },
  ];
  const called = {
    id: "toolu_1",
    type: "function",
    function: { name: "look", arguments: '{"city":"Oslo"}' },
  };
  const local = { reasoning_content: "I look outside.", tool_calls: [called] };
  const scenes = {
    "claude-cloud": {
      whole: () => reply("application/json", [bedrockReply(cloud)]),
      streamed: () => reply("application/vnd.amazon.eventstream", bedrockEvents(cloud)),
      expected: (body: JsonObject) => [body["messages"], '"signature":"Y2xvdWQ="'] as const,
    },
    flash: {
      whole: () =>
        geminiJson(geminiReply({ parts: google, finishReason: "STOP", usage: GEMINI_USAGE })),
      streamed: () =>
        geminiStream([
          geminiEvent(geminiReply({ parts: google, finishReason: "STOP", usage: GEMINI_USAGE })),
        ]),
      expected: (body: JsonObject) => [body["contents"], '"thoughtSignature":"Z29vZ2xl"'] as const,
    },
    local: {
      whole: () => chatJson({ message: { content: null, ...local }, finishReason: "tool_calls" }),
      streamed: () =>
        chatStream({
          events: [
            chatChunk({ delta: { reasoning_content: "I look outside." } }),
            chatChunk({ delta: { tool_calls: [{ index: 0, ...called }] } }),
            chatChunk({ finish: "tool_calls" }),
            DONE,
          ],
        }),
      expected: (body: JsonObject) =>
        [body["messages"], '"reasoning_content":"I look outside."'] as const,
    },
  };
  const thinking = { type: "enabled" as const, budget_tokens: 2_000 };

  for (const [model, scene] of Object.entries(scenes))
    for (const form of ["whole", "streamed"] as const)
      test(`${model}, ${form}`, async () => {
        const { messages } = anthropicAt(gateway);
        const options = { ...base, model, tools, thinking };
        gateway.upstream.replyOnce(scene[form]());
        const first =
          form === "whole"
            ? await messages.create(options)
            : await messages.stream(options).finalMessage();
        expect(first.stop_reason).toBe("tool_use");
        const call = first.content.find(({ type }) => type === "tool_use");
        expect(call).toMatchObject({ name: "look", input: { city: "Oslo" } });
        // Clients send the content back unchanged.
        const turns = [
          ask,
          { role: "assistant" as const, content: first.content as never },
          {
            role: "user" as const,
            content: [
              {
                type: "tool_result" as const,
                tool_use_id: call?.type === "tool_use" ? call.id : "",
                content: "rain",
              },
            ],
          },
        ];
        gateway.upstream.replyOnce(scene.whole());
        await messages.create({ ...options, messages: turns });
        const [conversation, signature] = scene.expected(sent());
        expect(JSON.stringify(conversation)).toContain(signature);
        expect(JSON.stringify(sent())).not.toContain("svc1.");
        // It does not go to a vendor that did not create it.
        gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "Rain." }] }));
        await messages.create({ ...options, model: "claude", messages: turns });
        expect(JSON.stringify(sent())).not.toMatch(/svc1\.|Y2xvdWQ=|Z29vZ2xl/);
        expect(sent()).toMatchObject({ thinking: { type: "disabled" } });
      });
});
