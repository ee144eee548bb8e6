import { expect, setDefaultTimeout } from "bun:test";
import { ChatAnthropic } from "@langchain/anthropic";
import { HumanMessage, ToolMessage, type UsageMetadata } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { chatAnswers, chatStreams } from "../fake/recordings.ts";
import { collect, openStage, type Stage, sentUpstream, weatherCall } from "./stage.ts";
import { clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);

const chatAt = ({ gateway }: Stage) =>
  new ChatAnthropic({
    model: "svc-3-flash",
    anthropicApiKey: gateway.key,
    anthropicApiUrl: gateway.origin,
    maxTokens: 100,
    maxRetries: 0,
  });
const weather = tool(({ city }) => `7 degrees in ${city}`, {
  name: "get_weather",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
});

const inputTokens = (usage: UsageMetadata | undefined) => usage?.input_tokens;
const outputTokens = (usage: UsageMetadata | undefined) => usage?.output_tokens;

clientSuite("@langchain/anthropic", (check) => {
  const stage = openStage();

  check("reads text and usage", async () => {
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    const message = await chatAt(stage).invoke("Say hello");
    expect(message.text).toContain("Hello");
    expect(message.usage_metadata).toMatchObject({ input_tokens: 19, output_tokens: 10 });
  });

  check("streams text", async () => {
    stage.gateway.upstream.replyOnce(chatStreams.openai());
    const whole = await collect(await chatAt(stage).stream("Say hello"));
    expect(whole.text).toContain("Hello");
    expect(outputTokens(whole.usage_metadata)).toBeGreaterThan(0);
    // It reads the prompt's tokens where a stream begins: of other vendors' models, an estimate.
    expect(inputTokens(whole.usage_metadata)).toBeWithin(5, 60);
  });

  check("streams a tool call and sends its result, with the model's thoughts", async () => {
    stage.gateway.upstream.replyOnce(weatherCall("I look."));
    const chat = chatAt(stage).bindTools([weather]);
    const first = await collect(await chat.stream("The weather?"));
    expect(first.tool_calls).toMatchObject([{ name: "get_weather", args: { city: "Oslo" } }]);
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    const result = new ToolMessage({ tool_call_id: "call_1", content: "7 degrees" });
    await chat.invoke([new HumanMessage("The weather?"), first, result]);
    expect(sentUpstream(stage.gateway)["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", reasoning_content: "I look.", tool_calls: [{ id: "call_1" }] },
      { role: "tool", tool_call_id: "call_1", content: "7 degrees" },
    ]);
  });
});
