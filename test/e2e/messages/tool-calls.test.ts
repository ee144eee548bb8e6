/** Tool calls: their arguments and ids, in replies and in requests, and what interrupts them. */

import { describe, expect, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/call/chat.ts";
import type { Driver } from "../../dialects/driver.ts";
import { chatDriver } from "../../dialects/drivers/chat.ts";
import { messagesDriver } from "../../dialects/drivers/messages.ts";
import { httpReply, jsonReply } from "../../fake/http/reply.ts";
import { chatAnswers, chatJson, deltaStream } from "../../fake/recordings.ts";
import { anthropicMessage } from "../../fake/vendors/anthropic-messages.ts";
import { bedrockReply } from "../../fake/vendors/bedrock-converse.ts";
import { anthropicAt, ask, messagesManifest, nativeWhole } from "../../setup/messages-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: messagesManifest });

test("arguments that are not an object are kept as they are", async () => {
  const call = (id: string, text: string) => ({
    id,
    type: "function",
    function: { name: "look", arguments: text },
  });
  const broken = ['{"city":"Os', "[1]", '"Oslo"'];
  gateway.upstream.replyOnce(
    chatJson({
      message: {
        role: "assistant",
        content: null,
        tool_calls: [call("empty", ""), ...broken.map((text, at) => call(`call_${at}`, text))],
      },
      finishReason: "tool_calls",
    }),
  );
  const { content } = await anthropicAt(gateway).messages.create({
    model: "local",
    max_tokens: 100,
    messages: [ask],
    tools: [{ name: "look", input_schema: { type: "object" } }],
  });
  expect(content).toMatchObject([
    { id: "empty", input: {} },
    ...broken.map((text) => ({ type: "tool_use", input: { INVALID_JSON: text } })),
  ]);
});

/** A Snowflake id: beyond 2^53, so that a number would round it. */
const id = "1234567890123456789";
const exact = `"post":${id}`;
const tools = [{ name: "look", input_schema: { type: "object" } }];
const post = (body: string, path = "/messages") =>
  fetch(`${gateway.baseUrl}${path}`, {
    method: "POST",
    headers: { "x-api-key": gateway.key, "content-type": "application/json" },
    body,
  });

describe("an integer beyond 2^53 keeps its digits", () => {
  const input = { post: "@@", name: "a" };
  const unquoted = (value: unknown) => JSON.stringify(value).replaceAll('"@@"', id);
  const turns = [
    ask,
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "7" }] },
  ];
  const request = (model: string, more: object = {}) =>
    unquoted({ model, max_tokens: 100, messages: turns, tools, ...more });
  const sent = () => gateway.upstream.requests.at(-1)?.body ?? "";

  test("in a whole reply of Anthropic", async () => {
    const message = String(
      anthropicMessage({
        blocks: [{ type: "tool_use", id: "toolu_1", name: "look", input }],
        stopReason: "tool_use",
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    ).replaceAll('"@@"', id);
    const headers = { "content-type": "application/json" };
    gateway.upstream.replyOnce(httpReply({ headers, body: [message], framing: "length" }));
    expect(await (await post(request("claude"))).text()).toContain(exact);
  });

  test("in a whole reply of another vendor", async () => {
    const called = { name: "look", arguments: unquoted(input) };
    gateway.upstream.replyOnce(
      chatJson({
        message: { content: null, tool_calls: [{ id: "a", type: "function", function: called }] },
        finishReason: "tool_calls",
      }),
    );
    expect(await (await post(request("local"))).text()).toContain(exact);
  });

  for (const [name, more] of [
    ["short", {}],
    ["long", { system: "word ".repeat(30_000) }],
  ] as const) {
    test(`in a ${name} request to Anthropic`, async () => {
      gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "Hi" }] }));
      expect((await post(request("claude", more))).status).toBe(200);
      expect(sent()).toContain(exact);
    });

    test(`in a ${name} request to another vendor`, async () => {
      gateway.upstream.replyOnce(chatAnswers.plain());
      expect((await post(request("local", more))).status).toBe(200);
      expect(JSON.parse(sent()).messages.at(-2).tool_calls[0].function.arguments).toContain(exact);
    });
  }

  test("in a prompt whose tokens Anthropic counts", async () => {
    gateway.upstream.replyOnce(jsonReply({ body: { input_tokens: 9 } }));
    const reply = await post(request("claude"), "/messages/count_tokens");
    expect(await reply.json()).toEqual({ input_tokens: 9 });
    expect(sent()).toContain(exact);
  });
});

