/** Messages on models of vendors with other formats; sources that they name are citations of the text. */

import { expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { readTypedEvents } from "../../dialects/drivers/events.ts";
import { messagesDriver } from "../../dialects/drivers/messages.ts";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatChunk, chatJson, chatStream, DONE, deltaStream } from "../../fake/recordings.ts";
import { anthropicAt, ask, messagesManifest, nativeWhole } from "../../setup/messages-home.ts";
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

const piece = (index: number, more: JsonObject) => ({ tool_calls: [{ index, ...more }] });
test("a stream begins with an estimate and a ping, and parts calls whose pieces alternate", async () => {
  const deltas = [
    { role: "assistant", content: "" },
    piece(0, { id: "a", type: "function", function: { name: "look", arguments: "" } }),
    piece(0, { function: { arguments: '{"city":' } }),
    piece(1, { id: "b", type: "function", function: { name: "see", arguments: "{" } }),
    piece(0, { function: { arguments: '"Oslo"}' } }),
    piece(1, { function: { arguments: "}" } }),
  ];
  const usage = usageOf({ prompt: 19, completion: 10, cached: 8 });
  const pieces = deltas.map((delta) => chatChunk({ delta }));
  const ends = [chatChunk({ finish: "tool_calls" }), chatChunk({ choices: [], usage }), DONE];
  gateway.upstream.replyOnce(chatStream({ events: [...pieces, ...ends] }));
  const text = await (await gateway.call("/messages", { ...base, tools, stream: true })).text();
  const { events } = readTypedEvents(text);
  expect(events.slice(0, 2)).toMatchObject([{ type: "message_start" }, { type: "ping" }]);
  // Until the vendor has counted: about four bytes per token.
  const [start] = events as unknown as { message: { usage: Record<string, number> } }[];
  expect(start?.message.usage).toEqual({
    input_tokens: expect.any(Number),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 0,
  });
  expect(start?.message.usage["input_tokens"]).toBeWithin(20, 300);
  expect(messagesDriver.fromStream(text)).toMatchObject({
    calls: [
      { name: "look", arguments: { city: "Oslo" } },
      { name: "see", arguments: {} },
    ],
    finish: "tool_calls",
    usage: { input: 19, output: 10, cached: 8 },
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

const annotation = (name: string): JsonObject => ({
  type: "url_citation",
  url_citation: {
    url: `https://${name}.example`,
    title: name,
    content: `words of ${name}`,
    start_index: 0,
    end_index: 2,
  },
});
const citation = (name: string) => ({
  type: "web_search_result_location" as const,
  url: `https://${name}.example`,
  title: name,
  cited_text: `words of ${name}`,
  encrypted_index: "",
});
test("a whole reply cites the sources of its text", async () => {
  const annotations = [annotation("a"), { type: "file_citation", file_citation: {} }];
  gateway.upstream.replyOnce(chatJson({ message: { content: "So.", annotations } }));
  const { content } = await anthropicAt(gateway).messages.create(base);
  expect(content).toEqual([{ type: "text", text: "So.", citations: [citation("a")] }]);
});

test("a streamed reply cites them, also those that arrive before the text", async () => {
  gateway.upstream.replyOnce(
    deltaStream([
      { annotations: [annotation("a")] },
      { content: "So" },
      { content: ".", annotations: [annotation("b"), annotation("c")] },
    ]),
  );
  const stream = anthropicAt(gateway).messages.stream(base);
  const heard: string[] = [];
  stream.on("citation", (one) => {
    if (one.type === "web_search_result_location") heard.push(one.url);
  });
  const { content } = await stream.finalMessage();
  const citations = ["a", "b", "c"].map(citation);
  expect(content).toMatchObject([{ type: "text", text: "So.", citations }]);
  expect(content).toHaveLength(1);
  expect(heard).toEqual(citations.map(({ url }) => url));
});

test("sources without text add no empty block", async () => {
  gateway.upstream.replyOnce(deltaStream([{ annotations: [annotation("a")] }]));
  const { content } = await anthropicAt(gateway).messages.stream(base).finalMessage();
  expect(content).toEqual([]);
});

test("citations of other vendors do not go to Anthropic, whose own do", async () => {
  const own = { ...citation("own"), encrypted_index: "ZW5j" };
  const cited = (citations: readonly JsonObject[]) => ({ type: "text", text: "So.", citations });
  gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "Hi" }] }));
  const content = [cited([citation("a"), own]), cited([citation("a")])];
  const messages = [ask, { role: "assistant", content }, ask];
  await gateway.call("/messages", { ...base, model: "claude", messages });
  const { messages: got } = sent() as unknown as { messages: JsonObject[] };
  const expected: JsonObject[] = [cited([own]), { type: "text", text: "So.", citations: null }];
  expect(got[1]?.["content"]).toEqual(expected);
});
