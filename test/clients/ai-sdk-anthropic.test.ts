import { expect, setDefaultTimeout } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";
import { chatAnswers, chatStreams } from "../fake/recordings.ts";
import { openStage, type Stage, sentUpstream, weatherCall } from "./stage.ts";
import { clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);

const modelAt = ({ gateway }: Stage) =>
  createAnthropic({ baseURL: gateway.baseUrl, apiKey: gateway.key })("svc-3-flash");
const prompt = "Say hello";

clientSuite("@ai-sdk/anthropic", (check) => {
  const stage = openStage();

  check("generates text with usage", async () => {
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    const { text, usage, finishReason } = await generateText({ model: modelAt(stage), prompt });
    expect(text).toContain("Hello");
    expect(finishReason).toBe("stop");
    expect(usage).toMatchObject({ inputTokens: 19, outputTokens: 10 });
  });

  check("streams text with usage", async () => {
    stage.gateway.upstream.replyOnce(chatStreams.openai());
    const result = streamText({ model: modelAt(stage), prompt });
    expect(await result.text).toContain("Hello");
    expect((await result.usage).inputTokens).toBeGreaterThan(0);
  });

  check("streams a tool call and sends its result, with the model's thoughts", async () => {
    stage.gateway.upstream.replyOnce(weatherCall("I look."));
    stage.gateway.upstream.replyOnce(chatStreams.openai());
    const result = streamText({
      model: modelAt(stage),
      prompt: "The weather?",
      stopWhen: isStepCount(2),
      tools: {
        get_weather: tool({
          inputSchema: z.object({ city: z.string() }),
          execute: async ({ city }) => `7 degrees in ${city}`,
        }),
      },
    });
    expect(await result.text).toContain("Hello");
    expect(sentUpstream(stage.gateway)["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", reasoning_content: "I look.", tool_calls: [{ id: "call_1" }] },
      { role: "tool", tool_call_id: "call_1", content: "7 degrees in Oslo" },
    ]);
  });
});
