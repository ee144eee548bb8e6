/** Clients of the Responses API: each against a model that speaks chat completions, and a native one. */

import { expect, setDefaultTimeout } from "bun:test";
import {
  Agent,
  tool as agentTool,
  OpenAIResponsesModel,
  Runner,
  setTracingDisabled,
} from "@openai/agents";
import { APIError } from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { answerEvents, responseEvents } from "../fake/openai/responses.ts";
import { chatAnswers, chatJson, chatStreams, rateLimits } from "../fake/recordings.ts";
import { pausedAfter } from "../fake/script.ts";
import { useTestGateway } from "../setup/use-gateway.ts";
import { failureOf, nativeManifest, type Stage, sentUpstream } from "./stage.ts";
import { type Check, clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);
setTracingDisabled(true);

const model = "svc-3-flash";
const place = z.object({ city: z.string(), unit: z.string() });
const cityJson = '{"city":"Zürich","unit":"celsius"}';

/** What a model said, and got, in a loop of one tool. */
function expectToolLoop(stage: Stage): void {
  expect(sentUpstream(stage.gateway)["messages"]).toMatchObject([
    { role: "user" },
    { role: "assistant", tool_calls: [{ id: "call_vendor_a1" }] },
    { role: "tool", tool_call_id: "call_vendor_a1", content: expect.stringContaining("7 degrees") },
  ]);
}

clientSuite("openai (Responses)", (check) => {
  const stage = { gateway: useTestGateway({ manifest: nativeManifest }) };
  openaiChecks(check, stage);
  failureChecks(check, stage);
});

function openaiChecks(check: Check, stage: Stage): void {
  check("creates a response", async () => {
    stage.gateway.upstream.replyWith(chatAnswers.plain());
    const response = await stage.gateway.client().responses.create({ model, input: "Say hello" });
    expect(response.output_text).not.toBe("");
    expect(response.status).toBe("completed");
  });

  check("streams a response with its helper, from any model", async () => {
    const { client, upstream } = stage.gateway;
    upstream.replyOnce(chatStreams.reasoning());
    const stream = client().responses.stream({ model, input: "Say hello" });
    const seen: string[] = [];
    stream.on("response.output_text.delta", ({ snapshot }) => seen.push(snapshot));
    expect((await stream.finalResponse()).output_text).toBe("42");
    expect(seen).toEqual(["42"]);
    upstream.replyOnce(responseEvents(answerEvents));
    const native = client().responses.stream({ model: "gpt", input: "Say hello" });
    expect((await native.finalResponse()).output_text).toBe('It is "7°".');
  });

  check("parses structured output and tool arguments", async () => {
    const { client, upstream } = stage.gateway;
    upstream.replyOnce(chatJson({ text: cityJson }));
    const format = zodTextFormat(place, "place");
    const parsed = await client().responses.parse({ model, input: "Where?", text: { format } });
    expect(parsed.output_parsed).toEqual({ city: "Zürich", unit: "celsius" });
    upstream.replyOnce(chatAnswers.toolCall());
    const tools = [zodResponsesFunction({ name: "get_weather", parameters: place })];
    const called = await client().responses.parse({ model, input: "Weather?", tools });
    expect(called.output[0]).toMatchObject({ parsed_arguments: { city: "Zürich" } });
  });

  check("runs a tool loop by sending the output back", async () => {
    const { client, upstream } = stage.gateway;
    upstream.replyOnce(chatAnswers.toolCall());
    upstream.replyOnce(chatAnswers.plain());
    const first = await client().responses.create({ model, input: "Weather?" });
    const [call] = first.output;
    if (call?.type !== "function_call") throw new Error("no call");
    const result = {
      type: "function_call_output" as const,
      call_id: call.call_id,
      output: "7 degrees",
    };
    const input = [{ role: "user" as const, content: "Weather?" }, ...first.output, result];
    await client().responses.create({ model, input: input as never });
    expectToolLoop(stage);
  });
}

function failureChecks(check: Check, stage: Stage): void {
  check("reports errors before a stream and inside of one", async () => {
    const { client, upstream } = stage.gateway;
    upstream.replyOnce(rateLimits.withoutHint());
    const error = await failureOf(
      client({ maxRetries: 0 }).responses.create({ model, input: "Hi" }),
    );
    expect(error).toBeInstanceOf(APIError);
    upstream.replyOnce(chatStreams.errorAfterStart());
    const stream = await client().responses.create({ model, input: "Hi", stream: true });
    const reading = (async () => {
      for await (const event of stream) expect(event.type).not.toBe("response.completed");
    })();
    expect(await failureOf(reading)).toMatchObject({ code: "upstream_error" });
  });

  check("stops the upstream when a stream is abandoned", async () => {
    const { client, upstream } = stage.gateway;
    const held = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    upstream.replyOnce(pausedAfter({ recording, parts: 2, until: held.promise }));
    const stream = await client().responses.create({ model, input: "Hi", stream: true });
    for await (const { type } of stream) if (type === "response.output_text.delta") break;
    await upstream.requests.at(-1)?.closed;
    held.resolve();
    expect(upstream.requests.at(-1)?.abortedByClient).toBe(true);
  });
}

clientSuite("@openai/agents", (check) => {
  const stage = { gateway: useTestGateway({ manifest: nativeManifest }) };
  agentChecks(check, stage);
});

function agentChecks(check: Check, stage: Stage): void {
  const weather = agentTool({
    name: "get_weather",
    description: "The weather of a city",
    parameters: place,
    execute: async () => "7 degrees",
  });
  const agent = () =>
    new Agent({
      name: "Forecaster",
      model: new OpenAIResponsesModel(stage.gateway.client() as never, model),
      tools: [weather],
    });

  check("runs an agent with a tool", async () => {
    stage.gateway.upstream.replyOnce(chatAnswers.toolCall());
    stage.gateway.upstream.replyOnce(chatJson({ text: "It is 7 degrees." }));
    const result = await new Runner().run(agent(), "Weather?");
    expect(result.finalOutput).toBe("It is 7 degrees.");
    expectToolLoop(stage);
  });

  check("streams an agent with a tool", async () => {
    stage.gateway.upstream.replyOnce(chatStreams.toolCall());
    stage.gateway.upstream.replyOnce(chatStreams.openai());
    const result = await new Runner().run(agent(), "Weather?", { stream: true });
    await result.completed;
    expect(String(result.finalOutput)).not.toBe("");
    expectToolLoop(stage);
  });
}
