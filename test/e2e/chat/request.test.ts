/** What a chat completion sends upstream. */

import { beforeEach, describe, expect, test } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
beforeEach(() => gateway.upstream.replyWith(chatAnswers.plain()));

const path = "/chat/completions";
const messages = [{ role: "user", content: "Say hello" }];
const hello = { model: "svc-3-flash", messages };

/** The body that the upstream got for this one. */
async function sentUpstream(body: object): Promise<Record<string, unknown>> {
  const reply = await gateway.call(path, body);
  expect(await reply.json()).toHaveProperty("choices");
  return gateway.upstream.requests.at(-1)?.json as Record<string, unknown>;
}

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
