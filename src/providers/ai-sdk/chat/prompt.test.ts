import { describe, expect, test } from "bun:test";
import { expectRefused, useBridge } from "../../../../test/providers/bridge.ts";
import type { JsonObject } from "../../../call/chat.ts";

const anthropic = useBridge({ kind: "anthropic", options: { image_urls: "true" } });
const own = useBridge({ kind: "anthropic" });
const bedrock = useBridge({ kind: "bedrock" });

const user = { role: "user", content: "Hello?" };
const call = (messages: readonly JsonObject[], options: JsonObject = {}) => ({
  messages,
  maxOutputTokens: 100,
  options,
});
const image = (url: string) => ({
  role: "user",
  content: [
    { type: "text", text: "What is it?" },
    { type: "image_url", image_url: { url } },
  ],
});

describe("nobody but the vendor fetches what a caller names", () => {
  test("an image's address goes to a vendor that takes addresses, as it stands", async () => {
    await anthropic.chat(call([image("https://images.example/cat.png?size=1")]));
    expect(anthropic.asked["messages"]).toMatchObject([
      {
        content: [
          { type: "text" },
          { type: "image", source: { type: "url", url: "https://images.example/cat.png?size=1" } },
        ],
      },
    ]);
  });

  test("as it was parsed, so that nobody reads another host in it", async () => {
    await anthropic.chat(call([image("https://public.example\\@127.0.0.1/x")]));
    expect(JSON.stringify(anthropic.asked)).toContain("https://public.example/@127.0.0.1/x");
  });

  test("an address inside, or to a server of the operator's own, is refused", async () => {
    const param = "messages[0].content[1].image_url.url";
    for (const url of [
      "https://vault.corp/x",
      "https://10.0.0.1/x",
      "https://user@images.example/x",
    ])
      await expectRefused(anthropic, call([image(url)]), param);
    await expectRefused(own, call([image("https://images.example/cat.png")]), param);
  });

  test("to others it is refused, and the field is named", async () => {
    const param = "messages[1].content[1].image_url.url";
    for (const url of ["https://images.example/cat.png", "http://127.0.0.1:1/x"])
      await expectRefused(bedrock, call([user, image(url)]), param);
  });
});

test("a data URI that names no type, or cannot be read, is refused by its field", async () => {
  for (const url of ["data:,x", "data:;base64,AAAA", "data:image/svg+xml,%E0%A4%A"])
    await expectRefused(anthropic, call([image(url)]), "messages[0].content[1].image_url.url");
});

const assistant = (text: string) => ({
  role: "assistant",
  content: null,
  tool_calls: [
    { id: "a", type: "function", function: { name: "look", arguments: "{}" } },
    { id: "b", type: "function", function: { name: "look", arguments: text } },
  ],
});

test("arguments that are no JSON of an object are refused by their field", async () => {
  // What is nested without end would take seconds to write.
  const deep = `{"a":${"[".repeat(12_000)}${"]".repeat(12_000)}}`;
  const param = "messages[1].tool_calls[1].function.arguments";
  for (const text of ['{"city":', "[1]", "7", "null", deep])
    await expectRefused(anthropic, call([user, assistant(text)]), param);
});

test("an answer to a tool call that nobody made is refused by its field", async () => {
  const answer = { role: "tool", tool_call_id: "c", content: "rain" };
  const param = "messages[2].tool_call_id";
  await expectRefused(anthropic, call([user, assistant("{}"), answer]), param);
});

test("more than one answer is refused by its field", async () => {
  await expectRefused(anthropic, call([user], { n: 2 }), "n");
  await anthropic.chat(call([user], { n: 1 }));
});

test("instructions in the middle of a conversation go in front of it, in their order", async () => {
  const messages = [
    { role: "system", content: "One." },
    user,
    { role: "assistant", content: "Yes." },
    { role: "developer", content: "Two." },
    user,
  ];
  await anthropic.chat(call(messages));
  expect(anthropic.asked).toMatchObject({
    system: [{ text: "One." }, { text: "Two." }],
    messages: [{ role: "user" }, { role: "assistant" }, { role: "user" }],
  });
  await bedrock.chat(call(messages));
  expect(bedrock.asked["system"]).toEqual([{ text: "One." }, { text: "Two." }]);
});

describe("a wish for a cache", () => {
  const wish = { cache_control: { type: "ephemeral", ttl: "1h" } };
  const messages = [
    {
      role: "system",
      content: [
        { type: "text", text: "Long.", ...wish },
        { type: "text", text: "Short." },
      ],
    },
    { role: "user", content: [{ type: "text", text: "Hello?", ...wish }] },
  ];

  test("goes along with its part, and for no longer than the price is for", async () => {
    await anthropic.chat(call(messages));
    const cache_control = { type: "ephemeral" };
    expect(anthropic.asked).toMatchObject({
      system: [{ text: "Long.", cache_control }, { text: "Short." }],
      messages: [{ content: [{ text: "Hello?", cache_control }] }],
    });
    expect(JSON.stringify(anthropic.asked)).not.toContain("1h");
  });

  test("goes to Amazon's cloud in its own form", async () => {
    await bedrock.chat(call(messages));
    const cachePoint = { type: "default" };
    expect(bedrock.asked).toMatchObject({
      system: [{ text: "Long." }, { cachePoint }, { text: "Short." }],
      messages: [{ content: [{ text: "Hello?" }, { cachePoint }] }],
    });
  });
});

test("a wish for JSON of any form is told in words, where it cannot be told otherwise", async () => {
  const response_format = { type: "json_object" };
  await anthropic.chat(call([{ role: "system", content: "Be kind." }, user], { response_format }));
  expect(anthropic.asked["system"]).toMatchObject([
    { text: "Be kind." },
    { text: "Answer with one JSON object and nothing else." },
  ]);
});

test("one tool at a time, and who asks, go along", async () => {
  const tools = [{ type: "function", function: { name: "look" } }];
  await anthropic.chat(call([user], { tools, parallel_tool_calls: false, user: "user-7" }));
  expect(anthropic.asked).toMatchObject({
    tools: [{ name: "look", input_schema: { type: "object" } }],
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    metadata: { user_id: "user-7" },
  });
});
