/** Errors, counts and the list of models, as clients of the Messages format read them. */

import { describe, expect, test } from "bun:test";
import {
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from "@anthropic-ai/sdk";
import type { Json, JsonObject } from "../../../src/call/chat.ts";
import { failureOf } from "../../clients/stage.ts";
import { httpReply, jsonReply } from "../../fake/http/reply.ts";
import { failures } from "../../fake/recordings.ts";
import { anthropicAt, ask, messagesManifest } from "../../setup/messages-home.ts";
import { countTokens, openPayer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: messagesManifest });
const base = { model: "local", max_tokens: 100, messages: [ask] };
const user = (...content: Json[]) => ({ messages: [{ role: "user", content }] });
const text = { type: "text", text: "?" };

async function errorOf(body: unknown, path = "/messages", init: RequestInit = {}) {
  const reply = await gateway.call(path, body, init);
  const { error } = (await reply.json()) as { error: JsonObject };
  return { status: reply.status, ...error };
}

// Each field by itself is openapi.test.ts's.
describe("an invalid place within a field is named", () => {
  const image = (source: Json) => ({ type: "image", source });
  const document = (source: JsonObject, more = {}) => user({ type: "document", source, ...more });
  const place = "messages[0].content[0]";
  const wrong: readonly (readonly [string, JsonObject])[] = [
    ["messages[0].role", { messages: [{ role: "tool", content: "x" }] }],
    ["messages[0].content", { messages: [{ role: "user", content: [] }] }],
    ["messages[0].content[1].type", user(text, { type: "video" })],
    ["messages[0].content[0].source", user({ type: "image" })],
    ["messages[0].content[1].source.type", user(text, image({ type: "file", file_id: "f" }))],
    [
      "messages[0].content[1].source.media_type",
      user(text, image({ type: "base64", media_type: "image/bmp", data: "x" })),
    ],
    [
      `${place}.source.media_type`,
      document({ type: "base64", media_type: "text/html", data: "x" }),
    ],
    [
      "messages[0].content[0].content[0].type",
      user({ type: "tool_result", tool_use_id: "a", content: [{ type: "audio" }] }),
    ],
    ["messages[0].content[0].tool_use_id", user({ type: "tool_result" })],
    [
      "messages[0].content[0].input",
      { messages: [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "b" }] }] },
    ],
    ["messages[0].content[0].text", user({ type: "text", text: "\ud800" })],
    ["system[0].type", { system: [{ type: "image" }] }],
    ["stop_sequences[0]", { stop_sequences: [""] }],
    ["thinking.type", { thinking: { type: "hard" } }],
    ["thinking.budget_tokens", { thinking: { type: "enabled" } }],
    ["tools[0].name", { tools: [{ input_schema: {} }] }],
    ["tools[0].input_schema", { tools: [{ name: "a" }] }],
    ["tools[0].type", { tools: [{ type: "web_search_20250305", name: "web_search" }] }],
    ["tool_choice.name", { tool_choice: { type: "tool", name: "a" } }],
    ["output_config.format.schema", { output_config: { format: { type: "json_schema" } } }],
    ["output_config.effort", { output_config: { effort: "huge" } }],
    // Only vendors that speak the format can do these.
    [`${place}.source.url`, document({ type: "url", url: "https://example.org/a.pdf" })],
    [
      `${place}.citations`,
      document(
        { type: "text", media_type: "text/plain", data: "x" },
        { citations: { enabled: true } },
      ),
    ],
  ];
  for (const [param, fields] of wrong)
    test(`${param}: ${JSON.stringify(fields).slice(0, 60)}`, async () => {
      const error = await errorOf({ ...base, ...fields });
      // The validator's own words, where ours are lost.
      expect(JSON.stringify(error)).not.toContain("must have required");
      expect(error).toMatchObject({
        status: 400,
        type: "invalid_request_error",
        code: "invalid_request",
        param,
        message: expect.stringContaining(param),
      });
    });

  test("and nothing reaches an upstream", () => expect(gateway.upstream.requests).toEqual([]));
});

