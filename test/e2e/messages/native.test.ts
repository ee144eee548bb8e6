/** Messages of a vendor that speaks the format: as they came, but for the ids and the model. */

import { expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { eventReply } from "../../fake/http/reply.ts";
import { cutAfter } from "../../fake/script.ts";
import { type AnthropicBlock, anthropicEvents } from "../../fake/vendors/anthropic-messages.ts";
import {
  anthropicAt,
  ask,
  messagesManifest,
  nativeStream,
  nativeWhole,
} from "../../setup/messages-home.ts";
import { openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: messagesManifest, isOwn: true });
const sent = (at = -1) => gateway.upstream.requests.at(at)?.json as JsonObject;

const thoughts: readonly AnthropicBlock[] = [
  { type: "thinking", thinking: 'I "look".', signature: "c2lnbmVk" },
  { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
  { type: "text", text: "One moment.\nPlease.", pieces: ["One moment.", "\nPlease."] },
  {
    type: "tool_use",
    id: "toolu_1",
    name: "look",
    input: { city: "Oslo" },
    pieces: ['{"city":', '"Oslo"}'],
  },
];
const tools = [
  {
    name: "look",
    description: "Looks.",
    input_schema: { type: "object" as const, properties: {} },
  },
];
const usage = {
  input_tokens: 20,
  output_tokens: 30,
  cache_read_input_tokens: 7,
  cache_creation_input_tokens: 5,
};
const base = { model: "claude", max_tokens: 4_000, messages: [ask] };

test("a whole reply is the vendor's, under our id and model", async () => {
  gateway.upstream.replyOnce(nativeWhole({ blocks: thoughts, stopReason: "tool_use", usage }));
  const { data: message, response } = await anthropicAt(gateway)
    .messages.create({ ...base, tools })
    .withResponse();
  expect(message.id).toMatch(/^msg_[\w-]{10,}$/);
  expect(message.id).not.toContain("vendor");
  expect(message).toMatchObject({
    type: "message",
    role: "assistant",
    model: "claude",
    stop_reason: "tool_use",
    usage,
  });
  expect(message.content).toEqual([
    { type: "thinking", thinking: 'I "look".', signature: "c2lnbmVk" },
    { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
    { type: "text", text: "One moment.\nPlease." },
    { type: "tool_use", id: "toolu_1", name: "look", input: { city: "Oslo" } },
  ] as never);
  expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
  const request = gateway.upstream.requests.at(-1);
  expect(request?.path).toBe("/v1/messages");
  expect(request?.headers["x-api-key"]).toBe("vendor-secret");
  expect(request?.headers["anthropic-version"]).toBe("2023-06-01");
  expect(sent()).toEqual({ model: "claude-sonnet-4-5", max_tokens: 4_000, messages: [ask], tools });
});

test("a stream has the vendor's events in their order, byte for byte but for id and model", async () => {
  const events = anthropicEvents({ blocks: thoughts, stopReason: "tool_use", usage });
  gateway.upstream.replyOnce(nativeStream({ blocks: thoughts, stopReason: "tool_use", usage }));
  const reply = await gateway.call("/messages", { ...base, stream: true });
  const heard = (await reply.text()).split(/(?<=\n\n)/);
  const id = `msg_${reply.headers.get("x-request-id")?.slice("req_".length)}`;
  const [first = "", ...rest] = heard;
  expect(JSON.parse(first.split("data: ")[1] ?? "")).toMatchObject({
    type: "message_start",
    message: { id, model: "claude", usage: { input_tokens: 20 } },
  });
  expect(rest).toEqual(events.slice(1));
});

test("signed thinking is sent back unchanged, with the result of the tool", async () => {
  gateway.upstream.replyOnce(nativeStream({ blocks: thoughts, stopReason: "tool_use", usage }));
  gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "Rain." }] }));
  const client = anthropicAt(gateway);
  const thinking = { type: "enabled" as const, budget_tokens: 2_000 };
  const first = await client.messages.stream({ ...base, tools, thinking }).finalMessage();
  const image = { type: "base64" as const, media_type: "image/png" as const, data: "iVBORw0KGgo=" };
  const result = {
    type: "tool_result" as const,
    tool_use_id: "toolu_1",
    is_error: true,
    content: [
      { type: "text" as const, text: "rain" },
      { type: "image" as const, source: image },
    ],
  };
  const messages = [
    ask,
    { role: "assistant" as const, content: first.content as never },
    { role: "user" as const, content: [result] },
  ];
  await client.messages.create({ ...base, tools, thinking, messages });
  expect(sent()).toEqual({
    model: "claude-sonnet-4-5",
    max_tokens: 4_000,
    thinking,
    tools,
    messages: [
      ask,
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: 'I "look".', signature: "c2lnbmVk" },
          { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
          { type: "text", text: "One moment.\nPlease." },
          { type: "tool_use", id: "toolu_1", name: "look", input: { city: "Oslo" } },
        ],
      },
      { role: "user", content: [result] },
    ],
  });
});

