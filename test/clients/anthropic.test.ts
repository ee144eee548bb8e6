import { expect, setDefaultTimeout } from "bun:test";
import Anthropic, { BadRequestError } from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { badRequests, chatAnswers, chatStreams } from "../fake/recordings.ts";
import { failureOf, openStage, type Stage, sentUpstream, weatherCall } from "./stage.ts";
import { type Check, clientSuite } from "./suite.ts";

setDefaultTimeout(60_000);

const clientAt = ({ gateway }: Stage) =>
  new Anthropic({ baseURL: gateway.origin, apiKey: gateway.key, maxRetries: 0 });
const base = {
  model: "svc-3-flash",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "Say hello" }],
};

clientSuite("@anthropic-ai/sdk", (check) => {
  const stage = openStage();

  check("reads text, stop reason and usage", async () => {
    stage.gateway.upstream.replyOnce(chatAnswers.plain());
    const message = await clientAt(stage).messages.create(base);
    expect(message.content).toMatchObject([{ type: "text" }]);
    expect(message.stop_reason).toBe("end_turn");
    expect(message.usage).toMatchObject({ input_tokens: 11, cache_read_input_tokens: 8 });
  });

  check("streams with its helper, usage included", async () => {
    stage.gateway.upstream.replyOnce(chatStreams.openai());
    const stream = clientAt(stage).messages.stream(base);
    let text = "";
    stream.on("text", (piece) => {
      text += piece;
    });
    const message = await stream.finalMessage();
    expect(message.content).toMatchObject([{ type: "text", text }]);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
  });

  toolChecks(check, stage);

  check("counts tokens and lists models", async () => {
    const client = clientAt(stage);
    const { max_tokens: _cap, ...prompt } = base;
    expect((await client.messages.countTokens(prompt)).input_tokens).toBeGreaterThan(0);
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toContain("svc-3-flash");
    expect(ids).not.toContain("svc-embedding-2");
  });

  check("throws its own error classes, with our code and request id", async () => {
    stage.gateway.upstream.replyOnce(badRequests.contextTooLong());
    const error = await failureOf(clientAt(stage).messages.create(base));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({
      requestID: expect.stringMatching(/^req_/),
      error: { error: { code: "context_length_exceeded" } },
    });
  });
});

function toolChecks(check: Check, stage: Stage): void {
  check("runs tools with its runner, streamed", async () => {
    stage.gateway.upstream.replyOnce(weatherCall());
    stage.gateway.upstream.replyOnce(chatStreams.openai());
    const asked: unknown[] = [];
    const weather = betaTool({
      name: "get_weather",
      description: "The weather of a city",
      inputSchema: { type: "object", properties: { city: { type: "string" } } },
      run: (input) => {
        asked.push(input);
        return "7 degrees";
      },
    });
    const runner = clientAt(stage).beta.messages.toolRunner({
      ...base,
      tools: [weather],
      stream: true,
    });
    const message = await runner.runUntilDone();
    expect(message.stop_reason).toBe("end_turn");
    expect(asked).toEqual([{ city: "Oslo", unit: "celsius" }]);
    expect(sentUpstream(stage.gateway)["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "call_1" }] },
      { role: "tool", tool_call_id: "call_1", content: "7 degrees" },
    ]);
  });
}
