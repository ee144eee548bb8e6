import { httpReply } from "../../../fake/http/reply.ts";
import type { ToolCall, Turn } from "../conversation.ts";
import { connection, inTwo, objectsIn, textIn, type Vendor } from "./vendor.ts";

/** OpenAI itself, which speaks Responses. */
export const openaiResponses: Vendor = {
  title: "OpenAI's own Responses API",
  provider: `{ kind: openai, vendor: openai, ${connection} }`,
  upstreamModel: "gpt-5.5-2026-08-07",
  path: "/v1/responses",
  signs: true,
  toStream: (turn: Turn) =>
    httpReply({
      headers: { "content-type": "text/event-stream; charset=utf-8" },
      framing: "chunked",
      body: eventsOf(turn).map((event, at) => {
        const data = JSON.stringify({ ...event, sequence_number: at });
        return `event: ${event.type}\ndata: ${data}\n\n`;
      }),
    }),
  toHistory: ({ input }) => {
    const items = objectsIn(input);
    const isCall = new Set<unknown>(["function_call", "custom_tool_call"]);
    const isResult = new Set<unknown>(["function_call_output", "custom_tool_call_output"]);
    return {
      calls: items
        .filter(({ type }) => isCall.has(type))
        .map(({ call_id: id, name }) => `${id} ${name}`),
      signatures: items
        .filter(({ type }) => type === "reasoning")
        .map(({ encrypted_content: encrypted }) => String(encrypted)),
      results: new Map(
        items
          .filter(({ type }) => isResult.has(type))
          .map(({ call_id: id, output }) => [String(id), textIn(output)]),
      ),
    };
  },
};

/** OpenAI for callers of another format: it refuses tools in chat completions, as it reasons. */
export const openaiForOthers: Vendor = {
  ...openaiResponses,
  title: "OpenAI",
  refuse: ({ path }) => {
    if (path !== "/v1/chat/completions") return undefined;
    const message =
      "Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
    const error = { message, type: "invalid_request_error", param: "reasoning_effort", code: null };
    return httpReply({
      status: 400,
      headers: { "content-type": "application/json" },
      framing: "length",
      body: [JSON.stringify({ error })],
    });
  },
};

interface ResponseEvent {
  readonly type: string;
  readonly [name: string]: unknown;
}

type Item = Readonly<Record<string, unknown>>;

interface ItemEvents {
  readonly begun: Item;
  readonly between: readonly ResponseEvent[];
  readonly done: Item;
}

function eventsOf(turn: Turn): readonly ResponseEvent[] {
  const items = [
    ...(turn.thought === "" ? [] : [reasoningItem(turn)]),
    ...(turn.text === "" ? [] : [messageItem(turn.text)]),
    ...turn.calls.map((call) =>
      call.freeText === undefined ? functionItem(call) : customItem(call),
    ),
  ];
  const { input, cached, output, reasoning } = turn.usage;
  const begun = {
    id: "resp_vendor0001",
    object: "response",
    created_at: 1_791_968_400,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    instructions: null,
    model: "gpt-5.5-2026-08-07",
    output: [],
    parallel_tool_calls: true,
    store: false,
    tool_choice: "auto",
    tools: [],
    usage: null,
  };
  const response = {
    ...begun,
    status: "completed",
    output: items.map(({ done }) => done),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  };
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...items.flatMap(({ begun: item, between, done }, at) => [
      { type: "response.output_item.added", output_index: at, item },
      ...between.map((event) => ({ ...event, output_index: at, item_id: item["id"] })),
      { type: "response.output_item.done", output_index: at, item: done },
    ]),
    { type: "response.completed", response },
  ];
}

function reasoningItem({ thought, signature }: Turn): ItemEvents {
  const item = { id: "rs_vendor1", type: "reasoning", encrypted_content: signature };
  const part = { type: "summary_text", text: thought };
  const prefix = "response.reasoning_summary";
  return {
    begun: { ...item, summary: [] },
    between: [
      { type: `${prefix}_part.added`, summary_index: 0, part: { ...part, text: "" } },
      ...inTwo(thought).map((delta) => ({
        type: `${prefix}_text.delta`,
        summary_index: 0,
        delta,
      })),
      { type: `${prefix}_text.done`, summary_index: 0, text: thought },
      { type: `${prefix}_part.done`, summary_index: 0, part },
    ],
    done: { ...item, summary: [part] },
  };
}

function messageItem(text: string): ItemEvents {
  const item = { id: "msg_vendor1", type: "message", role: "assistant" };
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  const at = { content_index: 0 };
  return {
    begun: { ...item, status: "in_progress", content: [] },
    between: [
      { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
      ...inTwo(text).map((delta) => ({
        type: "response.output_text.delta",
        ...at,
        delta,
        logprobs: [],
      })),
      { type: "response.output_text.done", ...at, text, logprobs: [] },
      { type: "response.content_part.done", ...at, part },
    ],
    done: { ...item, status: "completed", content: [part] },
  };
}

function functionItem(call: ToolCall): ItemEvents {
  const whole = JSON.stringify(call.arguments);
  const { name } = call;
  const item = { id: `fc_${call.id}`, type: "function_call", call_id: call.id, name };
  const prefix = "response.function_call_arguments";
  return {
    begun: { ...item, status: "in_progress", arguments: "" },
    between: [
      ...inTwo(whole).map((delta) => ({ type: `${prefix}.delta`, delta })),
      { type: `${prefix}.done`, arguments: whole },
    ],
    done: { ...item, status: "completed", arguments: whole },
  };
}

function customItem({ id, name, freeText = "" }: ToolCall): ItemEvents {
  const item = { id: `ctc_${id}`, type: "custom_tool_call", call_id: id, name };
  const prefix = "response.custom_tool_call_input";
  return {
    begun: { ...item, status: "in_progress", input: "" },
    between: [
      ...inTwo(freeText).map((delta) => ({ type: `${prefix}.delta`, delta })),
      { type: `${prefix}.done`, input: freeText },
    ],
    done: { ...item, status: "completed", input: freeText },
  };
}
