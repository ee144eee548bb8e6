/** Arguments of tool calls, in replies and in requests. */

import { describe, expect, test } from "bun:test";
import { httpReply, jsonReply } from "../../fake/http/reply.ts";
import { chatAnswers, chatJson } from "../../fake/recordings.ts";
import { anthropicMessage } from "../../fake/vendors/anthropic-messages.ts";
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
