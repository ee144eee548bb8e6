/** The Responses format as OpenAI speaks it, whole and in events. */

import { httpReply, jsonReply, type Recording } from "../http/reply.ts";

type Fields = Readonly<Record<string, unknown>>;

export const RESPONSE_USAGE = {
  input_tokens: 36,
  input_tokens_details: { cached_tokens: 16, cache_write_tokens: 0 },
  output_tokens: 87,
  output_tokens_details: { reasoning_tokens: 64 },
  total_tokens: 123,
};

export const reasoningItem: Fields = {
  id: "rs_68af4030baa48193b0b43b4c2a176a1a",
  type: "reasoning",
  encrypted_content: "gAAAAABoISQ24OyVRYbkYfukdJoqdzWT-3uiErKInHDC",
  summary: [{ type: "summary_text", text: "**Checking** the weather" }],
};
export const messageItem: Fields = {
  id: "msg_68af40337e58819392e935fb404414d0",
  type: "message",
  status: "completed",
  content: [{ type: "output_text", annotations: [], logprobs: [], text: 'It is "7°".' }],
  role: "assistant",
};
export const callItem: Fields = {
  id: "fc_68af4030f0a08193a35b1d2a1f2b3c4d",
  type: "function_call",
  status: "completed",
  arguments: '{"city":"Zürich"}',
  call_id: "call_9Wz3aKQ1",
  name: "get_weather",
};

export const responseObject = (output: readonly Fields[], more: Fields = {}): Fields => ({
  id: "resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b",
  object: "response",
  created_at: 1_756_315_696,
  status: "completed",
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: 4_096,
  max_tool_calls: null,
  model: "gpt-5-2025-08-07",
  output,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: "medium", summary: "detailed" },
  safety_identifier: null,
  service_tier: "default",
  store: false,
  temperature: 1,
  text: { format: { type: "text" }, verbosity: "medium" },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  usage: RESPONSE_USAGE,
  user: null,
  metadata: {},
  ...more,
});

export const wholeResponse = (output: readonly Fields[], more: Fields = {}): Recording =>
  jsonReply({ body: responseObject(output, more) });

/** Each event with its name and number, as the vendor writes them. */
export function responseEvents(events: readonly Fields[]): Recording {
  const body = events.map(({ type, ...rest }, at) => {
    const data = JSON.stringify({ type, sequence_number: at, ...rest });
    return `event: ${String(type)}\ndata: ${data}\n\n`;
  });
  const headers = { "content-type": "text/event-stream; charset=utf-8" };
  return httpReply({ headers, body, framing: "chunked" });
}

const begun = (): Fields[] => {
  const response = responseObject([], { status: "in_progress", usage: null });
  return [
    { type: "response.created", response },
    { type: "response.in_progress", response },
  ];
};

const completed = (output: readonly Fields[], more: Fields = {}): Fields => ({
  type: "response.completed",
  response: responseObject(output, more),
});

const delta = (item: Fields, more: Fields): Fields => ({
  item_id: item["id"],
  output_index: 1,
  content_index: 0,
  ...more,
});

const thought = (more: Fields): Fields => ({
  item_id: reasoningItem["id"],
  output_index: 0,
  summary_index: 0,
  ...more,
});

/** Thoughts, then an answer in three pieces, one with an escape in it. */
export const answerEvents: readonly Fields[] = [
  ...begun(),
  { type: "response.output_item.added", output_index: 0, item: { ...reasoningItem, summary: [] } },
  {
    type: "response.reasoning_summary_part.added",
    ...thought({ part: { type: "summary_text", text: "" } }),
  },
  {
    type: "response.reasoning_summary_text.delta",
    ...thought({ delta: "**Checking** the weather", obfuscation: "x8Fq" }),
  },
  {
    type: "response.reasoning_summary_text.done",
    ...thought({ text: "**Checking** the weather" }),
  },
  {
    type: "response.reasoning_summary_part.done",
    ...thought({ part: { type: "summary_text", text: "**Checking** the weather" } }),
  },
  { type: "response.output_item.done", output_index: 0, item: reasoningItem },
  {
    type: "response.output_item.added",
    output_index: 1,
    item: { ...messageItem, status: "in_progress", content: [] },
  },
  {
    type: "response.content_part.added",
    ...delta(messageItem, {
      part: { type: "output_text", annotations: [], logprobs: [], text: "" },
    }),
  },
  ...["It is", ' "7°"', "."].map((text) => ({
    type: "response.output_text.delta",
    ...delta(messageItem, { delta: text, logprobs: [], obfuscation: "h3K" }),
  })),
  {
    type: "response.output_text.done",
    ...delta(messageItem, { text: 'It is "7°".', logprobs: [] }),
  },
  {
    type: "response.content_part.done",
    ...delta(messageItem, {
      part: { type: "output_text", annotations: [], logprobs: [], text: 'It is "7°".' },
    }),
  },
  { type: "response.output_item.done", output_index: 1, item: messageItem },
  completed([reasoningItem, messageItem]),
];

export const callEvents: readonly Fields[] = [
  ...begun(),
  { type: "response.output_item.added", output_index: 0, item: { ...reasoningItem, summary: [] } },
  { type: "response.output_item.done", output_index: 0, item: reasoningItem },
  {
    type: "response.output_item.added",
    output_index: 1,
    item: { ...callItem, status: "in_progress", arguments: "" },
  },
  {
    type: "response.function_call_arguments.delta",
    ...delta(callItem, { delta: '{"city":"Zürich"}', obfuscation: "" }),
  },
  {
    type: "response.function_call_arguments.done",
    ...delta(callItem, { arguments: '{"city":"Zürich"}' }),
  },
  { type: "response.output_item.done", output_index: 1, item: callItem },
  completed([reasoningItem, callItem]),
];

/** The vendor gives up after it has begun. */
export const failedEvents: readonly Fields[] = [
  ...begun(),
  {
    type: "response.failed",
    response: responseObject([], {
      status: "failed",
      usage: null,
      error: { code: "server_error", message: "The model failed to generate a response." },
    }),
  },
];
