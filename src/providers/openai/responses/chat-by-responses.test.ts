/** Which calls go to Responses, what goes there, and what comes back beyond the common contract. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openAiResponses } from "../../../../test/dialects/wires/openai-responses.ts";
import type { RecordedRequest } from "../../../../test/fake/upstream.ts";
import { type Bridge, openBridge } from "../../../../test/providers/bridge.ts";
import {
  ask,
  clockCall,
  plainAnswer,
  toolAnswer,
  weatherCall,
  weatherTool,
} from "../../../../test/providers/calls.ts";
import type { VendorReply } from "../../../../test/providers/dialect.ts";
import { openAiDialect } from "../../../../test/providers/dialects/openai.ts";
import { apiErrorOf, framed } from "../../../../test/providers/stage.ts";
import { type ChatCall, isJsonObject, type JsonObject } from "../../../call/chat.ts";
import { quirksOf } from "../../../catalog/vendors.ts";

const chats = openAiDialect({ name: "openai", quirks: quirksOf("openai", "") });
const { can } = openAiResponses;

let bridge: Bridge;
beforeAll(async () => {
  bridge = await openBridge({ kind: "openai", quirks: quirksOf("openai", "") });
});
afterAll(() => bridge.upstream.stop());
beforeEach(() => bridge.upstream.reset());

const refusal = (status: number, error: JsonObject): VendorReply => ({
  status,
  headers: { "content-type": "application/json" },
  packets: [JSON.stringify({ error: { type: "invalid_request_error", code: null, ...error } })],
});

const noTools = refusal(400, {
  message:
    "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
  param: "reasoning_effort",
});
const noChats = refusal(404, {
  message: "This model is only supported in v1/responses and not in v1/chat/completions.",
  param: "model",
});
const unread = refusal(400, {
  message: "The encrypted content gAAA...DQ== could not be verified.",
  code: "invalid_encrypted_content",
});

type Replies = (request: RecordedRequest, body: JsonObject) => VendorReply | undefined;

/** What the vendor answers unless `replies` says otherwise: tools are refused in chat completions. */
function serve(replies: Replies = () => undefined): void {
  bridge.upstream.replyWith((request) => {
    const body = isJsonObject(request.json) ? request.json : {};
    const said = replies(request, body);
    if (said !== undefined) return framed(said);
    const isChat = request.path === "/v1/chat/completions";
    const reasons = body["reasoning_effort"] !== "none";
    if (isChat && body["tools"] !== undefined && reasons) return framed(noTools);
    const form = body["stream"] === true ? "streamed" : "whole";
    return framed((isChat ? chats : openAiResponses)[form](plainAnswer(can)));
  });
}

const paths = () => bridge.upstream.requests.map(({ path }) => path.replace("/v1", ""));
const withTools = (options: JsonObject = {}) =>
  ask("Weather?", { tools: [weatherTool], ...options });
/** A model that nothing was learned of. */
let models = 0;
const newModel = () => ({ model: `gpt-5.6-${models++}` });

