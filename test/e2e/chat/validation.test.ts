/** What POST /v1/chat/completions refuses, and how it says so. Nothing refused reaches an upstream. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { BadRequestError } from "openai";
import { chatAnswers } from "../../fake/recordings.ts";
import type { ErrorBody } from "../../replies/event-stream.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
beforeEach(() => gateway.upstream.replyWith(chatAnswers.plain()));

const path = "/chat/completions";
const user = { role: "user", content: "hi" };
const hello = { model: "svc-3-flash", messages: [user] };

async function refusal(reply: Response | Promise<Response>) {
  const response = await reply;
  const { error } = (await response.json()) as ErrorBody;
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(Object.keys(error)).toEqual(["message", "type", "param", "code"]);
  expect(error.type).toBe("invalid_request_error");
  return { status: response.status, ...error };
}

// Each field by itself, with values of all types and beyond its bounds, is openapi.test.ts's.
describe("a place within a field that is wrong is named, and the message says what is right", () => {
  afterEach(() => expect(gateway.upstream.requests).toEqual([]));

  const content = (message: object) => ({ messages: [message] });
  const part = (one: object, role = "user") => content({ role, content: [one] });
  const call = (one: object) => content({ role: "assistant", tool_calls: [{ id: "a", ...one }] });
  const first = "messages[0].content[0]";

  type Case = readonly [given: object, param: string, right: string];
  const cases: readonly Case[] = [
    [content({ content: "hi" }), "messages[0].role", "is required and must be one of: system"],
    [content({ role: "robot", content: "hi" }), "messages[0].role", "user, assistant, tool"],
    [content({ role: 1, content: "hi" }), "messages[0].role", "user, assistant, tool"],
    [{ messages: ["hi"] }, "messages[0]", "an object with role and content"],
    [{ messages: [user, null] }, "messages[1]", "an object with role and content"],
    [content({ role: "user" }), "messages[0].content", "is required and must be text, or a list"],
    [content({ role: "user", content: null }), "messages[0].content", "text, or a list"],
    [content({ role: "user", content: 5 }), "messages[0].content", "text, or a list"],
    [content({ role: "user", content: {} }), "messages[0].content", "text, or a list"],
    [content({ role: "user", content: [] }), "messages[0].content", "a list of one or more"],
    [content({ role: "user", content: ["x"] }), "messages[0].content[0]", "an object with a type"],
    [part({ type: "text" }), `${first}.text`, "is required and must be a string"],
    [part({ type: "audio", audio: "" }), `${first}.type`, "one of: text, image_url"],
    [part({ type: "image_url", image_url: "x" }), `${first}.image_url`, "an object with a url"],
    [part({ type: "image_url" }), `${first}.image_url`, "is required and must be an object"],
    [part({ type: "image_url", image_url: {} }), `${first}.image_url.url`, "is required"],
    [part({ type: "image_url", image_url: { url: "x" } }, "system"), `${first}.type`, "of: text"],
    [content({ role: "system" }), "messages[0].content", "is required"],
    [content({ role: "assistant" }), "messages[0].content", "unless the message has tool_calls"],
    [
      content({ role: "assistant", tool_calls: [] }),
      "messages[0].content",
      "unless the message has",
    ],
    [call({ function: { name: "f" } }), "messages[0].tool_calls[0].function.arguments", "required"],
    [content({ role: "tool", content: "4" }), "messages[0].tool_call_id", "is required"],
    [
      { stream_options: { include_usage: "yes" } },
      "stream_options.include_usage",
      "must be true or false",
    ],
    [{ logit_bias: { 50256: -101 } }, "logit_bias[50256]", "must be a number from -100 to 100"],
    [{ logit_bias: { 50256: 100.5 } }, "logit_bias[50256]", "must be a number from -100 to 100"],
    [{ logit_bias: { 50256: "1" } }, "logit_bias[50256]", "must be a number from -100 to 100"],
    [{ logit_bias: { cat: 1 } }, "logit_bias", "must be an object of token ids"],
    [{ logit_bias: { "-1": 1 } }, "logit_bias", "must be an object of token ids"],
    [{ tools: Array(129).fill(tool("f")) }, "tools", "at most 128 tools"],
    [{ tools: [{ ...tool("f"), type: "retrieval" }] }, "tools[0].type", '"function"'],
    [{ tools: [{ type: "function" }] }, "tools[0].function", "is required"],
    [{ tools: [tool("")] }, "tools[0].function.name", "the name of the function"],
    [
      { tool_choice: choiceOf("g"), tools: [tool("f")] },
      "tool_choice.function.name",
      "must be the name of a tool in tools",
    ],
    [{ tool_choice: choiceOf("f") }, "tool_choice.function.name", "a tool in tools"],
    [{ tool_choice: choiceOf("f"), tools: [] }, "tool_choice.function.name", "a tool in tools"],
    [{ response_format: { type: "xml" } }, "response_format.type", '"json_schema"'],
    [{ modalities: ["audio"] }, "modalities[0]", "/v1/audio/speech"],
    [{ modalities: ["text", "audio"] }, "modalities[1]", "/v1/audio/speech"],
    [{ modalities: ["image", "text"] }, "modalities[0]", 'must be "text"'],
    [content({ role: "function", name: "f", content: "4" }), "messages[0].role", "tool_call_id"],
  ];

  for (const [given, param, right] of cases)
    test(`${param}: ${(JSON.stringify(given) ?? "").slice(0, 70)}`, async () => {
      const { status, code, message, ...error } = await refusal(
        gateway.call(path, { ...hello, ...given }),
      );
      expect({ status, code, param: error.param }).toEqual({
        status: 400,
        code: "invalid_request",
        param,
      });
      expect(message).toStartWith(`${param} `);
      expect(message).toContain(right);
      expect(message).toEndWith(".");
    });
});

test("fields that have their default value, and those that change nothing, pass", async () => {
  for (const given of [
    { modalities: ["text"] },
    { modalities: [] },
    { functions: [] },
    { function_call: "none" },
    { modalities: null, functions: null, web_search_options: null },
    { audio: { voice: "alloy", format: "wav" } },
    { logit_bias: {} },
    { logit_bias: { 1: -100, 2: 100, 3: 0.5 } },
    { tool_choice: "auto" },
    { tool_choice: "required" },
    { tool_choice: choiceOf("f"), tools: [tool("e"), tool("f")] },
    { tool_choice: { type: "allowed_tools", allowed_tools: {} }, tools: [tool("f")] },
    { stream_options: { include_usage: true } },
    { stream: false, stream_options: { include_usage: true } },
    { store: false },
    { service_tier: "auto" },
  ])
    expect({ given, status: (await gateway.call(path, { ...hello, ...given })).status }).toEqual({
      given,
      status: 200,
    });
});

test("the SDK raises its own class for a refused field", async () => {
  const call = gateway.client().chat.completions.create({ ...hello, n: 0 } as never);
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(BadRequestError);
  expect(error).toMatchObject({
    status: 400,
    code: "invalid_request",
    param: "n",
    type: "invalid_request_error",
    requestID: expect.stringMatching(/^req_[0-9a-f]{32}$/),
  });
});

describe("numbers and nesting beyond all measure", () => {
  const raw = (field: string) =>
    `{"model":"svc-3-flash","messages":[${JSON.stringify(user)}],${field}}`;

  test("numbers that overflow are refused by name", async () => {
    for (const field of ["temperature", "max_tokens", "seed", "n", "top_p"]) {
      const { status, param } = await refusal(gateway.call(path, raw(`"${field}":1e999`)));
      expect([status, param]).toEqual([400, field]);
    }
    expect(gateway.upstream.requests).toEqual([]);
  });

  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

  test("what is passed on may be nested 128 levels deep", async () => {
    const body = raw(`"chat_template_kwargs":{"a":${nested(127)}}`);
    expect((await gateway.call(path, body)).status).toBe(200);
    expect(gateway.upstream.requests[0]?.body).toContain(nested(127));
  });

  // By name, so before it is written back: that takes seconds before it fails.
  test("one level more, or 30,000, is a 400 that names the field", async () => {
    for (const levels of [128, 30_000])
      for (const [field, before, after] of [
        ["chat_template_kwargs", '{"a":', "}"],
        ["tools", '[{"type":"function","function":{"name":"f","parameters":{"a":', "}}}]"],
        ["messages", '[{"role":"user","content":"hi","extra":', "}]"],
      ] as const) {
        const body = raw(`"${field}":${before}${nested(levels)}${after}`);
        expect(await refusal(gateway.call(path, body))).toMatchObject({
          status: 400,
          param: field,
          message: expect.stringMatching(/^\w+ must .*nested .* 128 levels deep\.$/),
        });
      }
    expect((await refusal(gateway.call(path, raw(`"messages":${nested(1e5)}`)))).status).toBe(400);
    expect(gateway.upstream.requests).toEqual([]);
  });

  test("100,000 levels in a field that nobody reads fail as a 400 or not at all", async () => {
    const reply = await gateway.call(path, raw(`"x":${nested(100_000)}`));
    expect([200, 400]).toContain(reply.status);
    expect((await gateway.call(path, hello)).status).toBe(200);
  });

  test("of a field that comes twice, the last counts, for us and for the upstream", async () => {
    const body = `{"model":"unknown","temperature":9,"messages":[],"model":"svc-3-flash","messages":[${JSON.stringify(user)}],"temperature":1}`;
    expect((await gateway.call(path, body)).status).toBe(200);
    expect(gateway.upstream.requests[0]?.json).toMatchObject({
      model: "upstream-chat",
      temperature: 1,
      messages: [user],
    });
  });
});

function tool(name: string): object {
  return { type: "function", function: { name } };
}

function choiceOf(name: string): object {
  return { type: "function", function: { name } };
}

test("fields inside a message that are null count as absent", async () => {
  const url = "data:image/png;base64,AA==";
  const content = [{ type: "image_url", image_url: { url, detail: null } }];
  const call = { id: "c", type: null, function: { name: "f", arguments: "{}" } };
  const messages = [
    { role: "user", content, name: null },
    { role: "assistant", content: null, tool_calls: [call], name: null },
    { role: "assistant", content: null, refusal: "I cannot help with that." },
    { role: "tool", content: "done", tool_call_id: "c" },
  ];
  gateway.upstream.replyOnce(chatAnswers.plain());
  expect((await gateway.call(path, { ...hello, messages })).status).toBe(200);
});
