/** POST /v1/chat/completions, answered in one piece: what goes upstream and what comes back. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { ChatCompletionCreateParamsNonStreaming } from "openai/resources/chat/completions";
import { CHAT_USAGE, chatAnswers, TOOL_CALL } from "../../fake/recordings.ts";
import type { ErrorBody } from "../../replies/event-stream.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.upstream.reset();
  gateway.upstream.replyWith(chatAnswers.plain());
});

const path = "/chat/completions";
const model = "svc-3-flash";
const messages = [{ role: "user" as const, content: "Say hello" }];
const hello = { model, messages };

/** The body that the upstream got for this one. */
async function sentUpstream(body: object): Promise<Record<string, unknown>> {
  const reply = await gateway.call(path, body);
  expect(await reply.json()).toHaveProperty("choices");
  return gateway.upstream.requests.at(-1)?.json as Record<string, unknown>;
}

function ask(body: Partial<ChatCompletionCreateParamsNonStreaming> = {}) {
  return gateway.client().chat.completions.create({ ...hello, ...body });
}

describe("the SDK", () => {
  test("gets a whole completion with ids of ours and none of the vendor's", async () => {
    const beforeS = Math.floor(Date.now() / 1000);
    const completion = await ask();
    const { id, created, _request_id: requestId, ...rest } = completion;
    expect(rest as object).toEqual({
      object: "chat.completion",
      model,
      system_fingerprint: "fp_44709d6fcb",
      service_tier: "default",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "Hello! How can I help you today?",
            refusal: null,
            annotations: [],
          },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: CHAT_USAGE.prompt_tokens,
        completion_tokens: CHAT_USAGE.completion_tokens,
        total_tokens: CHAT_USAGE.total_tokens,
        prompt_tokens_details: { ...CHAT_USAGE.prompt_tokens_details },
        completion_tokens_details: { ...CHAT_USAGE.completion_tokens_details },
      },
    });
    expect(id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
    expect(requestId).toMatch(/^req_[0-9a-f]{32}$/);
    expect(created).toBeGreaterThanOrEqual(beforeS);
    expect(created).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
  });

  test("sees another request id on every reply, errors included", async () => {
    const good = [await ask(), await ask()].map(({ _request_id: id }) => id);
    const refused = await ask({ temperature: 3 }).catch(({ requestID }) => requestID);
    const ids = new Set([...good, refused]);
    expect(ids.size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{32}$/);
  });

  test("gets tool calls as the model made them", async () => {
    gateway.upstream.replyWith(chatAnswers.toolCall());
    const { choices } = await ask();
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    expect(choices[0]?.message).toEqual({
      role: "assistant",
      content: null,
      refusal: null,
      annotations: [],
      tool_calls: [TOOL_CALL],
    } as object as NonNullable<(typeof choices)[0]>["message"]);
  });

  test("gets reasoning_content, which no schema of ours names", async () => {
    gateway.upstream.replyWith(chatAnswers.reasoning());
    const { choices } = await ask();
    expect(choices[0]?.message).toMatchObject({
      content: "42",
      reasoning_content: "Six times seven, so forty-two.",
    } as object);
  });

  test("gets every choice it asked for, in order", async () => {
    const choice = (index: number) => ({
      index,
      message: { role: "assistant", content: `answer ${index}` },
      finish_reason: "stop",
    });
    gateway.upstream.replyWith(chatAnswers.plain({ choices: [choice(0), choice(1)] }));
    const { choices } = await ask({ n: 2 });
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, "answer 0"],
      [1, "answer 1"],
    ]);
    expect(gateway.upstream.requests[0]?.json).toHaveProperty("n", 2);
  });

  test("reads a model whose id has a slash, at a base URL with a slash too many", async () => {
    const reply = await fetch(`${gateway.origin}//v1//chat/completions/`, {
      method: "POST",
      headers: { authorization: `bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...hello, model: "vendor/with-slash" }),
    });
    expect(await reply.json()).toHaveProperty("model", "vendor/with-slash");
    expect(gateway.upstream.requests[0]?.json).toHaveProperty("model", "upstream-slash");
  });
});

describe("upstream goes", () => {
  test("the call under the route's model name, to the chat path, with the vendor's key", async () => {
    expect(await sentUpstream(hello)).toEqual({
      model: "upstream-chat",
      messages,
      max_tokens: 8192,
    });
    const [request] = gateway.upstream.requests;
    expect([request?.method, request?.path]).toEqual(["POST", "/v1/chat/completions"]);
    expect(request?.headers["authorization"]).toBe("Bearer vendor-secret");
  });

  test("no header of the caller", async () => {
    const reply = await gateway.call(path, hello, {
      headers: {
        cookie: "session=1",
        "api-key": "k",
        "openai-organization": "org",
        "x-stainless-lang": "js",
        "x-forwarded-for": "10.1.2.3",
        "user-agent": "caller/1.0",
        "x-request-id": "chosen-by-caller",
        "accept-language": "de",
      },
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.get("x-request-id")).not.toBe("chosen-by-caller");
    const { headers = {} } = gateway.upstream.requests[0] ?? {};
    expect(Object.keys(headers).sort()).toEqual([
      "accept",
      "accept-encoding",
      "authorization",
      "connection",
      "content-length",
      "content-type",
      "host",
      "user-agent",
    ]);
    expect(headers["user-agent"]).toBe("svc-gateway");
    expect(JSON.stringify(headers)).not.toContain(gateway.key);
  });

  test("every field that is passed on, untouched", async () => {
    const passed = {
      temperature: 0,
      top_p: 1,
      top_k: 40,
      min_p: 0.1,
      stop: ["a", "b"],
      n: 1,
      seed: -7,
      presence_penalty: -2,
      frequency_penalty: 2,
      repetition_penalty: 1.1,
      logprobs: true,
      top_logprobs: 2,
      logit_bias: { "50256": -100 },
      tools: [
        {
          type: "function",
          function: { name: "f", description: null, parameters: { type: "object" }, strict: true },
        },
        { type: "function", function: { name: "bare" } },
      ],
      tool_choice: { type: "function", function: { name: "f" } },
      parallel_tool_calls: false,
      response_format: { type: "json_schema", json_schema: { name: "s", schema: {} } },
      user: "someone",
      reasoning_effort: "low",
      verbosity: "low",
      chat_template_kwargs: { enable_thinking: false },
    };
    const sent = await sentUpstream({ ...hello, ...passed });
    expect(sent).toEqual({ ...passed, model: "upstream-chat", messages, max_tokens: 8192 });
  });

  test("no field that could change the vendor's bill, and none that nobody knows", async () => {
    const sent = await sentUpstream({
      ...hello,
      service_tier: "priority",
      store: true,
      audio: { voice: "alloy", format: "wav" },
      modalities: ["text"],
      prediction: { type: "content", content: "x" },
      metadata: { a: "b" },
      safety_identifier: "x",
      prompt_cache_key: "x",
      functions: [],
      stream: false,
      stream_options: { include_usage: true },
      nobody_knows_this: { at: "all" },
      ["__proto__"]: { temperature: 1 },
    });
    expect(Object.keys(sent).sort()).toEqual(["max_tokens", "messages", "model"]);
  });

  test("one cap for both names, the lower one, and never above the model's own", async () => {
    const cases: [object, number | undefined][] = [
      [{ max_tokens: 5 }, 5],
      [{ max_completion_tokens: 6 }, 6],
      [{ max_tokens: 7, max_completion_tokens: 9 }, 7],
      [{ max_tokens: 9, max_completion_tokens: 7 }, 7],
      [{ max_tokens: 8193 }, 8192],
      [{ max_completion_tokens: 1e300 }, 8192],
      [{ max_tokens: null, max_completion_tokens: null }, 8192],
      [{ model: "svc-2-flash" }, undefined],
      [{ model: "svc-2-flash", max_completion_tokens: 12 }, 12],
    ];
    for (const [given, cap] of cases) {
      const sent = await sentUpstream({ ...hello, ...given });
      expect(sent["max_tokens"]).toBe(cap);
      expect(sent).not.toHaveProperty("max_completion_tokens");
    }
  });

  test("fields set to null as if they had not been sent", async () => {
    const optional =
      "max_tokens temperature top_p stream stream_options stop n seed presence_penalty logprobs " +
      "frequency_penalty top_logprobs logit_bias tools tool_choice parallel_tool_calls user " +
      "response_format metadata reasoning_effort service_tier store";
    const nulls = Object.fromEntries(optional.split(" ").map((name) => [name, null]));
    expect(await sentUpstream({ ...hello, ...nulls })).toEqual(await sentUpstream(hello));
  });

  test("every form of message that clients send, untouched", async () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
    const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
    const forms = [
      { role: "system", content: "Be brief" },
      { role: "developer", content: [{ type: "text", text: "Be exact" }] },
      { role: "user", content: [{ type: "text", text: "What is this?" }, image], name: "ann" },
      { role: "user", content: "" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "assistant", tool_calls: [call], refusal: null, annotations: [] },
      { role: "tool", content: "4", tool_call_id: "c1" },
      { role: "tool", content: [{ type: "text", text: "4" }], tool_call_id: "c1" },
      { role: "assistant", content: "", tool_calls: null, reasoning_content: "hm" },
      { role: "assistant", content: [{ type: "text", text: "四" }] },
    ];
    expect((await sentUpstream({ ...hello, messages: forms }))["messages"]).toEqual(forms);
  });
});

describe("a reply", () => {
  test("carries no header of the vendor", async () => {
    const { headers } = await gateway.call(path, hello);
    expect([...headers.keys()].sort()).toEqual([
      "content-length",
      "content-type",
      "date",
      "x-request-id",
    ]);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("x-request-id")).not.toContain("vendor");
  });

  test("carries the vendor's fingerprint and tier, and no other field of it", async () => {
    const text = await (await gateway.call(path, hello)).text();
    expect(JSON.parse(text)).toMatchObject({
      system_fingerprint: "fp_44709d6fcb",
      service_tier: "default",
    });
    for (const word of ["vendor", "gpt-4o", "upstream"]) expect(text).not.toContain(word);
  });

  test("without usage gets an estimate with all three counts", async () => {
    gateway.upstream.replyWith(chatAnswers.withoutUsage());
    const { usage } = await ask();
    expect(usage?.prompt_tokens).toBeGreaterThan(0);
    expect(usage?.completion_tokens).toBeGreaterThan(0);
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
  });

  test("with content in parts becomes text", async () => {
    const content = [
      { type: "text", text: "one " },
      { type: "text", text: "two" },
    ];
    gateway.upstream.replyWith(chatAnswers.plain({ message: { content } }));
    expect((await ask()).choices[0]?.message.content).toBe("one two");
  });

  test("in gzip, in chunks or ended by the connection is read alike", async () => {
    for (const reply of [
      chatAnswers.gzipped(),
      chatAnswers.plain({ framing: "chunked", gzip: true }),
      chatAnswers.plain({ framing: "chunked" }),
      chatAnswers.plain({ framing: "close" }),
    ]) {
      gateway.upstream.replyOnce(reply);
      expect((await ask()).choices[0]?.message.content).toBe("Hello! How can I help you today?");
    }
  });

  test("ends with a finish_reason of the contract, whatever the upstream's word", async () => {
    const said: [string, string][] = [
      ["stop", "stop"],
      ["length", "length"],
      ["content_filter", "content_filter"],
      ["function_call", "tool_calls"],
      ["eos_token", "stop"],
      ["", "stop"],
    ];
    for (const [word, reason] of said) {
      gateway.upstream.replyOnce(chatAnswers.plain({ finishReason: word }));
      expect((await ask()).choices[0]?.finish_reason as string).toBe(reason);
    }
    const message = { tool_calls: [TOOL_CALL] };
    gateway.upstream.replyOnce(chatAnswers.plain({ finishReason: "stop", message }));
    expect((await ask()).choices[0]?.finish_reason).toBe("tool_calls");
    gateway.upstream.replyOnce(
      chatAnswers.plain({ finishReason: "stop", message: { tool_calls: [] } }),
    );
    expect((await ask()).choices[0]?.finish_reason).toBe("stop");
  });

  test("that is no completion is a 502, not an empty 200", async () => {
    const broken = [
      chatAnswers.emptyChoices(),
      chatAnswers.brokenJson(),
      chatAnswers.plain({ choices: [null, "x"] }),
    ];
    for (const reply of broken) {
      gateway.upstream.replyOnce(reply);
      const answer = await gateway.call(path, hello);
      expect(answer.status).toBe(502);
      expect(((await answer.json()) as ErrorBody).error.code).toBe("upstream_error");
    }
  });
});