describe("which calls go to Responses", () => {
  for (const form of ["chat", "hear"] as const)
    test(`${form}: a refusal of tools sends the same call there, and the next ones at once`, async () => {
      serve();
      const extra = newModel();
      await bridge[form](withTools(), extra);
      await bridge[form](withTools(), extra);
      expect(paths()).toEqual(["/chat/completions", "/responses", "/responses"]);
    });

  test("calls without tools, and those that ask for no reasoning, stay chat completions", async () => {
    serve();
    const extra = newModel();
    await bridge.chat(withTools(), extra);
    bridge.upstream.reset();
    serve();
    await bridge.chat(ask("Hello"), extra);
    await bridge.chat(withTools({ reasoning_effort: "none" }), extra);
    await bridge.chat(withTools({ thinking: { type: "disabled" } }), extra);
    expect(paths()).toEqual(["/chat/completions", "/chat/completions", "/chat/completions"]);
  });

  test("a model that has Responses only gets all calls there", async () => {
    serve(({ path }) => (path.endsWith("completions") ? noChats : undefined));
    const extra = newModel();
    await bridge.chat(ask("Hello"), extra);
    await bridge.hear(ask("Hello"), extra);
    expect(paths()).toEqual(["/chat/completions", "/responses", "/responses"]);
  });

  test("nothing is learned of one model for another", async () => {
    serve();
    await bridge.chat(withTools(), newModel());
    await bridge.chat(withTools(), newModel());
    expect(paths()).toEqual(["/chat/completions", "/responses", "/chat/completions", "/responses"]);
  });

  test("another refusal is the caller's answer, and nothing is sent twice", async () => {
    serve(() => refusal(400, { message: "Invalid 'temperature'.", param: "temperature" }));
    expect((await apiErrorOf(bridge.chat(withTools(), newModel()))).code).toBe("upstream_rejected");
    expect(paths()).toEqual(["/chat/completions"]);
  });

  test("a server without Responses keeps its first refusal, and is asked as before", async () => {
    serve(({ path }) => (path.endsWith("responses") ? refusal(404, {}) : undefined));
    const extra = newModel();
    for (let call = 0; call < 2; call++)
      expect((await apiErrorOf(bridge.chat(withTools(), extra))).code).toBe("upstream_rejected");
    expect(paths()).toEqual(["/chat/completions", "/responses", "/chat/completions", "/responses"]);
  });

  test("a cap below the vendor's least is refused by its name: more could cost more than is held", async () => {
    serve();
    const call = { ...withTools(), maxOutputTokens: 15 };
    const { code, param } = await apiErrorOf(bridge.chat(call, newModel()));
    expect({ code, param }).toEqual({ code: "invalid_request", param: "max_tokens" });
    expect(paths()).toEqual(["/chat/completions"]);
  });

  test("a caller who has left is not sent there", async () => {
    const leaving = new AbortController();
    const reason = new Error("left");
    serve((_request, { tools }) => {
      if (tools !== undefined) leaving.abort(reason);
      return undefined;
    });
    const call = bridge.chat(withTools(), { ...newModel(), signal: leaving.signal });
    expect(await call.catch((error: unknown) => error)).toBe(reason);
    expect(paths()).toEqual(["/chat/completions"]);
  });
});

