/** What comes back of Responses, beyond the contract that all providers have in common. */

import { describe, expect, test } from "bun:test";
import { openAiResponses } from "../../../../test/dialects/wires/openai-responses.ts";
import { clockCall, toolAnswer, weatherCall } from "../../../../test/providers/calls.ts";
import { apiErrorOf } from "../../../../test/providers/failure-of.ts";
import { can, newModel, OpenAiScene, withTools } from "../../../../test/providers/openai-scene.ts";
import type { JsonObject } from "../../../call/chat.ts";

const scene = new OpenAiScene();

describe("what comes back", () => {
  const hearWhole = async (response: JsonObject) => {
    scene.respond({
      headers: { "content-type": "application/json" },
      packets: [JSON.stringify({ status: "completed", usage: null, ...response })],
    });
    return scene.bridge.chat(withTools(), newModel());
  };
  const hearEvents = (events: readonly JsonObject[]) => {
    scene.respond({
      headers: { "content-type": "text/event-stream" },
      packets: events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
    });
    return scene.bridge.hear(withTools(), newModel());
  };
  const likely = { token: "Hi", logprob: -0.1, top_logprobs: [{ token: "Hi", logprob: -0.1 }] };
  const expectedLikely = {
    content: [
      { ...likely, bytes: null, top_logprobs: [{ ...likely.top_logprobs[0], bytes: null }] },
    ],
    refusal: null,
  };
  const source = { type: "url_citation", url: "https://a.example", title: "A" };
  const place = { start_index: 0, end_index: 2 };
  const citation = {
    type: "url_citation",
    url_citation: { url: source.url, title: "A", ...place },
  };
  const text = {
    type: "output_text",
    text: "Hi",
    annotations: [{ ...source, ...place }],
    logprobs: [likely],
  };

  test("whole: probabilities, sources and refusals have the form of chat completions", async () => {
    const content = [text, { type: "refusal", refusal: "No." }];
    const { choices } = await hearWhole({ output: [{ type: "message", content }] });
    expect(JSON.parse(JSON.stringify(choices))).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: "Hi", refusal: "No.", annotations: [citation] },
        logprobs: expectedLikely,
        finishReason: "stop",
      },
    ]);
  });

  test("streamed: probabilities, sources and refusals have the form of chat completions", async () => {
    const at = { output_index: 0, content_index: 0 };
    const parts = await hearEvents([
      { type: "response.output_text.delta", ...at, delta: "Hi", logprobs: [likely] },
      { type: "response.output_text.annotation.added", ...at, annotation: { ...source, ...place } },
      { type: "response.refusal.delta", ...at, delta: "No." },
      { type: "response.completed", response: { status: "completed", output: [] } },
    ]);
    const delta = { type: "delta", index: 0, logprobs: null } as const;
    expect(JSON.parse(JSON.stringify(parts))).toEqual([
      { ...delta, delta: { content: "Hi" }, logprobs: expectedLikely },
      { ...delta, delta: { annotations: [citation] } },
      { ...delta, delta: { refusal: "No." } },
      { type: "finish", index: 0, reason: "stop" },
      { type: "done" },
    ]);
  });

  test("streamed: items that come whole, without pieces, are heard all the same", async () => {
    const items = [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Why?" }] },
      { type: "message", content: [text] },
      { type: "function_call", call_id: "a", name: "get_weather", arguments: "{}" },
    ];
    const parts = await hearEvents([
      ...items.map((item, output_index) => ({
        type: "response.output_item.done",
        output_index,
        item,
      })),
      { type: "response.completed", response: { status: "completed" } },
    ]);
    expect(JSON.stringify(parts)).toContain('"reasoning_content":"Why?"');
    expect(JSON.stringify(parts)).toContain('"content":"Hi"');
    expect(JSON.stringify(parts)).toContain('"arguments":"{}"');
    expect(parts.at(-2)).toMatchObject({ reason: "tool_calls" });
  });

  test.each(["response.reasoning_text.delta", "response.reasoning.delta"])(
    "streamed: raw reasoning is heard under the name %s",
    async (type) => {
      const at = { output_index: 0, content_index: 0, item_id: "rs_1" };
      const parts = await hearEvents([
        { type, ...at, delta: "Hm." },
        { type: "response.completed", response: { status: "completed", output: [] } },
      ]);
      expect(parts).toContainEqual(
        expect.objectContaining({ delta: expect.objectContaining({ reasoning_content: "Hm." }) }),
      );
    },
  );

  test("streamed: items without end are a failure", async () => {
    const item = { type: "function_call", call_id: "a", name: "get_weather", arguments: "" };
    const events = Array.from({ length: 10_002 }, (_, output_index) => ({
      type: "response.output_item.added",
      output_index,
      item,
    }));
    expect((await apiErrorOf(hearEvents(events))).code).toBe("upstream_error");
  });

  test("a whole reply to a request for a stream is heard as a stream", async () => {
    scene.respond(openAiResponses.whole(toolAnswer(can, [weatherCall, clockCall])));
    const parts = await scene.bridge.hear(withTools(), newModel());
    expect(parts.map(({ type }) => type)).toEqual(["delta", "finish", "usage", "done"]);
  });

  test("a failed response is a failure with the vendor's code", async () => {
    const error = { code: "rate_limit_exceeded", message: "Slow down." };
    const failed = { status: "failed", error, output: [] };
    expect((await apiErrorOf(hearWhole(failed))).code).toBe("upstream_rate_limited");
    const streamed = hearEvents([{ type: "response.failed", response: failed }]);
    expect((await apiErrorOf(streamed)).code).toBe("upstream_rate_limited");
  });

  test("a stream without its last event has no end", async () => {
    const at = { output_index: 0, content_index: 0 };
    const parts = await hearEvents([{ type: "response.output_text.delta", ...at, delta: "Hi" }]);
    expect(parts).toEqual([{ type: "text-delta", index: 0, text: "Hi" }]);
  });
});