describe("errors have the format's own types", () => {
  test("by what the SDK throws", async () => {
    const { messages } = anthropicAt(gateway, { apiKey: "sk-svc-wrong" });
    expect(await failureOf(messages.create(base))).toBeInstanceOf(AuthenticationError);
    const right = anthropicAt(gateway).messages;
    const unknown = right.create({ ...base, model: "none" });
    expect(await failureOf(unknown)).toBeInstanceOf(PermissionDeniedError);
    const bad = right.create({ ...base, max_tokens: 0 });
    expect(await failureOf(bad)).toBeInstanceOf(BadRequestError);
  });

  test("for a missing or wrong key, and name both headers that can carry it", async () => {
    const version = { "anthropic-version": "2023-06-01" };
    const places = [
      ["/v1/messages", {}],
      ["/v1/messages/count_tokens", {}],
      ["/v1/models", version],
    ] as const;
    for (const [path, headers] of places)
      for (const key of [{}, { "x-api-key": "sk-svc-wrong" }]) {
        const method = path === "/v1/models" ? "GET" : "POST";
        const reply = await fetch(gateway.origin + path, {
          method,
          headers: { ...headers, ...key },
        });
        const { error } = (await reply.json()) as { error: JsonObject };
        expect([reply.status, error["type"]]).toEqual([401, "authentication_error"]);
        expect(error["message"]).toContain(
          "key as `x-api-key: sk-svc-…` or `Authorization: Bearer sk-svc-…`.",
        );
      }
    const chat = await fetch(`${gateway.origin}/v1/chat/completions`, { method: "POST" });
    expect(await chat.text()).not.toContain("x-api-key");
  });

  test("for a balance that does not cover the call", async () => {
    const { key } = await openPayer(gateway, { credit: 1_000n });
    const headers = { authorization: `Bearer ${key}` };
    expect(await errorOf(base, "/messages", { headers })).toMatchObject({
      status: 402,
      type: "billing_error",
      code: "insufficient_quota",
    });
  });

  test("of upstreams, before the first byte, streamed or not", async () => {
    for (const stream of [true, false]) {
      gateway.upstream.replyOnce(failures.overloaded());
      expect(await errorOf({ ...base, stream })).toMatchObject({
        status: 529,
        type: "overloaded_error",
        code: "upstream_overloaded",
      });
    }
  });

  test("of paths, methods, types and sizes", async () => {
    for (const [method, path, body, status, type] of [
      ["GET", "/v1/messages", undefined, 405, "invalid_request_error"],
      ["POST", "/v1/messages/batches", "{}", 404, "not_found_error"],
      ["POST", "/v1/messages", "{", 400, "invalid_request_error"],
    ] as const) {
      const headers = { "x-api-key": gateway.key, "content-type": "application/json" };
      const init = { method, headers, ...(body === undefined ? {} : { body }) };
      const reply = await fetch(gateway.origin + path, init);
      expect(reply.status).toBe(status);
      expect(reply.headers.get("request-id")).toBe(reply.headers.get("x-request-id"));
      const told = (await reply.json()) as JsonObject;
      expect(told).toMatchObject({ type: "error", error: { type } });
      expect(told["request_id"]).toBe(reply.headers.get("request-id"));
    }
    const media = await errorOf("x", "/messages", { headers: { "content-type": "text/plain" } });
    expect(media).toMatchObject({ status: 415, type: "invalid_request_error" });
    const large = await errorOf("x".repeat(33 * 1024 * 1024));
    expect(large).toMatchObject({ status: 413, type: "request_too_large" });
  });

  test("on every path, for a caller who sends anthropic-version", async () => {
    const headers = { "anthropic-version": "2023-06-01" };
    expect(await errorOf({}, "/embeddings", { headers })).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      param: "model",
    });
  });

  test("an embeddings model does not serve messages", async () => {
    expect(await errorOf({ ...base, model: "vectors" })).toMatchObject({
      status: 400,
      code: "wrong_endpoint",
    });
  });
});

describe("count_tokens", () => {
  test("is the vendor's own count if the vendor serves the format", async () => {
    gateway.upstream.replyOnce(jsonReply({ body: { input_tokens: 42 } }));
    const { messages } = anthropicAt(gateway);
    const counted = await messages.countTokens({ model: "claude", messages: [ask] });
    expect(counted.input_tokens).toBe(42);
    const { path, json } = gateway.upstream.requests.at(-1) ?? {};
    expect(path).toBe("/v1/messages/count_tokens");
    expect(json).toEqual({ model: "claude-sonnet-4-5", messages: [ask] });
  });

  test("is our own for all others, and if the vendor fails; nothing is charged", async () => {
    const expected = countTokens("Say hello") + 4;
    const payer = await openPayer(gateway);
    const { messages } = anthropicAt(gateway, { apiKey: payer.key });
    const local = await messages.countTokens({ model: "local", messages: [ask] });
    expect(local.input_tokens).toBe(expected);
    expect(gateway.upstream.requests).toHaveLength(0);
    for (const failure of [
      failures.overloaded(),
      jsonReply({ body: { input_tokens: -1 } }),
      httpReply({ status: 404, body: ["no"], framing: "length" }),
    ]) {
      gateway.upstream.replyOnce(failure);
      const counted = await messages.countTokens({ model: "claude", messages: [ask] });
      expect(counted.input_tokens).toBe(expected);
    }
    expect(await payer.settled(0)).toEqual([]);
  });

  test("checks key, model and fields like a call", async () => {
    const path = "/messages/count_tokens";
    expect(await errorOf({ model: "local" }, path)).toMatchObject({ param: "messages" });
    expect(await errorOf({ model: "none", messages: [ask] }, path)).toMatchObject({ status: 403 });
    const headers = { authorization: "Bearer sk-svc-wrong" };
    expect(await errorOf({}, path, { headers })).toMatchObject({ type: "authentication_error" });
  });

  test("uses one of the requests per minute", async () => {
    const { operations } = gateway.server;
    const { id } = await operations.accounts.create({ name: "limited" });
    const { key } = await operations.keys.create({ account: id, rpm: "1" });
    const { messages } = anthropicAt(gateway, { apiKey: key });
    const prompt = { model: "local", messages: [ask] };
    await messages.countTokens(prompt);
    expect(await failureOf(messages.countTokens(prompt))).toBeInstanceOf(RateLimitError);
  });
});

describe("models", () => {
  const ids = ["claude", "claude-cloud", "flash", "local"];

  test("are the chat models, page by page, as the SDK lists them", async () => {
    const { models } = anthropicAt(gateway);
    const listed: string[] = [];
    for await (const { id, type } of models.list({ limit: 3 })) {
      expect(type).toBe("model");
      listed.push(id);
    }
    expect(listed).toEqual(ids);
    const back = await models.list({ limit: 2, before_id: "local" });
    expect(back.data.map(({ id }) => id)).toEqual(["claude-cloud", "flash"]);
    expect(back).toMatchObject({ has_more: true, first_id: "claude-cloud", last_id: "flash" });
    expect(await failureOf(models.list({ after_id: "none" }))).toBeInstanceOf(BadRequestError);
  });

  test("one by one, and unknown ones are not found", async () => {
    const { models } = anthropicAt(gateway);
    expect(await models.retrieve("claude")).toMatchObject({
      type: "model",
      id: "claude",
      display_name: "claude",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+Z$/),
      max_tokens: 64_000,
    });
    expect(await failureOf(models.retrieve("none"))).toBeInstanceOf(NotFoundError);
  });

  test("are in OpenAI's format without an anthropic-version header", async () => {
    const headers = { authorization: `Bearer ${gateway.key}` };
    const reply = await fetch(`${gateway.baseUrl}/models`, { headers });
    expect(await reply.json()).toMatchObject({ object: "list" });
    expect(reply.headers.get("request-id")).toBeNull();
  });
});