describe("what goes there", () => {
  const bodyOf = async (call: ChatCall) => {
    serve();
    await bridge.chat(call, newModel());
    return bridge.asked;
  };

  test("options have their counterparts, and nothing is stored", async () => {
    const body = await bodyOf(
      ask("Weather?", {
        cap: 500,
        tools: [weatherTool, { type: "function", function: { name: "now", strict: true } }],
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "now" } }] },
        },
        parallel_tool_calls: false,
        reasoning: { effort: "low" },
        verbosity: "low",
        response_format: { type: "json_object" },
        logprobs: true,
        top_logprobs: 3,
        user: "u1",
        prompt_cache_key: "k1",
        service_tier: "priority",
        metadata: { a: "b" },
        presence_penalty: 0,
      }),
    );
    const { name, description, parameters } = weatherTool.function;
    expect(body).toEqual({
      model: expect.any(String),
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "Weather?" }] },
      ],
      max_output_tokens: 500,
      tools: [
        { type: "function", name, description, parameters, strict: false },
        {
          type: "function",
          name: "now",
          parameters: { type: "object", properties: {} },
          strict: true,
        },
      ],
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: [{ type: "function", name: "now" }],
      },
      parallel_tool_calls: false,
      text: { format: { type: "json_object" }, verbosity: "low" },
      // The field asks to see the thoughts, too.
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
      top_logprobs: 3,
      user: "u1",
      prompt_cache_key: "k1",
      store: false,
    });
  });

  for (const [name, value] of Object.entries({
    n: 2,
    stop: "END",
    seed: 7,
    presence_penalty: 0.5,
    frequency_penalty: -0.5,
    logit_bias: { "5": 10 },
    top_k: 3,
  }))
    test(`${name} would change the answer and has no counterpart: it is refused by its name`, async () => {
      serve();
      const { code, param } = await apiErrorOf(
        bridge.chat(withTools({ [name]: value }), newModel()),
      );
      expect({ code, param }).toEqual({ code: "invalid_request", param: name });
      expect(paths()).toEqual(["/chat/completions"]);
    });

  test("images, files and failures in results of tools go along; audio is refused by its field", async () => {
    const url = "data:image/png;base64,AAAA";
    const file = { file_data: "data:application/pdf;base64,AAAA", filename: "a.pdf" };
    const call = (content: JsonObject[]) => ({
      ...withTools(),
      messages: [
        { role: "user", content: "Look." },
        {
          role: "assistant",
          content: [{ type: "refusal", refusal: "No." }],
          tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "" } }],
        },
        { role: "tool", tool_call_id: "c1", is_error: true, content },
      ],
    });
    const parts = [
      { type: "text", text: "A chart:" },
      { type: "image_url", image_url: { url } },
      { type: "file", file },
    ];
    const { input } = await bodyOf(call(parts));
    expect(input).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Look." }] },
      { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
      { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
      {
        type: "function_call_output",
        call_id: "c1",
        output: [
          { type: "input_text", text: "Error:" },
          { type: "input_text", text: "A chart:" },
          { type: "input_image", image_url: url, detail: "auto" },
          { type: "input_file", filename: "a.pdf", file_data: file.file_data },
        ],
      },
    ]);
    const sound = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
    const spoken = { ...withTools(), messages: [{ role: "user", content: [sound] }] };
    serve();
    const extra = newModel();
    const { param } = await apiErrorOf(bridge.chat(spoken, extra));
    await bridge.chat(withTools(), extra);
    expect(param).toBe("messages[0].content[0].input_audio");
    const inside = { type: "image_url", image_url: { url: "http://169.254.169.254/a.png" } };
    const near = { ...withTools(), messages: [{ role: "user", content: [inside] }] };
    const refused = await apiErrorOf(bridge.chat(near, extra));
    expect(refused.param).toBe("messages[0].content[0].image_url.url");
  });
});

