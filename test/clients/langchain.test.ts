import { expect, setDefaultTimeout } from "bun:test";
import { ChatAnthropic } from "@langchain/anthropic";
import { ContextOverflowError } from "@langchain/core/errors";
import {
  HumanMessage,
  SystemMessage,
  type ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { z } from "zod";
import { chatAnswers, embeddingsReply, failures, rateLimits } from "../fake/recordings.ts";
import {
  type Asked,
  type ChatClient,
  chatClientChecks,
  prompt,
  weatherTool,
} from "./chat-client.ts";
import { collect, failureOf, openStage, type Stage, sentUpstream } from "./stage.ts";
import { type Check, clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);

const place = z.object({ city: z.string(), unit: z.string() });

type ChatOptions = ConstructorParameters<typeof ChatOpenAI>[0] & object;

const chatAt = ({ gateway }: Stage, options: Partial<ChatOptions> = {}) =>
  new ChatOpenAI({
    model: "svc-3-flash",
    apiKey: gateway.key,
    configuration: { baseURL: gateway.baseUrl },
    maxRetries: 0,
    ...options,
  });

const embeddingsAt = (
  { gateway }: Stage,
  options: Partial<ConstructorParameters<typeof OpenAIEmbeddings>[0]> = {},
) =>
  new OpenAIEmbeddings({
    model: "svc-embedding-2",
    apiKey: gateway.key,
    configuration: { baseURL: gateway.baseUrl },
    maxRetries: 0,
    ...options,
  });

const usageOf = (usage: UsageMetadata | undefined) => ({
  input: usage?.input_tokens,
  output: usage?.output_tokens,
  cached: usage?.input_token_details?.cache_read,
});

/** LangChain on the gateway, with any of its chat models. */
const clientOf = (stage: Stage, chatWith: (asked?: Asked) => ChatOpenAI | ChatAnthropic) =>
  ({
    async ask({ stream, system, until, ...asked }) {
      const chat = chatWith(asked);
      const messages = [
        ...(system === undefined ? [] : [new SystemMessage(system)]),
        new HumanMessage(prompt),
      ];
      const leave = new AbortController();
      const { signal } = leave;
      const message =
        stream === true
          ? await collect(await chat.stream(messages, { signal }), ({ text }) => {
              if (text === until) leave.abort();
            })
          : await chat.invoke(messages);
      return {
        text: message.text,
        finish: message.response_metadata["finish_reason"] as string | undefined,
        usage: usageOf(message.usage_metadata),
      };
    },
    canLeave: true,
    askAbout: (url) =>
      chatWith().invoke([
        new HumanMessage({
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url } },
          ],
        }),
      ]),
    async useTool({ stream, calls }) {
      const { name, description } = weatherTool;
      const run = (input: unknown) => {
        calls.push(input);
        return "7 degrees";
      };
      const weather = tool(run, { name, description, schema: place });
      const chat = chatWith().bindTools([weather]);
      const human = new HumanMessage(prompt);
      const ask = async (...messages: Parameters<typeof chat.invoke>[0] & unknown[]) =>
        stream ? collect(await chat.stream(messages)) : chat.invoke(messages);
      const called = await ask(human);
      const results: ToolMessage[] = [];
      for (const call of called.tool_calls ?? [])
        results.push(await weather.invoke({ ...call, type: "tool_call" }));
      return (await ask(human, called, ...results)).text;
    },
    async collectCalls() {
      const { tool_calls: calls = [] } = await collect(await chatWith().stream(prompt));
      return calls.map(({ id, args }) => ({ id, arguments: args }));
    },
    place: () =>
      chatWith()
        .withStructuredOutput(place, { method: "jsonSchema", name: "place" })
        .invoke(prompt),
    async embed(texts, dimensions) {
      const model = embeddingsAt(stage, dimensions === undefined ? {} : { dimensions });
      const [text, ...others] = texts;
      return text === undefined || others.length > 0
        ? model.embedDocuments([...texts])
        : [await model.embedQuery(text)];
    },
    refusal: (error) =>
      ContextOverflowError.isInstance(error)
        ? { status: 400, code: "context_length_exceeded" }
        : { status: Reflect.get(error, "status"), code: Reflect.get(error, "code") },
  }) satisfies ChatClient;

const openaiAt =
  (stage: Stage, more: Partial<ChatOptions> = {}) =>
  ({ retries = 0, ...options }: Asked = {}) =>
    chatAt(stage, { maxRetries: retries, ...options, ...more });

clientSuite("@langchain/openai", (check) => {
  const stage = openStage();
  chatClientChecks(check, stage, clientOf(stage, openaiAt(stage)));
  ownChecks(check, stage);
  errorChecks(check, stage);
  retryChecks(check, stage);
});

