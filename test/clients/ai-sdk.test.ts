import { expect, setDefaultTimeout } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  embed,
  embedMany,
  generateObject,
  generateText,
  isStepCount,
  type LanguageModel,
  Output,
  RetryError,
  streamObject,
  streamText,
  type ToolSet,
  tool,
} from "ai";
import { z } from "zod";
import { answerEvents, callEvents, responseEvents } from "../fake/openai/responses.ts";
import { badRequests, chatStreams, rateLimits } from "../fake/recordings.ts";
import { cutAfter } from "../fake/script.ts";
import { useTestGateway } from "../setup/use-gateway.ts";
import {
  type Asked,
  type ChatClient,
  chatClientChecks,
  prompt,
  type Said,
  weatherTool,
} from "./chat-client.ts";
import { failureOf, nativeManifest, openStage, type Stage, sentUpstream } from "./stage.ts";
import { type Check, clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);
// generateObject is still in use, and says at each call that it is deprecated.
globalThis.AI_SDK_LOG_WARNINGS = false;

const place = z.object({ city: z.string(), unit: z.string() });

const providerAt = ({ gateway }: Stage, apiKey = gateway.key) =>
  createOpenAICompatible({
    name: "svc",
    includeUsage: true,
    supportsStructuredOutputs: true,
    baseURL: gateway.baseUrl,
    apiKey,
  });
const chatAt = (stage: Stage, { apiKey, model = "svc-3-flash" }: Asked = {}) =>
  providerAt(stage, apiKey).chatModel(model);

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

/** The AI SDK on the gateway, with any of its providers. */
const clientOf = (stage: Stage, modelWith: (asked: Asked) => LanguageModel): ChatClient => ({
  ask: (asked) => ask(modelWith(asked), asked),
  readsReasoning: true,
  askAbout: (url) =>
    generateText({
      model: modelWith({}),
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "file", data: url.replace(/^.*,/, ""), mediaType: "image/png" },
          ],
        },
      ],
    }),
  async useTool({ stream, calls }) {
    const { name, description } = weatherTool;
    const execute = async (input: unknown) => {
      calls.push(input);
      return "7 degrees";
    };
    const tools = { [name]: tool({ description, inputSchema: place, execute }) };
    const call = {
      model: modelWith({}),
      prompt,
      tools,
      stopWhen: isStepCount(3),
      // Otherwise Responses has ids in place of items, which only a gateway that stores knows.
      providerOptions: { openai: { store: false } },
    };
    if (stream) {
      const result = streamText(call);
      expect((await partsOf(result)).filter(({ type }) => /error/.test(type))).toEqual([]);
      return result.text;
    }
    const { text, steps } = await generateText(call);
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
    return text;
  },
  async collectCalls() {
    const { toolCalls } = streamText({
      model: modelWith({}),
      prompt,
      tools: { get_weather: tool({ inputSchema: z.object({ city: z.string() }) }) },
    });
    return (await toolCalls).map(({ toolCallId: id, input }) => ({ id, arguments: input }));
  },
  place: (stream) => placeOf(modelWith({}), stream),
  streamsPlace: true,
  async embed(texts, dimensions) {
    const model = providerAt(stage).embeddingModel("svc-embedding-2");
    const size = dimensions === undefined ? {} : { dimensions };
    const [value, ...others] = texts;
    if (value === undefined || others.length > 0)
      return (await embedMany({ model, values: [...texts], ...size })).embeddings;
    const { embedding, usage } = await embed({ model, value, ...size });
    expect(usage.tokens).toBe(6);
    return [embedding];
  },
  refusal(failure) {
    if (!APICallError.isInstance(failure)) throw failure;
    const { error } = JSON.parse(failure.responseBody ?? "");
    expect(failure).toMatchObject({ data: { error: { code: error.code } } });
    expect(failure.message).toBe(error.message);
    expect(failure.responseHeaders?.["x-request-id"]).toMatch(/^req_\w+$/);
    expect(failure.isRetryable).toBe((failure.statusCode ?? 0) >= 429);
    return { status: failure.statusCode, code: error.code };
  },
  obeysHints: true,
});