test("an integer beyond 2^53 outside of arguments is a number, and is validated as one", async () => {
  const messages = [ask];
  const body = JSON.stringify({ model: "local", max_tokens: "@@", messages });
  gateway.upstream.replyOnce(chatAnswers.plain());
  expect((await post(body.replace('"@@"', id))).status).not.toBe(500);
  const wrong = { type: "tool_use", id: "a", name: "look", input: "@@" };
  const right = { type: "tool_use", id: "b", name: "look", input: { post: "@@" } };
  const content = [wrong, right];
  const invalid = JSON.stringify({
    model: "local",
    max_tokens: 100,
    messages: [ask, { role: "assistant", content }, ask],
  });
  const reply = await post(invalid.replaceAll('"@@"', id));
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({
    error: { param: "messages[1].content[0].input" },
  });
});
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

const called = { type: "tool_use", id: "a", name: "look", input: { x: 1 } };

describe("content within a call follows the call, whose arguments stay intact", () => {
  const scenes: Readonly<Record<string, readonly [JsonObject, JsonObject]>> = {
    text: [{ content: "\n" }, { type: "text", text: "\n" }],
    reasoning: [{ reasoning_content: "Hm." }, { type: "thinking", thinking: "Hm." }],
    "a refusal": [{ refusal: "No." }, { type: "text", text: "No." }],
  };
  for (const [name, [delta, block]] of Object.entries(scenes))
    test(name, async () => {
      const { content } = await contentOf([first('{"x":'), delta, next("1}")]);
      expect(content).toMatchObject([called, block]);
      expect(content).toHaveLength(2);
    });
});

test("text in the same chunk as a piece of a call stays in order", async () => {
  const { content } = await contentOf([
    { content: "a", ...first('{"x":') },
    { content: "b", ...next("1}") },
    { content: "c" },
  ]);
  expect(content).toMatchObject([
    { type: "text", text: "a" },
    called,
    { type: "text", text: "bc" },
  ]);
});

test("whitespace after complete arguments does not end up in the text after the call", async () => {
  const { content } = await contentOf([
    first('{"x":1}'),
    { content: "Done" },
    next("\n"),
    { content: "." },
  ]);
  expect(content).toMatchObject([called, { type: "text", text: "Done." }]);
});

test("text within a call that is never complete is sent at the end", async () => {
  const { content } = await contentOf([first(""), { content: "I look." }]);
  expect(content).toMatchObject([
    { type: "tool_use", id: "a", input: {} },
    { type: "text", text: "I look." },
  ]);
});

const ids = ["functions.look:0", "functions.look.0", "toolu_1"];

/** The objects in a request, however deep. */
function objectsIn(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isJsonObject(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}

/** Ids of the calls, and those that the results name. */
function idsIn(body: unknown): readonly (readonly unknown[])[] {
  const all = objectsIn(body);
  const native = (type: string, name: string) =>
    all.filter((one) => one["type"] === type).map((one) => one[name]);
  const converse = (name: string) =>
    all.map((one) => one[name]).flatMap((one) => (isJsonObject(one) ? [one["toolUseId"]] : []));
  return [
    [...native("tool_use", "id"), ...converse("toolUse")],
    [...native("tool_result", "tool_use_id"), ...converse("toolResult")],
  ];
}

async function sentIds(model: string, driver: Driver) {
  gateway.upstream.replyOnce(
    model === "claude"
      ? nativeWhole({ blocks: [{ type: "text", text: "Hi" }] })
      : jsonReply({
          body: JSON.parse(bedrockReply({ blocks: [{ text: ["Hi"] }], stopReason: "end_turn" })),
        }),
  );
  const body = driver.toBody({
    model,
    cap: 100,
    tools: [{ name: "look", description: undefined, parameters: { type: "object" } }],
    turns: [
      { by: "user", content: ["Say hello"] },
      { by: "assistant", calls: ids.map((id) => ({ id, name: "look", arguments: "{}" })) },
      ...ids.map((id) => ({ by: "tool", id, content: ["7"] }) as const),
    ],
  });
  const reply = await gateway.call(driver.path, body);
  expect(reply.status).toBe(200);
  return idsIn(gateway.upstream.requests.at(-1)?.json);
}

for (const [model, driver] of [
  ["claude", messagesDriver],
  ["claude", chatDriver],
  ["claude-cloud", messagesDriver],
] as const)
  test(`${model} on ${driver.path} gets ids that it accepts, the same in calls and results`, async () => {
    const [calls = [], results] = await sentIds(model, driver);
    expect(calls).toHaveLength(ids.length);
    expect(results).toEqual([...calls]);
    expect(calls.at(-1)).toBe("toolu_1");
    expect(new Set(calls).size).toBe(ids.length);
    for (const id of calls) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });
