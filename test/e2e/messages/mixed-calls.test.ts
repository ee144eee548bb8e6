/** Tool calls of a stream that other content interrupts. */

import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { deltaStream } from "../../fake/recordings.ts";
import { anthropicAt, ask, messagesManifest } from "../../setup/messages-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: messagesManifest });
const base = {
  model: "local",
  max_tokens: 100,
  messages: [ask],
  tools: [{ name: "look", input_schema: { type: "object" as const } }],
};
const first = (text: string) => ({
  tool_calls: [
    { index: 0, id: "a", type: "function", function: { name: "look", arguments: text } },
  ],
});
const next = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] });

async function contentOf(deltas: readonly JsonObject[]) {
  gateway.upstream.replyOnce(deltaStream(deltas, "tool_calls"));
  return anthropicAt(gateway).messages.stream(base).finalMessage();
}

const call = { type: "tool_use", id: "a", name: "look", input: { x: 1 } };

describe("content within a call follows the call, whose arguments stay intact", () => {
  const scenes: Readonly<Record<string, readonly [JsonObject, JsonObject]>> = {
    text: [{ content: "\n" }, { type: "text", text: "\n" }],
    reasoning: [{ reasoning_content: "Hm." }, { type: "thinking", thinking: "Hm." }],
    "a refusal": [{ refusal: "No." }, { type: "text", text: "No." }],
  };
  for (const [name, [delta, block]] of Object.entries(scenes))
    test(name, async () => {
      const { content } = await contentOf([first('{"x":'), delta, next("1}")]);
      expect(content).toMatchObject([call, block]);
      expect(content).toHaveLength(2);
    });
});

test("text in the same chunk as a piece of a call stays in order", async () => {
  const { content } = await contentOf([
    { content: "a", ...first('{"x":') },
    { content: "b", ...next("1}") },
    { content: "c" },
  ]);
  expect(content).toMatchObject([{ type: "text", text: "a" }, call, { type: "text", text: "bc" }]);
});

test("whitespace after complete arguments does not end up in the text after the call", async () => {
  const { content } = await contentOf([
    first('{"x":1}'),
    { content: "Done" },
    next("\n"),
    { content: "." },
  ]);
  expect(content).toMatchObject([call, { type: "text", text: "Done." }]);
});

test("text within a call that is never complete is sent at the end", async () => {
  const { content } = await contentOf([first(""), { content: "I look." }]);
  expect(content).toMatchObject([
    { type: "tool_use", id: "a", input: {} },
    { type: "text", text: "I look." },
  ]);
});
