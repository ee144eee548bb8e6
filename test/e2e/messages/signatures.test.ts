/** Thoughts in the Messages format, on a model of a vendor that signs none. */

import { expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { type Form, forms } from "../../dialects/stage.ts";
import type { Recording } from "../../fake/http/reply.ts";
import { chatChunk, chatJson, chatStream, DONE } from "../../fake/recordings.ts";
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

const called = {
  id: "toolu_1",
  type: "function",
  function: { name: "look", arguments: '{"city":"Oslo"}' },
};
const thought = { reasoning_content: "I look outside." };
const says: Readonly<Record<Form, () => Recording>> = {
  whole: () =>
    chatJson({
      message: { content: null, ...thought, tool_calls: [called] },
      finishReason: "tool_calls",
    }),
  streamed: () =>
    chatStream({
      events: [
        chatChunk({ delta: thought }),
        chatChunk({ delta: { tool_calls: [{ index: 0, ...called }] } }),
        chatChunk({ finish: "tool_calls" }),
        DONE,
      ],
    }),
};

for (const form of forms)
  test(`${form}: thoughts that nobody signed survive a tool call`, async () => {
    const { messages } = anthropicAt(gateway);
    const thinking = { type: "enabled" as const, budget_tokens: 2_000 };
    const options = { ...base, model: "local", tools, thinking };
    gateway.upstream.replyOnce(says[form]());
    const first =
      form === "whole"
        ? await messages.create(options)
        : await messages.stream(options).finalMessage();
    expect(first.stop_reason).toBe("tool_use");
    // Clients send the content back unchanged.
    const turns = [
      ask,
      { role: "assistant" as const, content: first.content as never },
      {
        role: "user" as const,
        content: [{ type: "tool_result" as const, tool_use_id: "toolu_1", content: "rain" }],
      },
    ];
    gateway.upstream.replyOnce(says.whole());
    await messages.create({ ...options, messages: turns });
    expect(JSON.stringify(sent()["messages"])).toContain('"reasoning_content":"I look outside."');
    expect(JSON.stringify(sent())).not.toContain("svc1.");
    // They do not go to a vendor that did not create them.
    gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "Rain." }] }));
    await messages.create({ ...options, model: "claude", messages: turns });
    expect(JSON.stringify(sent())).not.toMatch(/svc1\.|I look outside/);
    expect(sent()).toMatchObject({ thinking: { type: "disabled" } });
  });