test("fields that would change the vendor's bill are not forwarded", async () => {
  gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "Hi" }] }));
  const cache_control = { type: "ephemeral", ttl: "1h" };
  const plain = { type: "ephemeral" };
  const reply = await gateway.call(
    "/messages",
    {
      ...base,
      system: [{ type: "text", text: "Be brief.", cache_control }],
      messages: [
        { role: "user", content: [{ type: "text", text: "a", cache_control, caller: "x" }] },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "t", name: "f", input: {}, caller: { type: "y" } }],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "t",
              content: [{ type: "text", text: "b", cache_control }],
            },
          ],
        },
      ],
      tools: [{ ...tools[0], name: "f", cache_control, allowed_callers: ["code_execution"] }],
      cache_control,
      service_tier: "auto",
      context_management: { edits: [] },
      fallbacks: [{ model: "dear" }],
      metadata: { user_id: "u1", other: 1 },
    },
    { headers: { "anthropic-beta": "context-1m-2025-08-07, interleaved-thinking-2025-05-14,x" } },
  );
  expect(reply.status).toBe(200);
  expect(JSON.stringify(sent())).not.toMatch(/1h|caller|context_management|fallbacks|tier|other/);
  expect(sent()).toMatchObject({
    cache_control: plain,
    metadata: { user_id: "u1" },
    system: [{ type: "text", text: "Be brief.", cache_control: plain }],
    tools: [{ name: "f", cache_control: plain }],
  });
  const { headers } = gateway.upstream.requests.at(-1) ?? {};
  expect(headers?.["anthropic-beta"]).toBe("interleaved-thinking-2025-05-14");
});

test("a thinking budget stays below the model's cap", async () => {
  for (const [max_tokens, budget_tokens, expected] of [
    [100_000, 90_000, { type: "enabled", budget_tokens: 63_999 }],
    [1_000, 2_000, { type: "disabled" }],
  ] as const) {
    gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "Hi" }] }));
    const thinking = { type: "enabled", budget_tokens };
    await gateway.call("/messages", { ...base, max_tokens, thinking });
    expect(sent()).toMatchObject({ max_tokens: Math.min(64_000, max_tokens), thinking: expected });
  }
});

test("a vendor's own tools go to that vendor only", async () => {
  gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "Hi" }] }));
  const own = [{ type: "bash_20250124", name: "bash" }];
  expect((await gateway.call("/messages", { ...base, tools: own })).status).toBe(200);
  expect(sent()["tools"]).toEqual(own);
  const elsewhere = await gateway.call("/messages", { ...base, model: "local", tools: own });
  expect(elsewhere.status).toBe(400);
  expect(await elsewhere.json()).toMatchObject({ error: { param: "tools[0].type" } });
  const billed = [{ type: "web_search_20250305", name: "web_search" }];
  const reply = await gateway.call("/messages", { ...base, tools: billed });
  expect(await reply.json()).toMatchObject({ error: { param: "tools[0].type" } });
});

test("a failure before the first token keeps its status", async () => {
  const [start = "", ping = ""] = anthropicEvents({ blocks: [], stopReason: null, usage });
  const error =
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n';
  gateway.upstream.replyOnce(eventReply([start, ping, error]));
  const reply = await gateway.call("/messages", { ...base, stream: true });
  expect(reply.status).toBe(529);
  expect(await reply.json()).toMatchObject({ error: { type: "overloaded_error" } });
});

test("a caller who disconnects pays for the reported input, and for the text until then", async () => {
  const payer = await openPayer(gateway);
  const block = { type: "text", text: "Hello there", pieces: ["Hello", " there"] } as const;
  const recording = nativeStream({ blocks: [block], usage });
  gateway.upstream.replyOnce(cutAfter({ recording, parts: 4, by: "hang" }));
  const leaving = new AbortController();
  const { messages } = anthropicAt(gateway, { apiKey: payer.key });
  const stream = messages.stream(base, { signal: leaving.signal });
  stream.on("text", () => leaving.abort());
  await expect(stream.finalMessage()).rejects.toThrow();
  const { charged, outcome, units } = await payer.receipt();
  expect(outcome).toBe("left");
  const { output = 0 } = units;
  // Before the thread that counts has started, the count is an estimate by length.
  expect(output).toBeWithin(1, 4);
  const input = 20n * 3_000n + 7n * 300n + 5n * 3_750n;
  expect(charged).toBe(input + BigInt(output) * 15_000n);
});
