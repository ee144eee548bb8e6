import { expect, setDefaultTimeout } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  embed,
  embedMany,
  generateObject,
  generateText,
  isStepCount,
  Output,
  RetryError,
  streamObject,
  streamText,
  type ToolSet,
  tool,
} from "ai";
import { z } from "zod";
import { embeddedChat, embeddedModel, embeddedVector } from "../fake/openai/embedded-model.ts";
import { embeddingReplies } from "../fake/openai/embedding-replies.ts";
import {
  badRequests,
  chatAnswers,
  chatStreams,
  failures,
  rateLimits,
  TOOL_CALL,
  VECTORS,
} from "../fake/recordings.ts";
import { cutAfter } from "../fake/script.ts";
import { fixtureBytes } from "../fixtures/media/fixture.ts";

import { failureOf, openStage, type Stage, sentUpstream, waitsDuring } from "./stage.ts";
import { type Check, clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);
// generateObject is still in use, and says at each call that it is deprecated.
globalThis.AI_SDK_LOG_WARNINGS = false;

const prompt = "Say hello";
const place = z.object({ city: z.string(), unit: z.string() });
const weatherTools = (asked: unknown[]) => ({
  get_weather: tool({
    description: "The weather of a city",
    inputSchema: place,
    execute: async (input) => {
      asked.push(input);
      return "7 degrees";
    },
  }),
});

interface Address {
  readonly baseURL: string;
  readonly apiKey: string;
}
const addressOf = ({ gateway }: Stage): Address => ({
  baseURL: gateway.baseUrl,
  apiKey: gateway.key,
});
const providerAt = (address: Address) =>
  createOpenAICompatible({
    name: "svc",
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...address,
  });
const chatAt = (address: Address) => providerAt(address).chatModel("svc-3-flash");
const textModelAt = (address: Address) => providerAt(address).embeddingModel("svc-embedding-2");

/** Every part of a stream. An error is a part there, and nobody throws it. */
async function partsOf<Tools extends ToolSet>(result: {
  readonly fullStream: ReturnType<typeof streamText<Tools>>["fullStream"];
}) {
  const parts: { readonly type: string; readonly text?: string; readonly error?: unknown }[] = [];
  for await (const part of result.fullStream) parts.push(part);
  return parts;
}
const textOf = (parts: Awaited<ReturnType<typeof partsOf>>, type: string) =>
  parts
    .filter((part) => part.type === type)
    .map(({ text }) => text ?? "")
    .join("");

clientSuite("@ai-sdk/openai-compatible", (check) => {
  const stage = openStage();
  textChecks(check, stage);
  streamChecks(check, stage);
  toolChecks(check, stage);
  objectChecks(check, stage);
  embeddingChecks(check, stage);
  errorChecks(check, stage);
  retryChecks(check, stage);
});

function textChecks(check: Check, stage: Stage): void {
  check("generates text from a reply of the embedded model", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    const result = await generateText({
      model: chatAt(addressOf(stage)),
      prompt,
      maxOutputTokens: 5,
      maxRetries: 0,
    });
    expect(result.text).toBe(embeddedChat.whole.text);
    expect(result.usage.outputTokens).toBe(embeddedChat.whole.usage.completion_tokens);
    expect(result.warnings).toEqual([]);
  });

  check("reads text, reasoning, finish reason and usage of a non-streamed reply", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.reasoning());
    const model = chatAt(addressOf(stage));
    const result = await generateText({ model, instructions: "Be brief.", prompt });
    expect(result.text).toBe("42");
    expect(result.reasoningText).toBe("Six times seven, so forty-two.");
    expect(result.finishReason).toBe("stop");
    expect(result.usage).toMatchObject({ inputTokens: 19, outputTokens: 10, totalTokens: 29 });
    expect(result.usage.inputTokenDetails.cacheReadTokens).toBe(8);
    expect(result.usage.outputTokenDetails.reasoningTokens).toBe(0);
    expect(sentUpstream(stage.gateway)["messages"]).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: prompt },
    ]);
  });

  check("forwards an image part to the model", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.plain());
    const data = fixtureBytes("tiny.png");
    await generateText({
      model: chatAt(addressOf(stage)),
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "file", data, mediaType: "image/png" },
          ],
        },
      ],
    });
    const url = `data:image/png;base64,${Buffer.from(data).toString("base64")}`;
    expect(sentUpstream(stage.gateway)["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url } },
        ],
      },
    ]);
  });
}