describe("encrypted reasoning", () => {
  const sealed = (at: number) => ({
    type: "reasoning",
    id: `rs_${at}`,
    summary: [{ type: "summary_text", text: `Thought ${at}.` }],
    encrypted_content: `gAAAA${at}`,
  });
  const called = (id: string) => ({
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    name: "get_weather",
    arguments: "{}",
  });
  const said = {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "I look.", annotations: [], logprobs: [] }],
  };
  const output = [sealed(0), said, sealed(1), called("a"), sealed(2), called("b")];
  const answer: VendorReply = {
    headers: { "content-type": "application/json" },
    packets: [JSON.stringify({ status: "completed", output, usage: null })],
  };
  const tools = [
    { role: "tool", tool_call_id: "a", content: "7" },
    { role: "tool", tool_call_id: "b", content: "8" },
  ];

  async function firstMessage(extra: { readonly model: string }): Promise<JsonObject> {
    serve(({ path }) => (path.endsWith("responses") ? answer : undefined));
    const { choices } = await bridge.chat(withTools(), extra);
    return choices[0]?.message ?? {};
  }
  const followUp = (message: JsonObject) => ({
    ...withTools(),
    messages: [{ role: "user", content: "Weather?" }, message, ...tools],
  });
  const kinds = ({ input }: JsonObject) =>
    (Array.isArray(input) ? input.filter(isJsonObject) : []).map(
      ({ type, call_id: id, encrypted_content: data }) => String(data ?? id ?? type),
    );

  test("comes back in front of what it led to", async () => {
    const extra = newModel();
    const message = await firstMessage(extra);
    expect(message).toMatchObject({
      content: "I look.",
      reasoning_content: "Thought 0.\n\nThought 1.\n\nThought 2.",
    });
    expect(JSON.stringify(message)).not.toContain("openai");
    await bridge.chat(followUp(message), extra);
    expect(kinds(bridge.asked)).toEqual([
      "message",
      "gAAAA0",
      "message",
      "gAAAA1",
      "a",
      "gAAAA2",
      "b",
      "a",
      "b",
    ]);
  });

  test("of another server is left out", async () => {
    const extra = newModel();
    const message = await firstMessage(extra);
    const details = JSON.parse(JSON.stringify(message["reasoning_details"])) as JsonObject[];
    const foreign = details.map((detail) => ({ ...detail, format: "another1" }));
    await bridge.chat(followUp({ ...message, reasoning_details: foreign }), extra);
    expect(kinds(bridge.asked).join()).not.toContain("gAAAA");
  });

  for (const form of ["chat", "hear"] as const)
    test(`${form}: that the vendor cannot read is left out in a second request`, async () => {
      const extra = newModel();
      const message = await firstMessage(extra);
      bridge.upstream.reset();
      serve((_request, body) => (JSON.stringify(body).includes("gAAAA") ? unread : undefined));
      await bridge[form](followUp(message), extra);
      expect(paths()).toEqual(["/responses", "/responses"]);
      expect(bridge.asked["include"]).toEqual(["reasoning.encrypted_content"]);
    });

  test("a vendor that refuses it for good is asked twice and no more", async () => {
    const extra = newModel();
    const message = await firstMessage(extra);
    bridge.upstream.reset();
    serve(() => unread);
    const { code } = await apiErrorOf(bridge.chat(followUp(message), extra));
    expect(code).toBe("upstream_rejected");
    expect(paths()).toEqual(["/responses", "/responses"]);
  });

  test("summaries, and the wish for encryption, are left out from then on where they are refused", async () => {
    serve((_request, { reasoning, include }) => {
      if (isJsonObject(reasoning) && reasoning["summary"] !== undefined)
        return refusal(400, {
          message: "Your organization must be verified to generate reasoning summaries.",
          param: "reasoning.summary",
          code: "unsupported_value",
        });
      return include === undefined
        ? undefined
        : refusal(400, {
            message: "Encrypted content is not supported with this model.",
            param: "include",
          });
    });
    const extra = newModel();
    for (let call = 0; call < 2; call++)
      await bridge.chat(withTools({ reasoning: { effort: "low" } }), extra);
    const all = ["/chat/completions", "/responses", "/responses", "/responses", "/responses"];
    expect(paths()).toEqual(all);
    expect(bridge.asked["reasoning"]).toEqual({ effort: "low" });
  });
});

