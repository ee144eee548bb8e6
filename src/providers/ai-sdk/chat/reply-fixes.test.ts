import { afterAll, beforeAll, expect, mock, test } from "bun:test";
import { jsonReply } from "../../../../test/fake/http/reply.ts";
import { type Bridge, openBridge } from "../../../../test/providers/bridge.ts";
import { isJsonObject } from "../../../call/chat.ts";
import { isFields } from "../model.ts";
import { replyFixOf } from "./reply-fixes.ts";

/** Stands for a package that is not installed here: as strict with citations as Cohere's was. */
mock.module("@ai-sdk/cohere", () => ({
  createCohere: ({ fetch, baseURL }: { fetch: typeof globalThis.fetch; baseURL: string }) => ({
    languageModel: () => ({
      specificationVersion: "v3",
      provider: "cohere.chat",
      supportedUrls: {},
      doStream: () => Promise.reject(new Error("not asked for")),
      async doGenerate({ abortSignal: signal }: { abortSignal: AbortSignal }) {
        const init = { method: "POST", headers: {}, body: "{}", signal };
        const { message, usage } = await (await fetch(`${baseURL}/chat`, init)).json();
        for (const { sources } of message.citations ?? [])
          if (!sources.every((source: unknown) => isFields(source) && isFields(source["document"])))
            throw Object.assign(new Error("no document"), { name: "AI_TypeValidationError" });
        const { input_tokens: inputTokens, output_tokens: outputTokens } = usage.tokens;
        return {
          content: message.content,
          finishReason: "stop",
          usage: { inputTokens, outputTokens },
        };
      },
    }),
  }),
}));

const reply = {
  id: "r1",
  message: {
    role: "assistant",
    content: [{ type: "text", text: "It is sunny." }],
    citations: [
      {
        start: 6,
        end: 11,
        text: "sunny",
        type: "TEXT_CONTENT",
        sources: [{ type: "tool", id: "look_1:0", tool_output: { content: "Sunny, 22 C" } }],
      },
    ],
  },
  finish_reason: "COMPLETE",
  usage: { tokens: { input_tokens: 33, output_tokens: 6 } },
};

let cohere: Bridge;
beforeAll(async () => {
  cohere = await openBridge({ kind: "ai-sdk", options: { package: "@ai-sdk/cohere" } });
});
afterAll(() => cohere.upstream.stop());

test("an answer of Cohere that cites what a tool gave back is served", async () => {
  cohere.upstream.replyWith(jsonReply({ body: reply }));
  const messages = [{ role: "user", content: "The weather?" }];
  const result = await cohere.chat({ messages, maxOutputTokens: 100, options: {} });
  expect(result.choices[0]?.message["content"]).toBe("It is sunny.");
  expect(result.usage).toMatchObject({ inputTokens: 33, outputTokens: 6 });
});

test("a reply without citations, or that is no JSON, stays as it is", () => {
  const fix = replyFixOf("@ai-sdk/cohere");
  for (const text of ['{"message":{"content":[]}}', '{"citations"', '"citations"'])
    expect(fix?.(text)).toBeUndefined();
  const fixed: unknown = JSON.parse(fix?.(JSON.stringify(reply)) ?? "");
  const { citations: _citations, ...message } = reply.message;
  expect(isJsonObject(fixed) ? fixed : {}).toEqual({ ...reply, message });
});

test("replies of other packages are not touched", () => {
  expect(replyFixOf("@ai-sdk/openai-compatible")).toBeUndefined();
  expect(replyFixOf(undefined)).toBeUndefined();
});
