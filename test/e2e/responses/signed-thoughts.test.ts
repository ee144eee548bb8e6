/** Thoughts in Responses: what is shown of them when a summary is requested. */

import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { chatJson, deltaStream } from "../../fake/recordings.ts";
import { geminiJson, geminiReply } from "../../fake/vendors/gemini-replies.ts";
import { lastResponse, readResponseEvents } from "../../replies/response-events.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({
  manifest: `
providers:
  gemini: { kind: gemini, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
  router: { kind: openai, vendor: openrouter, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  gemini: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: gemini, model: gemini-3-pro }] }
  routed: { endpoint: chat, price: { input: 1, output: 5 }, routes: [{ provider: router, model: any }] }
`,
});

const look = { type: "function", name: "look", parameters: { type: "object", properties: {} } };
const question = { role: "user", content: "The weather?" };
const asked = { tools: [look], reasoning: { effort: "low" }, max_output_tokens: 4_096 };
const ask = (model: string, input: readonly unknown[], more: object = {}) =>
  gateway.call("/responses", { model, input, ...asked, ...more });
const sent = () => gateway.upstream.requests.at(-1)?.json as Record<string, JsonObject[]>;

const geminiText = geminiReply({ parts: [{ text: "Rain." }], finishReason: "STOP" });

describe("thoughts that come as signed details alone", () => {
  const detail = { type: "reasoning.text", index: 0, signature: "s1" };
  const streamed = () => {
    const deltas = ["First ", "this."].map((text) => ({
      reasoning_details: [{ ...detail, text }],
    }));
    return deltaStream([...deltas, { content: "Rain." }]);
  };
  const whole = () => {
    const details = [{ ...detail, text: "First this." }];
    const message = { role: "assistant", content: "Rain.", reasoning_details: details };
    return chatJson({ choices: [{ index: 0, message, finish_reason: "stop" }] });
  };
  /** The texts of all summaries. */
  const read = async (isStreamed: boolean, summary: string | undefined) => {
    gateway.upstream.replyOnce(isStreamed ? streamed() : whole());
    const more = { stream: isStreamed, reasoning: { effort: "low", summary } };
    const reply = await ask("routed", [question], more);
    const response = isStreamed
      ? lastResponse(await readResponseEvents(reply))
      : await reply.json();
    expect(JSON.stringify(response.output)).toContain("encrypted_content");
    return response.output.flatMap((item: JsonObject) => item["summary"] ?? []);
  };

  for (const isStreamed of [true, false])
    test(`are readable when a summary was requested, ${isStreamed ? "streamed" : "whole"}`, async () => {
      const text = { type: "summary_text", text: "First this." };
      expect(await read(isStreamed, "auto")).toEqual([text]);
      expect(await read(isStreamed, undefined)).toEqual([]);
    });
});

test("Gemini is asked for reasoning when a summary is requested", async () => {
  for (const [summary, expected] of [
    ["auto", true],
    [undefined, undefined],
  ] as const) {
    gateway.upstream.replyOnce(geminiJson(geminiText));
    await (await ask("gemini", [question], { reasoning: { summary } })).json();
    const { generationConfig } = sent() as unknown as { generationConfig: JsonObject };
    const { thinkingConfig } = generationConfig as { thinkingConfig?: JsonObject };
    expect(thinkingConfig?.["includeThoughts"]).toBe(expected);
  }
});