describe("what comes back", () => {
  const hearWhole = async (response: JsonObject) => {
    serve(({ path }) =>
      path.endsWith("responses")
        ? {
            headers: { "content-type": "application/json" },
            packets: [JSON.stringify({ status: "completed", usage: null, ...response })],
          }
        : undefined,
    );
    return bridge.chat(withTools(), newModel());
  };
  const hearEvents = (events: readonly JsonObject[]) => {
    serve(({ path }) =>
      path.endsWith("responses")
        ? {
            headers: { "content-type": "text/event-stream" },
            packets: events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
          }
        : undefined,
    );
    return bridge.hear(withTools(), newModel());
  };
  const likely = { token: "Hi", logprob: -0.1, top_logprobs: [{ token: "Hi", logprob: -0.1 }] };
  const expectedLikely = {
    content: [
      { ...likely, bytes: null, top_logprobs: [{ ...likely.top_logprobs[0], bytes: null }] },
    ],
    refusal: null,
  };
  const source = { type: "url_citation", url: "https://a.example", title: "A" };
  const place = { start_index: 0, end_index: 2 };
  const citation = {
    type: "url_citation",
    url_citation: { url: source.url, title: "A", ...place },
  };
  const text = {
    type: "output_text",
    text: "Hi",
    annotations: [{ ...source, ...place }],
    logprobs: [likely],
  };

  test("whole: probabilities, sources and refusals have the form of chat completions", async () => {
    const content = [text, { type: "refusal", refusal: "No." }];
    const { choices } = await hearWhole({ output: [{ type: "message", content }] });
    expect(JSON.parse(JSON.stringify(choices))).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: "Hi", refusal: "No.", annotations: [citation] },
        logprobs: expectedLikely,
        finishReason: "stop",
      },
    ]);
  });

  test("streamed: probabilities, sources and refusals have the form of chat completions", async () => {
    const at = { output_index: 0, content_index: 0 };
    const parts = await hearEvents([
      { type: "response.output_text.delta", ...at, delta: "Hi", logprobs: [likely] },
      { type: "response.output_text.annotation.added", ...at, annotation: { ...source, ...place } },
      { type: "response.refusal.delta", ...at, delta: "No." },
      { type: "response.completed", response: { status: "completed", output: [] } },
    ]);
    const delta = { type: "delta", index: 0, logprobs: null } as const;
    expect(JSON.parse(JSON.stringify(parts))).toEqual([
      { ...delta, delta: { content: "Hi" }, logprobs: expectedLikely },
      { ...delta, delta: { annotations: [citation] } },
      { ...delta, delta: { refusal: "No." } },
      { type: "finish", index: 0, reason: "stop" },
      { type: "done" },
    ]);
  });

  test("streamed: items that come whole, without pieces, are heard all the same", async () => {
    const items = [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Why?" }] },
      { type: "message", content: [text] },
      { type: "function_call", call_id: "a", name: "get_weather", arguments: "{}" },
    ];
    const parts = await hearEvents([
      ...items.map((item, output_index) => ({
        type: "response.output_item.done",
        output_index,
        item,
      })),
      { type: "response.completed", response: { status: "completed" } },
    ]);
    expect(JSON.stringify(parts)).toContain('"reasoning_content":"Why?"');
    expect(JSON.stringify(parts)).toContain('"content":"Hi"');
    expect(JSON.stringify(parts)).toContain('"arguments":"{}"');
    expect(parts.at(-2)).toMatchObject({ reason: "tool_calls" });
  });

  test("streamed: items without end are a failure", async () => {
    const item = { type: "function_call", call_id: "a", name: "get_weather", arguments: "" };
    const events = Array.from({ length: 10_002 }, (_, output_index) => ({
      type: "response.output_item.added",
      output_index,
      item,
    }));
    expect((await apiErrorOf(hearEvents(events))).code).toBe("upstream_error");
  });

  test("a whole reply to a request for a stream is heard as a stream", async () => {
    serve(({ path }) =>
      path.endsWith("responses")
        ? openAiResponses.whole(toolAnswer(can, [weatherCall, clockCall]))
        : undefined,
    );
    const parts = await bridge.hear(withTools(), newModel());
    expect(parts.map(({ type }) => type)).toEqual(["delta", "finish", "usage", "done"]);
  });

  test("a failed response is a failure with the vendor's code", async () => {
    const error = { code: "rate_limit_exceeded", message: "Slow down." };
    const failed = { status: "failed", error, output: [] };
    expect((await apiErrorOf(hearWhole(failed))).code).toBe("upstream_rate_limited");
    const streamed = hearEvents([{ type: "response.failed", response: failed }]);
    expect((await apiErrorOf(streamed)).code).toBe("upstream_rate_limited");
  });

  test("a stream without its last event has no end", async () => {
    const at = { output_index: 0, content_index: 0 };
    const parts = await hearEvents([{ type: "response.output_text.delta", ...at, delta: "Hi" }]);
    expect(parts).toEqual([{ type: "text-delta", index: 0, text: "Hi" }]);
  });
});
