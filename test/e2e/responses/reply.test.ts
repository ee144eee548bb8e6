/** Replies of POST /v1/responses, whole and streamed, from a server that speaks chat completions. */

import { describe, expect, test } from "bun:test";
import { responsesDriver } from "../../dialects/drivers/responses.ts";
import { chatAnswers, chatJson, deltaStream } from "../../fake/recordings.ts";
import { lastResponse, readResponseEvents } from "../../replies/response-events.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();
const model = "svc-3-flash";
const hello = { model, input: "Say hello" };
const ask = (fields: object = {}) => gateway.call("/responses", { ...hello, ...fields });
const events = async (fields: object = {}) =>
  readResponseEvents(await ask({ stream: true, ...fields }));
const weather = { type: "function" as const, name: "get_weather", parameters: {}, strict: false };

describe("a whole reply", () => {
  test("has every field that clients know", async () => {
    gateway.upstream.replyOnce(chatAnswers.reasoning());
    const fields = { instructions: "Be brief.", metadata: { a: "b" }, temperature: 0.5, user: "u" };
    const reply = await (await ask(fields)).json();
    expect(reply).toMatchObject({
      object: "response",
      status: "completed",
      model,
      error: null,
      incomplete_details: null,
      instructions: "Be brief.",
      max_output_tokens: null,
      metadata: { a: "b" },
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: null, summary: null },
      store: false,
      temperature: 0.5,
      text: { format: { type: "text" } },
      tool_choice: "auto",
      tools: [],
      truncation: "disabled",
      user: "u",
      usage: {
        input_tokens: 19,
        input_tokens_details: { cached_tokens: 8 },
        output_tokens: 10,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 29,
      },
    });
    expect(reply.id).toMatch(/^resp_[0-9a-f]{32}$/);
    expect(reply.output).toMatchObject([
      { type: "reasoning", summary: [{ type: "summary_text" }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "42" }] },
    ]);
  });

  test("shows that an answer was cut or filtered", async () => {
    for (const [finish, reason] of [
      ["length", "max_output_tokens"],
      ["content_filter", "content_filter"],
    ]) {
      gateway.upstream.replyOnce(chatJson({ text: "Hel", finishReason: finish ?? "" }));
      expect(await (await ask()).json()).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason },
        output: [{ type: "message", status: "incomplete" }],
      });
    }
  });
});

describe("a stream", () => {
  test("has calls one after another, even if the upstream interleaves them with each other and with text", async () => {
    const piece = (index: number, text: string, more: object = {}) => ({
      index,
      ...more,
      function: { ...(text === "{" ? { name: `tool_${index}` } : {}), arguments: text },
    });
    const deltas = [
      { tool_calls: [piece(0, "{", { id: "a" }), piece(1, "{", { id: "b" })] },
      { content: "One moment." },
      { tool_calls: [piece(1, '"x":1')] },
      { tool_calls: [piece(0, '"y":2')] },
      { tool_calls: [piece(1, "}"), piece(0, "}")] },
    ];
    gateway.upstream.replyOnce(deltaStream(deltas, "tool_calls"));
    const text = await (await ask({ stream: true, tools: [weather] })).text();
    expect(responsesDriver.fromStream(text)).toMatchObject({
      calls: [
        { id: "a", name: "tool_0", arguments: { y: 2 } },
        { id: "b", name: "tool_1", arguments: { x: 1 } },
      ],
      text: "One moment.",
    });
  });

  test("ends each part before the next one begins", async () => {
    const deltas = [{ content: "I could." }, { refusal: "I will not." }, { content: "Sorry." }];
    gateway.upstream.replyOnce(deltaStream(deltas));
    const all = await events();
    const parts = all.filter(({ type }) => type.startsWith("response.content_part."));
    expect(
      parts.map(({ type, content_index }) => `${type.split(".").at(-1)} ${content_index}`),
    ).toEqual(["added 0", "done 0", "added 1", "done 1", "added 2", "done 2"]);
    expect(lastResponse(all).output).toMatchObject([
      {
        content: [
          { type: "output_text", text: "I could." },
          { type: "refusal", refusal: "I will not." },
          { type: "output_text", text: "Sorry." },
        ],
      },
    ]);
  });
});

