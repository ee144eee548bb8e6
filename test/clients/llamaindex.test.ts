import { expect, setDefaultTimeout } from "bun:test";
import type { ChatMessage, ToolCallLLMMessageOptions } from "@llamaindex/core/llms";
import { FunctionTool } from "@llamaindex/core/tools";
import { OpenAI, OpenAIEmbedding } from "@llamaindex/openai";
import { z } from "zod";
import { embeddedChat, embeddedModel, embeddedVector } from "../fake/openai/embedded-model.ts";
import {
  chatAnswers,
  chatStreams,
  embeddingReplies,
  rateLimits,
  TOOL_CALL,
  VECTORS,
} from "../fake/recordings.ts";
import { fixtureBytes } from "../fixtures/media/fixture.ts";

import { failureOf, openStage, type Stage, sentUpstream, waitsDuring } from "./stage.ts";
import { type Check, clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);

type Message = ChatMessage<ToolCallLLMMessageOptions>;
const messages: Message[] = [{ role: "user", content: "Say hello" }];
const weather = FunctionTool.from(({ city }: { city: string }) => `7 degrees in ${city}`, {
  name: "get_weather",
  description: "The weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  },
});

const chatAt = ({ gateway }: Stage, options: ConstructorParameters<typeof OpenAI>[0] = {}) =>
  new OpenAI({
    model: "svc-3-flash",
    apiKey: gateway.key,
    baseURL: gateway.baseUrl,
    maxRetries: 0,
    ...options,
  });

async function partsOf<Part>(stream: AsyncIterable<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

clientSuite("@llamaindex/openai", (check) => {
  const stage = openStage();
  chatChecks(check, stage);
  toolChecks(check, stage);
  embeddingChecks(check, stage);
  errorChecks(check, stage);
});

function chatChecks(check: Check, stage: Stage): void {
  check("reads replies of the embedded model, whole and streamed", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    const chat = chatAt(stage, { maxTokens: 5 });
    const { message } = await chat.chat({ messages });
    expect(message.role).toBe("assistant");
    expect(message.content).toBe(embeddedChat.whole.text);
    const parts = await partsOf(await chat.chat({ messages, stream: true }));
    expect(parts.map(({ delta }) => delta).join("")).toBe(embeddedChat.streamed.text);
  });

  check("sends the conversation and reads the reply, streamed or not", async () => {
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    stage.gateway.upstream.replyOnce(chatStreams.openai());
    const asked: Message[] = [{ role: "system", content: "Be brief." }, ...messages];
    const chat = chatAt(stage, { maxTokens: 50 });
    const { message, raw } = await chat.chat({ messages: asked });
    expect(message.content).toBe("Hello! How can I help you today?");
    expect(raw).toMatchObject({ usage: { prompt_tokens: 19, completion_tokens: 10 } });
    const parts = await partsOf(await chat.chat({ messages: asked, stream: true }));
    expect(parts.map(({ delta }) => delta).join("")).toBe("Hello! How can I help?");
    for (const at of [0, 1])
      expect(sentUpstream(stage.gateway, at)).toMatchObject({
        messages: asked,
        temperature: 0.1,
        top_p: 1,
        max_tokens: 50,
      });
  });

  check("gets the usage of a stream when requested", async () => {
    stage.gateway.upstream.replyWith(chatStreams.openai());
    const additionalChatOptions = { stream_options: { include_usage: true } };
    const chat = chatAt(stage, { additionalChatOptions });
    const parts = await partsOf(await chat.chat({ messages, stream: true }));
    expect(parts.at(-1)?.raw).toMatchObject({ usage: { completion_tokens: 10 } });
  });

  check("forwards images unchanged", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.plain());
    const url = `data:image/png;base64,${Buffer.from(fixtureBytes("tiny.png")).toString("base64")}`;
    const content = [
      { type: "text" as const, text: "What is this?" },
      { type: "image_url" as const, image_url: { url } },
    ];
    await chatAt(stage).chat({ messages: [{ role: "user", content }] });
    expect(sentUpstream(stage.gateway)["messages"]).toEqual([{ role: "user", content }]);
  });

  check("gets a reply that matches a zod schema", async () => {
    const wanted = { city: "Bern" };
    stage.gateway.upstream.replyWith(chatAnswers.plain({ text: JSON.stringify(wanted) }));
    const responseFormat = z.object({ city: z.string() });
    const { message } = await chatAt(stage).chat({ messages, responseFormat });
    expect(JSON.parse(String(message.content))).toEqual(wanted);
    expect(sentUpstream(stage.gateway)["response_format"]).toMatchObject({
      type: "json_schema",
      json_schema: { schema: { type: "object", required: ["city"] } },
    });
  });
}