function streamChecks(check: Check, stage: Stage): void {
  check("streams a reply of the embedded model, usage included", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    const model = chatAt(addressOf(stage));
    const result = streamText({ model, prompt, maxOutputTokens: 5, maxRetries: 0 });
    const pieces: string[] = [];
    for await (const piece of result.textStream) pieces.push(piece);
    expect(pieces.join("")).toBe(embeddedChat.streamed.text);
    const { completion_tokens: tokens } = embeddedChat.streamed.usage;
    expect((await result.usage).outputTokens).toBe(tokens);
  });

  check("streams reasoning and text without an error part", async () => {
    stage.gateway.upstream.replyWith(chatStreams.reasoning());
    const result = streamText({ model: chatAt(addressOf(stage)), prompt });
    const parts = await partsOf(result);
    expect(parts.filter(({ type }) => type === "error")).toEqual([]);
    expect(textOf(parts, "reasoning-delta")).toBe("Six times seven.");
    expect(textOf(parts, "text-delta")).toBe("42");
    expect(await result.finishReason).toBe("stop");
    expect(await result.usage).toMatchObject({ inputTokens: 19, outputTokens: 10 });
    expect(parts.at(-1)?.type).toBe("finish");
  });

  check("streams unusual upstream replies without an error part", async () => {
    for (const reply of [
      chatStreams.nullErrors(),
      chatStreams.roleInEveryChunk(),
      chatStreams.usageInEveryChunk(),
      chatStreams.commentsAndFields(),
    ]) {
      stage.gateway.upstream.replyOnce(reply);
      const result = streamText({ model: chatAt(addressOf(stage)), prompt });
      const parts = await partsOf(result);
      expect(parts.filter(({ type }) => type === "error")).toEqual([]);
      expect(textOf(parts, "text-delta")).toBe("Hello! How can I help?");
      expect(await result.usage).toMatchObject({ inputTokens: 19, outputTokens: 10 });
    }
  });

  check("gets an error part when a stream breaks", async () => {
    const seen = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    const cut = cutAfter({ recording, parts: 3, by: "close", until: seen.promise });
    stage.gateway.upstream.replyWith(cut);
    const model = chatAt(addressOf(stage));
    const result = streamText({
      model,
      prompt,
      onChunk: ({ chunk }) => {
        if (chunk.type === "text-delta" && chunk.text === "!") seen.resolve();
      },
      onError: () => {},
    });
    const parts = await partsOf(result);
    expect(textOf(parts, "text-delta")).toBe("Hello!");
    const errors = parts.filter(({ type }) => type === "error");
    expect(errors).toMatchObject([{ error: { code: "upstream_error" } }]);
    expect(stage.gateway.upstream.requests.length).toBe(1);
  });
}

