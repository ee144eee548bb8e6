import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import type { FuzzBody } from "./json-text.ts";
import { promptMark } from "./odd-values.ts";

/** The other ways to call a chat model, each with its own kinds of bodies. */
export type DialectKind = "responses" | "messages" | "count-tokens" | "completions";

export const dialectKinds: readonly DialectKind[] = [
  "responses",
  "messages",
  "count-tokens",
  "completions",
];

export const dialectPaths = {
  responses: "/v1/responses",
  messages: "/v1/messages",
  "count-tokens": "/v1/messages/count_tokens",
  completions: "/v1/completions",
} as const satisfies Record<DialectKind, string>;

const png = Buffer.from(fixtureBytes("tiny.png")).toString("base64");
const parameters = { type: "object", properties: { city: { type: "string" } } };

const prompt: FuzzBody = {
  model: "svc-3-flash",
  system: [{ type: "text", text: promptMark, cache_control: { type: "ephemeral" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: promptMark },
        { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: promptMark, signature: "c2lnbmVk" },
        { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
        { type: "text", text: promptMark },
        { type: "tool_use", id: "toolu_1", name: "f", input: { city: "Bern" } },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "toolu_1",
          is_error: false,
          content: [
            { type: "text", text: promptMark },
            { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
          ],
        },
        { type: "text", text: promptMark },
      ],
    },
  ],
  tools: [{ name: "f", description: "d", input_schema: parameters }],
  tool_choice: { type: "auto", disable_parallel_tool_use: true },
};

const responses: FuzzBody = {
  model: "svc-3-flash",
  instructions: promptMark,
  input: [
    {
      role: "user",
      content: [
        { type: "input_text", text: promptMark },
        { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${png}` },
      ],
    },
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: promptMark }] },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: promptMark, annotations: [] }],
    },
    { type: "function_call", call_id: "call_1", name: "f", arguments: '{"city":"Bern"}' },
    {
      type: "function_call_output",
      call_id: "call_1",
      output: [{ type: "input_text", text: promptMark }],
    },
    { role: "developer", content: promptMark },
  ],
  tools: [{ type: "function", name: "f", description: "d", strict: false, parameters }],
  tool_choice: { type: "function", name: "f" },
  parallel_tool_calls: true,
  max_output_tokens: 64,
  temperature: 1,
  top_p: 0.5,
  stream: false,
  store: false,
  reasoning: { effort: "low", summary: "auto" },
  include: ["reasoning.encrypted_content"],
  text: { format: { type: "text" }, verbosity: "low" },
  truncation: "disabled",
  metadata: { a: "b" },
  user: "someone",
  prompt_cache_key: "k",
  service_tier: "auto",
};

/** One body a kind with every field in it, so that each can be made wrong in turn. */
export const dialectBodies: Readonly<Record<DialectKind, readonly FuzzBody[]>> = {
  responses: [responses, { model: "svc-3-flash", input: promptMark, stream: true }],
  messages: [
    {
      ...prompt,
      max_tokens: 2_048,
      temperature: 1,
      stream: false,
      stop_sequences: ["a", "b"],
      thinking: { type: "enabled", budget_tokens: 1_024 },
      metadata: { user_id: "someone" },
      service_tier: "auto",
    },
    {
      model: "svc-3-flash",
      max_tokens: 64,
      messages: [{ role: "user", content: promptMark }],
      top_k: 5,
      top_p: 0.5,
      stream: true,
    },
  ],
  "count-tokens": [prompt],
  completions: [
    {
      model: "svc-3-flash",
      prompt: [promptMark, "two"],
      max_tokens: 16,
      temperature: 1,
      top_p: 0.5,
      n: 1,
      best_of: 1,
      stop: ["a"],
      logprobs: 2,
      echo: false,
      suffix: "s",
      presence_penalty: 0,
      frequency_penalty: 0,
      logit_bias: { "50256": -100 },
      seed: 7,
      user: "someone",
    },
    { model: "svc-3-flash", prompt: [[1, 2], [3]], stream: false },
    { model: "svc-3-flash", prompt: promptMark, stream: true },
  ],
};