async function ask(model: LanguageModel, asked: Asked): Promise<Said> {
  const { system, maxTokens, temperature, retries = 0 } = asked;
  const call = {
    model,
    prompt,
    maxRetries: retries,
    ...(system === undefined ? {} : { instructions: system }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
  };
  const result = asked.stream === true ? streamText(call) : await generateText(call);
  if ("fullStream" in result) {
    const parts = await partsOf(result);
    expect(parts.filter(({ type }) => type === "error")).toEqual([]);
    expect(parts.at(-1)?.type).toBe("finish");
  }
  const { inputTokens, outputTokens, inputTokenDetails } = await result.usage;
  expect(await result.warnings).toEqual([]);
  return {
    text: await result.text,
    reasoning: await result.reasoningText,
    finish: await result.finishReason,
    usage: {
      input: inputTokens,
      output: outputTokens,
      cached: inputTokenDetails.cacheReadTokens,
    },
  };
}

async function placeOf(model: LanguageModel, stream: boolean): Promise<unknown> {
  const output = Output.object({ schema: place });
  if (!stream) {
    const { object } = await generateObject({ model, prompt, schema: place });
    expect((await generateText({ model, prompt, output })).output).toEqual(object);
    return object;
  }
  const whole = streamObject({ model, prompt, schema: place });
  const cities: unknown[] = [];
  for await (const { city } of whole.partialObjectStream) cities.push(city);
  expect(cities).toContain("Be");
  expect(await streamText({ model, prompt, output }).output).toEqual(await whole.object);
  return whole.object;
}

clientSuite("@ai-sdk/openai-compatible", (check) => {
  const stage = openStage();
  chatClientChecks(
    check,
    stage,
    clientOf(stage, (asked) => chatAt(stage, asked)),
  );
  streamChecks(check, stage);
  errorChecks(check, stage);
});

clientSuite("@ai-sdk/openai", (check) => {
  const stage = { gateway: useTestGateway({ manifest: nativeManifest }) };
  const at = (id: string, apiKey = stage.gateway.key) =>
    createOpenAI({ baseURL: stage.gateway.baseUrl, apiKey })(id);
  const {
    embed: _,
    askAbout: __,
    ...client
  } = clientOf(stage, ({ model = "svc-3-flash", apiKey }) => at(model, apiKey));
  chatClientChecks(check, stage, client);
  vendorChecks(check, stage, at);
});

clientSuite("@ai-sdk/anthropic", (check) => {
  const stage = openStage();
  const {
    embed: _,
    place: __,
    // It lowers a temperature that is too high by itself.
    refusal: ___,
    ...client
  } = clientOf(stage, ({ model = "svc-3-flash", apiKey = stage.gateway.key }) =>
    createAnthropic({ baseURL: stage.gateway.baseUrl, apiKey })(model),
  );
  chatClientChecks(check, stage, {
    ...client,
    // Of a model that it does not know, it wants to be told how long a reply may be.
    ask: (asked) => client.ask({ maxTokens: 100, ...asked }),
    sendsParts: true,
    returnsThoughts: true,
  });
});

/** What only OpenAI's own models say. */
function vendorChecks(check: Check, stage: Stage, at: (id: string) => LanguageModel): void {
  check("streams text and reasoning of a native model", async () => {
    stage.gateway.upstream.replyOnce(responseEvents(answerEvents));
    const result = streamText({ model: at("gpt"), prompt, maxRetries: 0 });
    expect(await result.text).toBe('It is "7°".');
    expect(await result.finishReason).toBe("stop");
    expect((await result.reasoningText)?.length).toBeGreaterThan(0);
  });

  check("returns what the vendor encrypted in a tool loop", async () => {
    stage.gateway.upstream.replyOnce(responseEvents(callEvents));
    stage.gateway.upstream.replyOnce(responseEvents(answerEvents));
    const loose = tool({ inputSchema: z.object({ city: z.string() }), execute: async () => "7" });
    await streamText({
      model: at("gpt"),
      prompt,
      tools: { get_weather: loose },
      providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
      stopWhen: isStepCount(2),
    }).text;
    expect(JSON.stringify(sentUpstream(stage.gateway)["input"])).toContain("gAAAAABoISQ24");
  });
}

function streamChecks(check: Check, stage: Stage): void {
  check("streams unusual upstream replies without an error part", async () => {
    for (const reply of [
      chatStreams.nullErrors(),
      chatStreams.roleInEveryChunk(),
      chatStreams.usageInEveryChunk(),
      chatStreams.commentsAndFields(),
    ]) {
      stage.gateway.upstream.replyOnce(reply);
      const result = streamText({ model: chatAt(stage), prompt });
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
    const model = chatAt(stage);
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

function errorChecks(check: Check, stage: Stage): void {
  check("gets the error of a rejected stream as an error part", async () => {
    const model = chatAt(stage, { apiKey: "sk-svc-wrong" });
    const parts = await partsOf(streamText({ model, prompt, onError: () => {} }));
    const [refusal] = parts.filter(({ type }) => type === "error");
    expect(refusal?.error).toMatchObject({ statusCode: 401, isRetryable: false });
  });

  check("gives up after its last retry, and never retries permanent errors", async () => {
    stage.gateway.upstream.replyWith(rateLimits.milliseconds(1_000));
    const model = chatAt(stage);
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