clientSuite("@langchain/openai (Responses)", (check) => {
  const stage = openStage();
  const { ask, useTool, collectCalls, canLeave } = clientOf(
    stage,
    openaiAt(stage, { useResponsesApi: true }),
  );
  chatClientChecks(check, stage, { ask, useTool, collectCalls, canLeave });
});

clientSuite("@langchain/anthropic", (check) => {
  const stage = openStage();
  const { ask, useTool, collectCalls, canLeave } = clientOf(
    stage,
    ({ apiKey = stage.gateway.key, model = "svc-3-flash", maxTokens = 100 } = {}) =>
      new ChatAnthropic({
        model,
        anthropicApiKey: apiKey,
        anthropicApiUrl: stage.gateway.origin,
        maxTokens,
        maxRetries: 0,
      }),
  );
  chatClientChecks(check, stage, {
    async ask(asked) {
      const said = await ask(asked);
      if (asked.stream !== true) return said;
      // It reads the prompt's tokens where a stream begins: of other vendors' models, an estimate.
      expect(said.usage.input).toBeWithin(5, 60);
      return { ...said, usage: { output: said.usage.output } };
    },
    useTool,
    returnsThoughts: true,
    collectCalls,
    canLeave,
  });
});

function ownChecks(check: Check, stage: Stage): void {
  check("answers a batch", async () => {
    stage.gateway.upstream.replyWith(({ json }) => {
      const { messages } = json as { readonly messages: readonly { readonly content: string }[] };
      return chatAnswers.plain({ text: `you said ${messages[0]?.content}` });
    });
    const answers = await chatAt(stage).batch(["one", "two", "three"]);
    expect(answers.map(({ text }) => text)).toEqual([
      "you said one",
      "you said two",
      "you said three",
    ]);
  });

  check("gets structured output by function calling", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.toolCall());
    const chat = chatAt(stage).withStructuredOutput(place, {
      method: "functionCalling",
      name: "get_weather",
    });
    expect(await chat.invoke(prompt)).toEqual({ city: "Zürich", unit: "celsius" });
    expect(sentUpstream(stage.gateway)).toMatchObject({
      tools: [{ type: "function", function: { name: "get_weather" } }],
      tool_choice: { type: "function", function: { name: "get_weather" } },
    });
  });

  check("embeds more than 100 documents with its batchSize set to 100", async () => {
    stage.gateway.upstream.replyWith(({ json }) => {
      const { input } = json as { readonly input: readonly string[] };
      return embeddingsReply({ vectors: input.map((text) => [Number(text), 1]) });
    });
    const documents = Array.from({ length: 230 }, (_, at) => String(at));
    const vectors = await embeddingsAt(stage, { batchSize: 100 }).embedDocuments(documents);
    expect(vectors).toEqual(documents.map((text) => [Number(text), 1]));
    expect(stage.gateway.upstream.requests.length).toBe(3);
  });
}

function errorChecks(check: Check, stage: Stage): void {
  check("reports an invalid key as an authentication error, after one attempt", async () => {
    let calls = 0;
    const counted = (input: string | URL | Request, init?: RequestInit) => {
      calls += 1;
      return fetch(input, init);
    };
    const chat = chatAt(stage, {
      apiKey: "sk-svc-wrong",
      maxRetries: 3,
      configuration: { baseURL: stage.gateway.baseUrl, fetch: counted },
    });
    const failure = await failureOf(chat.invoke(prompt));
    expect(failure).toMatchObject({
      status: 401,
      code: "invalid_api_key",
      lc_error_code: "MODEL_AUTHENTICATION",
    });
    expect(calls).toBe(1);
  });

  check("reports a rejected field by name", async () => {
    const failure = await failureOf(chatAt(stage, { temperature: 3 }).invoke(prompt));
    expect(failure).toMatchObject({ status: 400, param: "temperature" });
  });
}

/** It retries a 429 only if it has Retry-After, with waits of its own. */
function retryChecks(check: Check, stage: Stage): void {
  for (const [name, failure] of [
    ["429", () => rateLimits.withoutHint()],
    ["503", () => failures.unavailable()],
  ] as const)
    check(`retries after a ${name}`, async () => {
      stage.gateway.upstream.replyOnce(failure());
      stage.gateway.upstream.replyOnce(chatAnswers.plain());
      const message = await chatAt(stage, { maxRetries: 1 }).invoke(prompt);
      expect(message.text).toStartWith("Hello!");
      expect(stage.gateway.upstream.requests.length).toBe(2);
    });

  check("reports a rate limit with the wait, once its retries are used up", async () => {
    stage.gateway.upstream.replyWith(rateLimits.seconds(7));
    const failure = await failureOf(chatAt(stage).invoke(prompt));
    expect(failure).toMatchObject({
      status: 429,
      lc_error_code: "MODEL_RATE_LIMIT",
      rateLimitType: "wait",
      retryAfterMs: 7_000,
    });
  });
}