function toolChecks(check: Check, stage: Stage): void {
  const expectRound = (asked: readonly unknown[]) => {
    expect(asked).toEqual([{ city: "Zürich", unit: "celsius" }]);
    expect(sentUpstream(stage.gateway, 0)["tools"]).toMatchObject([
      { type: "function", function: { name: "get_weather", parameters: { type: "object" } } },
    ]);
    expect(sentUpstream(stage.gateway, 1)["messages"]).toMatchObject([
      { role: "user", content: prompt },
      { role: "assistant", tool_calls: [{ id: TOOL_CALL.id, type: "function" }] },
      { role: "tool", tool_call_id: TOOL_CALL.id, content: "7 degrees" },
    ]);
    expect(stage.gateway.upstream.requests.length).toBe(2);
  };

  check("runs tools in several steps until the final reply", async () => {
    stage.gateway.upstream.replyOnce(chatAnswers.toolCall());
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    const asked: unknown[] = [];
    const result = await generateText({
      model: chatAt(addressOf(stage)),
      prompt,
      tools: weatherTools(asked),
      stopWhen: isStepCount(3),
    });
    expect(result.text).toStartWith("Hello!");
    expect(result.steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
    expectRound(asked);
  });

  check("runs streamed tool calls in several steps until the final reply", async () => {
    stage.gateway.upstream.replyOnce(chatStreams.toolCall());
    stage.gateway.upstream.replyOnce(chatStreams.openai());
    const asked: unknown[] = [];
    const result = streamText({
      model: chatAt(addressOf(stage)),
      prompt,
      tools: weatherTools(asked),
      stopWhen: isStepCount(3),
    });
    const parts = await partsOf(result);
    expect(parts.filter(({ type }) => /error/.test(type))).toEqual([]);
    expect(await result.text).toStartWith("Hello!");
    expectRound(asked);
  });

  check("collects parallel tool calls from one stream", async () => {
    stage.gateway.upstream.replyOnce(chatStreams.twoToolCalls());
    const place = z.object({ city: z.string() });
    const result = streamText({
      model: chatAt(addressOf(stage)),
      prompt,
      tools: { get_weather: tool({ inputSchema: place }) },
    });
    expect((await result.toolCalls).map(({ input }) => input as object)).toEqual([
      { city: "Bern" },
      { city: "Oslo" },
    ]);
  });
}

function objectChecks(check: Check, stage: Stage): void {
  const wanted = { city: "Bern", unit: "celsius" };
  const pieces = ['{"city":"Be', 'rn","unit":', '"celsius"}'];
  const expectSchema = () =>
    expect(sentUpstream(stage.gateway)["response_format"]).toMatchObject({
      type: "json_schema",
      json_schema: { schema: { type: "object", required: ["city", "unit"] } },
    });

  check("generates an object that matches a zod schema", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.plain({ text: JSON.stringify(wanted) }));
    const model = chatAt(addressOf(stage));
    expect((await generateObject({ model, prompt, schema: place })).object).toEqual(wanted);
    expectSchema();
    const output = Output.object({ schema: place });
    expect((await generateText({ model, prompt, output })).output).toEqual(wanted);
    expectSchema();
  });

  check("streams an object that matches a zod schema", async () => {
    stage.gateway.upstream.replyWith(chatStreams.openai({ pieces }));
    const model = chatAt(addressOf(stage));
    const whole = streamObject({ model, prompt, schema: place });
    const cities: unknown[] = [];
    for await (const { city } of whole.partialObjectStream) cities.push(city);
    expect(cities).toContain("Be");
    expect(await whole.object).toEqual(wanted);
    expectSchema();
    const result = streamText({ model, prompt, output: Output.object({ schema: place }) });
    expect(await result.output).toEqual(wanted);
    expectSchema();
  });
}

function embeddingChecks(check: Check, stage: Stage): void {
  check("gets the embedded model's vector of one value, in the size it asks for", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    const model = textModelAt(addressOf(stage));
    const value = "A cat sleeps.";
    const whole = await embed({ model, value });
    expect(whole.embedding).toHaveLength(3072);
    expect(whole.embedding.map(Math.fround)).toEqual(embeddedVector(value));
    expect(whole.usage.tokens).toBe(6);
    const small = await embed({ model, value, dimensions: 768 });
    expect(small.embedding).toHaveLength(768);
    expect(small.embedding.map(Math.fround)).toEqual(embeddedVector(value, 768));
  });

  check("embeds many values in order", async () => {
    stage.gateway.upstream.replyWith(embeddingReplies.base64());
    const values = ["one", "two", "three"];
    const { embeddings, usage } = await embedMany({ model: textModelAt(addressOf(stage)), values });
    expect(embeddings).toEqual(VECTORS.map((vector) => [...vector]));
    expect(usage.tokens).toBe(9);
    expect(sentUpstream(stage.gateway)["input"]).toEqual(values);
  });
}

