/** Messages on models of vendors with other formats. */

import { expect, test } from "bun:test";
import { isJsonObject, type Json, type JsonObject } from "../../../src/call/chat.ts";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatChunk, chatJson, chatStream, DONE, deltaStream } from "../../fake/recordings.ts";
import { anthropicAt, ask, messagesManifest } from "../../setup/messages-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: messagesManifest });
const sent = (at = -1) => gateway.upstream.requests.at(at)?.json as JsonObject;
const tools = [
  {
    name: "look",
    description: "Looks.",
    input_schema: { type: "object" as const, properties: { city: { type: "string" } } },
  },
];
const base = { model: "local", max_tokens: 4_000, messages: [ask] };

const source = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" };
const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
const whole: JsonObject = {
  ...base,
  system: [
    { type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } },
    { type: "text", text: "Be kind." },
  ],
  messages: [
    {
      role: "user",
      content: [
        {
          type: "document",
          source: { type: "text", media_type: "text/plain", data: "Words." },
          title: "Notes",
        },
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
        },
        {
          type: "search_result",
          source: "https://example.org",
          title: "Found",
          content: [{ type: "text", text: "this" }],
        },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Not mine.", signature: "bmF0aXZl" },
        { type: "thinking", thinking: "Hm.", signature: "" },
        { type: "text", text: "Looking." },
      ],
    },
    ask,
  ],
};
const translated: JsonObject = {
  model: "local-model",
  max_tokens: 4_000,
  messages: [
    {
      role: "system",
      content: [
        { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
        { type: "text", text: "Be kind." },
      ],
    },
    {
      role: "user",
      content: [
        { type: "text", text: "Notes\n\nWords." },
        {
          type: "file",
          file: { file_data: "data:application/pdf;base64,JVBERi0=", filename: "document.pdf" },
        },
        { type: "text", text: "Found (https://example.org)\n\nthis" },
      ],
    },
    { role: "assistant", content: "Looking.", reasoning_content: "Hm." },
    ask,
  ],
};

// What chat completions say in the same words is round-trip.test.ts's.
test("what only Messages have reaches a chat completions server in its own words", async () => {
  gateway.upstream.replyOnce(chatJson());
  expect((await gateway.call("/messages", whole)).status).toBe(200);
  expect(sent()).toEqual(translated);
});

test("images in a tool result follow it as a message, for servers that accept only text there", async () => {
  gateway.upstream.replyOnce(chatJson({ message: { role: "assistant", content: "Hi" } }));
  const result = (id: string, content: Json) => ({ type: "tool_result", tool_use_id: id, content });
  const call = (id: string) => ({ type: "tool_use", id, name: "look", input: {} });
  await gateway.call("/messages", {
    ...base,
    tools,
    messages: [
      ask,
      { role: "assistant", content: [call("a"), call("b")] },
      {
        role: "user",
        content: [
          result("a", [{ type: "image", source }]),
          result("b", "fog"),
          { type: "text", text: "And?" },
        ],
      },
    ],
  });
  expect((sent()["messages"] as Json[]).slice(2)).toEqual([
    { role: "tool", tool_call_id: "a", content: "See the attachment below." },
    { role: "tool", tool_call_id: "b", content: "fog" },
    {
      role: "user",
      content: [{ type: "text", text: "Attachment of tool result a:" }, image],
    },
    { role: "user", content: [{ type: "text", text: "And?" }] },
  ]);
});

const piece = (index: number, more: JsonObject) => ({
  delta: { tool_calls: [{ index, ...more }] },
});
const mixed = [
  chatChunk({ delta: { role: "assistant", content: "" } }),
  chatChunk({ delta: { reasoning_content: "Hm" } }),
  chatChunk({ delta: { reasoning_content: "." } }),
  chatChunk({ delta: { content: "Look" } }),
  chatChunk({ delta: { content: 'ing "\n' } }),
  chatChunk(piece(0, { id: "a", type: "function", function: { name: "look", arguments: "" } })),
  chatChunk(piece(0, { function: { arguments: '{"city":' } })),
  chatChunk(piece(1, { id: "b", type: "function", function: { name: "see", arguments: "{" } })),
  chatChunk(piece(0, { function: { arguments: '"Oslo"}' } })),
  chatChunk(piece(1, { function: { arguments: "}" } })),
  chatChunk({ finish: "tool_calls" }),
  chatChunk({ choices: [], usage: usageOf({ prompt: 19, completion: 10, cached: 8 }) }),
  DONE,
];

test("a stream has every event in order, a ping after the first, and usage at the end", async () => {
  gateway.upstream.replyOnce(chatStream({ events: mixed }));
  const text = await (await gateway.call("/messages", { ...base, tools, stream: true })).text();
  const events = text
    .trimEnd()
    .split("\n\n")
    .map((event) => {
      const [name = "", data = ""] = event.split("\ndata: ");
      const parsed: JsonObject = JSON.parse(data);
      expect(name).toBe(`event: ${parsed["type"]}`);
      return parsed;
    });
  const told = events.map(({ type, index, delta, content_block: block }) =>
    [
      type,
      index,
      isJsonObject(block) ? block["type"] : undefined,
      isJsonObject(delta)
        ? (delta["text"] ?? delta["thinking"] ?? delta["partial_json"])
        : undefined,
    ].filter((one) => one !== undefined),
  );
  expect(told).toEqual([
    ["message_start"],
    ["ping"],
    ["content_block_start", 0, "thinking"],
    ["content_block_delta", 0, "Hm"],
    ["content_block_delta", 0, "."],
    ["content_block_delta", 0],
    ["content_block_stop", 0],
    ["content_block_start", 1, "text"],
    ["content_block_delta", 1, "Look"],
    ["content_block_delta", 1, 'ing "\n'],
    ["content_block_stop", 1],
    ["content_block_start", 2, "tool_use"],
    ["content_block_delta", 2, '{"city":'],
    ["content_block_delta", 2, '"Oslo"}'],
    ["content_block_stop", 2],
    ["content_block_start", 3, "tool_use"],
    ["content_block_delta", 3, "{"],
    ["content_block_delta", 3, "}"],
    ["content_block_stop", 3],
    ["message_delta"],
    ["message_stop"],
  ]);
  // Until the vendor has counted: about four bytes per token.
  const [start] = events as { message: { usage: Record<string, number> } }[];
  expect(start?.message.usage).toEqual({
    input_tokens: expect.any(Number),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 0,
  });
  expect(start?.message.usage["input_tokens"]).toBeWithin(20, 300);
  expect(events.at(-2)).toEqual({
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: {
      input_tokens: 11,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 8,
      output_tokens: 10,
      output_tokens_details: { thinking_tokens: 0 },
    },
  });
});

test("reasoning that is not requested is left out, but still signed", async () => {
  gateway.upstream.replyOnce(deltaStream([{ reasoning_content: "Hm." }, { content: "Hi" }]));
  const thinking = { type: "adaptive" as const, display: "omitted" as const };
  const message = await anthropicAt(gateway)
    .messages.stream({ ...base, thinking })
    .finalMessage();
  expect(message.content).toMatchObject([
    { type: "thinking", thinking: "", signature: expect.stringMatching(/^svc1\./) },
    { type: "text", text: "Hi" },
  ]);
});

test("an error in another vendor's stream is sent in the format", async () => {
  gateway.upstream.replyOnce(
    chatStream({
      events: [
        chatChunk({ delta: { content: "Hi" } }),
        { error: { message: "vendor words", code: "server_error" } },
      ],
    }),
  );
  const text = await (await gateway.call("/messages", { ...base, stream: true })).text();
  expect(text).toContain('event: error\ndata: {"type":"error","error":{"type":"api_error"');
  expect(text).not.toMatch(/message_stop|vendor words/);
});

test("an error about a field uses the caller's name for it", async () => {
  const source = { type: "url", url: "https://example.org/a.png" };
  const reply = await gateway.call("/messages", {
    ...base,
    model: "flash",
    system: "Be brief.",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "?" },
          { type: "image", source },
        ],
      },
    ],
  });
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({
    error: {
      param: "messages[0].content[1].source",
      message: expect.stringMatching(/^messages\[0\]\.content\[1\]\.source must/),
    },
  });
});
