import { expect, setDefaultTimeout } from "bun:test";
import { ContextOverflowError } from "@langchain/core/errors";
import {
  type AIMessageChunk,
  HumanMessage,
  type ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { z } from "zod";
import { embeddedChat, embeddedModel, embeddedVector } from "../fake/openai/embedded-model.ts";
import {
  badRequests,
  chatAnswers,
  chatStreams,
  embeddingReplies,
  embeddingsReply,
  failures,
  rateLimits,
  TOOL_CALL,
  VECTORS,
} from "../fake/recordings.ts";
import { pausedAfter } from "../fake/script.ts";
import { fixtureBytes } from "../fixtures/media/fixture.ts";

import { collect, failureOf, openStage, type Stage, sentUpstream } from "./stage.ts";
import { type Check, clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);

const question = "Say hello";
const place = z.object({ city: z.string(), unit: z.string() });
const weather = tool(({ city }) => `7 degrees in ${city}`, {
  name: "get_weather",
  description: "The weather of a city",
  schema: place,
});

type ChatOptions = ConstructorParameters<typeof ChatOpenAI>[0] & object;

const chatAt = ({ gateway }: Stage, options: Partial<ChatOptions> = {}) =>
  new ChatOpenAI({
    model: "svc-3-flash",
    apiKey: gateway.key,
    configuration: { baseURL: gateway.baseUrl },
    maxRetries: 0,
    ...options,
  });

const outputTokens = (usage: UsageMetadata | undefined) => usage?.output_tokens;

clientSuite("@langchain/openai", (check) => {
  const stage = openStage();
  chatChecks(check, stage);
  toolChecks(check, stage);
  structureChecks(check, stage);
  embeddingChecks(check, stage);
  errorChecks(check, stage);
  retryChecks(check, stage);
});

function chatChecks(check: Check, stage: Stage): void {
  check("reads a reply of the embedded chat model", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    const message = await chatAt(stage, { maxTokens: 5 }).invoke(question);
    const { text, usage } = embeddedChat.whole;
    expect(message.text).toBe(text);
    expect(outputTokens(message.usage_metadata)).toBe(usage.completion_tokens);
  });

  check("streams a reply of the embedded chat model, usage included", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    const message = await collect(await chatAt(stage, { maxTokens: 5 }).stream(question));
    const { text, usage } = embeddedChat.streamed;
    expect(message.text).toBe(text);
    expect(outputTokens(message.usage_metadata)).toBe(usage.completion_tokens);
  });

  check("reads text, finish reason and usage, streamed or not", async () => {
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    stage.gateway.upstream.replyOnce(chatStreams.openai());
    const chat = chatAt(stage);
    const whole = await chat.invoke([new HumanMessage(question)]);
    const streamed = await collect(await chat.stream([new HumanMessage(question)]));
    expect(whole.text).toBe("Hello! How can I help you today?");
    expect(streamed.text).toBe("Hello! How can I help?");
    for (const message of [whole, streamed]) {
      expect(message.response_metadata).toMatchObject({ finish_reason: "stop" });
      expect(message.usage_metadata).toMatchObject({
        input_tokens: 19,
        output_tokens: 10,
        total_tokens: 29,
        input_token_details: { cache_read: 8 },
        output_token_details: { reasoning: 0 },
      });
    }
    expect(sentUpstream(stage.gateway)["messages"]).toEqual([{ role: "user", content: question }]);
  });

  batchAndStreamChecks(check, stage);
}

function batchAndStreamChecks(check: Check, stage: Stage): void {
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

  check("stops the model by aborting in the middle of a stream", async () => {
    const arrival = stage.gateway.upstream.nextRequest();
    const never = new Promise<void>(() => {});
    const recording = chatStreams.openai();
    stage.gateway.upstream.replyWith(pausedAfter({ recording, parts: 2, until: never }));
    const leave = new AbortController();
    const stream = await chatAt(stage).stream(question, { signal: leave.signal });
    await failureOf(
      (async () => {
        for await (const { text } of stream) if (text === "Hello") leave.abort();
      })(),
    );
    const request = await arrival;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  });

  check("forwards images unchanged", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.plain());
    const url = `data:image/png;base64,${Buffer.from(fixtureBytes("tiny.png")).toString("base64")}`;
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url } },
    ];
    await chatAt(stage).invoke([new HumanMessage({ content })]);
    expect(sentUpstream(stage.gateway)["messages"]).toEqual([{ role: "user", content }]);
  });
}