function toolChecks(check: Check, stage: Stage): void {
  check("completes a round of tool call and reply", async () => {
    stage.gateway.upstream.replyOnce(chatAnswers.toolCall());
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    const chat = chatAt(stage);
    const { message } = await chat.chat({ messages, tools: [weather] });
    const [call] = message.options && "toolCall" in message.options ? message.options.toolCall : [];
    expect(call).toEqual({
      id: TOOL_CALL.id,
      name: "get_weather",
      input: TOOL_CALL.function.arguments,
    });
    const result = String(await weather.call(JSON.parse(String(call?.input))));
    const toolResult = { id: call?.id ?? "", result, isError: false };
    const told: Message = { role: "user", content: result, options: { toolResult } };
    const answer = await chat.chat({ messages: [...messages, message, told], tools: [weather] });
    expect(answer.message.content).toStartWith("Hello!");
    expect(sentUpstream(stage.gateway, 0)["tools"]).toMatchObject([
      {
        type: "function",
        function: { name: "get_weather", parameters: { required: ["city"] } },
      },
    ]);
    expect(sentUpstream(stage.gateway, 1)["messages"]).toMatchObject([
      ...messages,
      { role: "assistant", tool_calls: [TOOL_CALL] },
      { role: "tool", tool_call_id: TOOL_CALL.id, content: "7 degrees in Zürich" },
    ]);
  });

  check("reads a streamed tool call", async () => {
    stage.gateway.upstream.replyWith(chatStreams.toolCall());
    const stream = await chatAt(stage).chat({ messages, tools: [weather], stream: true });
    const { options } = (await partsOf(stream)).at(-1) ?? {};
    expect(options as object).toEqual({
      toolCall: [
        { id: TOOL_CALL.id, name: "get_weather", input: { city: "Zürich", unit: "celsius" } },
      ],
    });
  });
}

function embeddingChecks(check: Check, stage: Stage): void {
  const embeddingAt = (options: { readonly dimensions?: number } = {}) => {
    const { key: apiKey, baseUrl: baseURL } = stage.gateway;
    const model = "svc-embedding-2";
    return new OpenAIEmbedding({ model, apiKey, baseURL, maxRetries: 0, ...options });
  };

  check("gets the embedded model's vector of a text, in the size it asks for", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    const text = "A cat sleeps.";
    const whole = await embeddingAt().getTextEmbedding(text);
    expect(whole).toHaveLength(3072);
    expect(whole.map(Math.fround)).toEqual(embeddedVector(text));
    const small = await embeddingAt({ dimensions: 768 }).getTextEmbedding(text);
    expect(small).toHaveLength(768);
    expect(small.map(Math.fround)).toEqual(embeddedVector(text, 768));
  });

  check("gets the vectors of several texts in order", async () => {
    stage.gateway.upstream.replyWith(embeddingReplies.outOfOrder());
    const vectors = await embeddingAt().getTextEmbeddings(["one", "two", "three"]);
    expect(vectors).toEqual(VECTORS.map((vector) => [...vector]));
  });
}

function errorChecks(check: Check, stage: Stage): void {
  check("reports an invalid key and a forbidden model by status and code", async () => {
    const wrongKey = chatAt(stage, { apiKey: "sk-svc-wrong", maxRetries: 10 });
    expect(await failureOf(wrongKey.chat({ messages }))).toMatchObject({
      status: 401,
      code: "invalid_api_key",
    });
    const noModel = chatAt(stage, { model: "no-such-model", maxRetries: 10 });
    expect(await failureOf(noModel.chat({ messages }))).toMatchObject({
      status: 403,
      code: "model_not_allowed",
    });
  });

  check("retries after the wait that the gateway requests", async () => {
    stage.gateway.upstream.replyOnce(rateLimits.milliseconds(1_041));
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    const waits = await waitsDuring(async () => {
      const { message } = await chatAt(stage, { maxRetries: 10 }).chat({ messages });
      expect(message.content).toStartWith("Hello!");
    });
    expect(waits).toContain(1_041);
    expect(stage.gateway.upstream.requests.length).toBe(2);
  });
}