function errorChecks(check: Check, stage: Stage): void {
  const failing = async (model: ReturnType<typeof chatAt>, more: object = {}) => {
    const failure = await failureOf(generateText({ model, prompt, maxRetries: 0, ...more }));
    if (!APICallError.isInstance(failure)) throw failure;
    return failure;
  };

  check("throws APICallError with status, message and data, and knows what to retry", async () => {
    const { upstream } = stage.gateway;
    const good = chatAt(addressOf(stage));
    const wrongKey = chatAt({ ...addressOf(stage), apiKey: "sk-svc-wrong" });
    const noModel = providerAt(addressOf(stage)).chatModel("no-such-model");
    upstream.replyOnce(rateLimits.seconds(7));
    upstream.replyOnce(failures.internal());
    upstream.replyOnce(failures.unavailable());
    upstream.replyOnce(badRequests.contextTooLong());
    for (const [failure, statusCode, code, isRetryable] of [
      [await failing(wrongKey), 401, "invalid_api_key", false],
      [await failing(noModel), 403, "model_not_allowed", false],
      [await failing(good, { temperature: 3 }), 400, "invalid_request", false],
      [await failing(good), 429, "upstream_rate_limited", true],
      [await failing(good), 502, "upstream_error", true],
      [await failing(good), 503, "upstream_overloaded", true],
      [await failing(good), 400, "context_length_exceeded", false],
    ] as const) {
      expect(failure).toMatchObject({ statusCode, isRetryable, data: { error: { code } } });
      const { error } = JSON.parse(failure.responseBody ?? "");
      expect(failure.message).toBe(error.message);
      expect(failure.responseHeaders?.["x-request-id"]).toMatch(/^req_\w+$/);
    }
  });

  check("gets the error of a rejected stream as an error part", async () => {
    const model = chatAt({ ...addressOf(stage), apiKey: "sk-svc-wrong" });
    const parts = await partsOf(streamText({ model, prompt, onError: () => {} }));
    const [refusal] = parts.filter(({ type }) => type === "error");
    expect(refusal?.error).toMatchObject({ statusCode: 401, isRetryable: false });
  });
}

function retryChecks(check: Check, stage: Stage): void {
  check("retries after the wait that the gateway requests", async () => {
    stage.gateway.upstream.replyOnce(rateLimits.milliseconds(1_039));
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    const model = chatAt(addressOf(stage));
    const waits = await waitsDuring(async () => {
      expect((await generateText({ model, prompt, maxRetries: 1 })).text).toStartWith("Hello!");
    });
    expect(waits).toContain(1_039);
    expect(stage.gateway.upstream.requests.length).toBe(2);
  });

  check("gives up after its last retry, and never retries permanent errors", async () => {
    stage.gateway.upstream.replyWith(rateLimits.milliseconds(1_000));
    const model = chatAt(addressOf(stage));
    const tired = await failureOf(generateText({ model, prompt, maxRetries: 1 }));
    expect(RetryError.isInstance(tired)).toBe(true);
    expect(tired).toMatchObject({ reason: "maxRetriesExceeded" });
    expect(stage.gateway.upstream.requests.length).toBe(2);
    stage.gateway.upstream.reset();
    stage.gateway.upstream.replyWith(badRequests.plain());
    const refused = await failureOf(generateText({ model, prompt, maxRetries: 2 }));
    expect(APICallError.isInstance(refused)).toBe(true);
    expect(stage.gateway.upstream.requests.length).toBe(1);
  });
}