function toolChecks(check: Check, stage: Stage): void {
  for (const stream of [false, true])
    check(`completes a round of tool call and reply${stream ? ", streamed" : ""}`, async () => {
      const { upstream } = stage.gateway;
      upstream.replyOnce(stream ? chatStreams.toolCall() : chatAnswers.toolCall());
      upstream.replyOnce(stream ? chatStreams.openai() : chatAnswers.plain());
      const chat = chatAt(stage).bindTools([weather]);
      const human = new HumanMessage("Weather in Zürich?");
      const ask = async (messages: readonly (HumanMessage | AIMessageChunk | ToolMessage)[]) =>
        stream ? collect(await chat.stream([...messages])) : chat.invoke([...messages]);
      const called = await ask([human]);
      expect(called.tool_calls).toMatchObject([
        { name: "get_weather", args: { city: "Zürich", unit: "celsius" }, id: TOOL_CALL.id },
      ]);
      const results: ToolMessage[] = [];
      for (const call of called.tool_calls ?? [])
        results.push(await weather.invoke({ ...call, type: "tool_call" }));
      expect((await ask([human, called, ...results])).text).toStartWith("Hello!");
      expect(sentUpstream(stage.gateway, 0)["tools"]).toMatchObject([
        { type: "function", function: { name: "get_weather", parameters: { type: "object" } } },
      ]);
      expect(sentUpstream(stage.gateway, 1)["messages"]).toMatchObject([
        { role: "user", content: human.content },
        { role: "assistant", tool_calls: [{ id: TOOL_CALL.id, type: "function" }] },
        { role: "tool", tool_call_id: TOOL_CALL.id, content: "7 degrees in Zürich" },
      ]);
    });

  check("collects parallel tool calls from one stream", async () => {
    stage.gateway.upstream.replyWith(chatStreams.twoToolCalls());
    const message = await collect(await chatAt(stage).stream(question));
    expect(message.tool_calls?.map(({ id, args }) => [id, args])).toEqual([
      ["call_vendor_0", { city: "Bern" }],
      ["call_vendor_1", { city: "Oslo" }],
    ]);
  });
}

function structureChecks(check: Check, stage: Stage): void {
  check("gets structured output by JSON schema", async () => {
    const wanted = { city: "Bern", unit: "celsius" };
    stage.gateway.upstream.replyWith(chatAnswers.plain({ text: JSON.stringify(wanted) }));
    const chat = chatAt(stage).withStructuredOutput(place, { method: "jsonSchema", name: "place" });
    expect(await chat.invoke(question)).toEqual(wanted);
    expect(sentUpstream(stage.gateway)["response_format"]).toMatchObject({
      type: "json_schema",
      json_schema: { name: "place", schema: { type: "object", required: ["city", "unit"] } },
    });
  });

  check("gets structured output by function calling", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.toolCall());
    const chat = chatAt(stage).withStructuredOutput(place, {
      method: "functionCalling",
      name: "get_weather",
    });
    expect(await chat.invoke(question)).toEqual({ city: "Zürich", unit: "celsius" });
    expect(sentUpstream(stage.gateway)).toMatchObject({
      tools: [{ type: "function", function: { name: "get_weather" } }],
      tool_choice: { type: "function", function: { name: "get_weather" } },
    });
  });
}

function embeddingChecks(check: Check, stage: Stage): void {
  const embeddings = (options: Partial<ConstructorParameters<typeof OpenAIEmbeddings>[0]> = {}) =>
    new OpenAIEmbeddings({
      model: "svc-embedding-2",
      apiKey: stage.gateway.key,
      configuration: { baseURL: stage.gateway.baseUrl },
      maxRetries: 0,
      ...options,
    });

  check("embeds queries and documents alike, in any size", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    for (const dimensions of [undefined, 768, 1536]) {
      const model = embeddings(dimensions === undefined ? {} : { dimensions });
      const query = await model.embedQuery("A cat sleeps.");
      expect(query).toHaveLength(dimensions ?? 3072);
      const [first, second] = await model.embedDocuments(["A cat sleeps.", "Rates rose."]);
      expect(second).toHaveLength(dimensions ?? 3072);
      const likeness = query.reduce((sum, value, at) => sum + value * (first?.[at] ?? 0), 0);
      expect(likeness).toBeGreaterThan(0.99);
      expect(second?.map(Math.fround)).toEqual(embeddedVector("Rates rose.", dimensions));
    }
  });

  check("gets the vectors of its documents in order", async () => {
    stage.gateway.upstream.replyWith(embeddingReplies.outOfOrder());
    const vectors = await embeddings().embedDocuments(["one", "two", "three"]);
    expect(vectors).toEqual(VECTORS.map((vector) => [...vector]));
  });

  check("embeds more than 100 documents with its batchSize set to 100", async () => {
    stage.gateway.upstream.replyWith(({ json }) => {
      const { input } = json as { readonly input: readonly string[] };
      return embeddingsReply({ vectors: input.map((text) => [Number(text), 1]) });
    });
    const documents = Array.from({ length: 230 }, (_, at) => String(at));
    const vectors = await embeddings({ batchSize: 100 }).embedDocuments(documents);
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
    const failure = await failureOf(chat.invoke(question));
    expect(failure).toMatchObject({
      status: 401,
      code: "invalid_api_key",
      lc_error_code: "MODEL_AUTHENTICATION",
    });
    expect(calls).toBe(1);
  });

  check("reports a rejected field by name", async () => {
    const failure = await failureOf(chatAt(stage, { temperature: 3 }).invoke(question));
    expect(failure).toMatchObject({ status: 400, param: "temperature" });
  });

  check("reports a conversation that is too long as a ContextOverflowError", async () => {
    stage.gateway.upstream.replyWith(badRequests.contextTooLong());
    const failure = await failureOf(chatAt(stage).invoke(question));
    expect(ContextOverflowError.isInstance(failure)).toBe(true);
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
      const message = await chatAt(stage, { maxRetries: 1 }).invoke(question);
      expect(message.text).toStartWith("Hello!");
      expect(stage.gateway.upstream.requests.length).toBe(2);
    });

  check("reports a rate limit with the wait, once its retries are used up", async () => {
    stage.gateway.upstream.replyWith(rateLimits.seconds(7));
    const failure = await failureOf(chatAt(stage).invoke(question));
    expect(failure).toMatchObject({
      status: 429,
      lc_error_code: "MODEL_RATE_LIMIT",
      rateLimitType: "wait",
      retryAfterMs: 7_000,
    });
  });
}