describe("tools that chat completions do not have", () => {
  const patch = "*** Begin Patch\n*** End Patch\n";
  const tools = [
    {
      type: "custom",
      name: "apply_patch",
      description: "Edits files.",
      format: { type: "grammar", syntax: "lark", definition: "start: /.+/" },
    },
    { type: "namespace", name: "agents", description: "", tools: [{ ...weather, name: "close" }] },
    { type: "tool_search", execution: "client", description: "Finds tools.", parameters: {} },
  ];
  const called = [
    { name: "apply_patch", arguments: JSON.stringify({ input: patch }) },
    { name: "agents__close", arguments: "{}" },
    { name: "tool_search", arguments: '{"query":"x"}' },
  ].map((call, at) => ({ index: at, id: `call_${at}`, type: "function", function: call }));
  const expected = [
    { type: "custom_tool_call", name: "apply_patch", input: patch, call_id: "call_0" },
    { type: "function_call", name: "close", namespace: "agents", call_id: "call_1" },
    { type: "tool_search_call", execution: "client", arguments: { query: "x" }, call_id: "call_2" },
  ];

  test("are functions for the model, and items of their kind for the caller", async () => {
    gateway.upstream.replyOnce(chatJson({ text: null, message: { tool_calls: called } }));
    const { output } = await (await ask({ tools })).json();
    expect(output).toMatchObject(expected);
    const sent = gateway.upstream.requests.at(-1)?.json as { readonly tools: unknown[] };
    expect(sent.tools).toMatchObject([
      {
        type: "function",
        function: {
          name: "apply_patch",
          description: expect.stringContaining("start: /.+/"),
          parameters: { required: ["input"] },
        },
      },
      { function: { name: "agents__close" } },
      { function: { name: "tool_search" } },
    ]);
  });

  test("are the same in a stream", async () => {
    gateway.upstream.replyOnce(deltaStream([{ tool_calls: called }], "tool_calls"));
    const all = await events({ tools });
    expect(lastResponse(all).output).toMatchObject(expected);
    const input = all.find(({ type }) => type === "response.custom_tool_call_input.done");
    expect(input?.["input"]).toBe(patch);
  });

  test("reach the model as calls and results in the next request", async () => {
    gateway.upstream.replyOnce(chatAnswers.plain());
    const input = [
      { role: "user", content: "Go" },
      { type: "custom_tool_call", call_id: "a", name: "apply_patch", input: patch },
      { type: "function_call", call_id: "b", name: "close", namespace: "agents", arguments: "{}" },
      { type: "tool_search_call", call_id: "c", execution: "client", arguments: { query: "x" } },
      { type: "custom_tool_call_output", call_id: "a", output: "Done" },
      { type: "function_call_output", call_id: "b", output: [{ type: "input_text", text: "ok" }] },
      { type: "tool_search_output", call_id: "c", tools: [{ ...weather, name: "found" }] },
    ];
    await (await ask({ tools, input })).json();
    const sent = gateway.upstream.requests.at(-1)?.json as {
      readonly messages: readonly object[];
      readonly tools: readonly { readonly function: { readonly name: string } }[];
    };
    expect(sent.tools.map((tool) => tool.function.name)).toContain("found");
    expect(sent.messages).toMatchObject([
      { role: "user", content: "Go" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: "a",
            function: { name: "apply_patch", arguments: JSON.stringify({ input: patch }) },
          },
          { id: "b", function: { name: "agents__close" } },
          { id: "c", function: { name: "tool_search", arguments: '{"query":"x"}' } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: "Done" },
      { role: "tool", tool_call_id: "b", content: "ok" },
      { role: "tool", tool_call_id: "c" },
    ]);
  });
});
