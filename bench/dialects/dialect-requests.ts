/** The same two conversations in each dialect: words alone, and one in which a tool was called. */
import type { LoadDialect } from "../load/traffic.ts";

type Message = { readonly role: string; readonly content: string };

interface Chat {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly cap: number;
  readonly isStream: boolean;
}

/** As an agent asks: tools, a call of one, and its result. */
const tools = [
  { name: "find_order", description: "Finds an order by the customer's last name.", of: "name" },
  { name: "track_parcel", description: "Shows where a parcel is.", of: "parcel" },
  { name: "send_book", description: "Sends a book of an order again.", of: "title" },
].map(({ of, ...tool }) => ({
  ...tool,
  parameters: {
    type: "object",
    properties: { [of]: { type: "string", description: `The ${of}.` }, days: { type: "integer" } },
    required: [of],
    additionalProperties: false,
  },
}));
const call = { id: "call_0123456789abcdefghij", name: "find_order", input: { name: "Miller" } };
const result = JSON.stringify({
  order: "B-2041",
  books: ["A paperback about rivers", "A paperback about mountains"],
  parcels: [{ number: "P-77120", books: 1, weight: 0.41, left: "2026-11-12T08:30:00Z" }],
});

/** The path and the body of a chat in a dialect. */
export function dialectRequest(
  dialect: LoadDialect,
  chat: Chat,
  hasTools: boolean,
): { readonly path: string; readonly body: object } {
  const { model, cap, isStream } = chat;
  const common = { model, temperature: 0.7, top_p: 0.95, ...(isStream ? { stream: true } : {}) };
  const withUsage = isStream ? { stream_options: { include_usage: true } } : {};
  switch (dialect) {
    case "chat":
      return {
        path: "chat/completions",
        body: { ...common, ...chatTurns(chat, hasTools), max_tokens: cap, ...withUsage },
      };
    case "responses":
      return {
        path: "responses",
        body: {
          ...common,
          ...responseItems(chat, hasTools),
          max_output_tokens: cap,
          store: false,
        },
      };
    case "messages":
      return {
        path: "messages",
        body: { ...common, ...messageBlocks(chat, hasTools), max_tokens: cap },
      };
    case "completions":
      return {
        path: "completions",
        body: {
          ...common,
          prompt: chat.messages.map(({ content }) => content).join("\n"),
          max_tokens: cap,
          ...withUsage,
        },
      };
    default:
      return dialect satisfies never;
  }
}

function chatTurns({ messages }: Chat, hasTools: boolean): object {
  if (!hasTools) return { messages };
  const { id, name, input } = call;
  const called = { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
  return {
    messages: [
      ...messages,
      { role: "assistant", content: null, tool_calls: [called] },
      { role: "tool", tool_call_id: id, content: result },
    ],
    tools: tools.map((tool) => ({ type: "function", function: tool })),
  };
}

function responseItems({ messages }: Chat, hasTools: boolean): object {
  const [system, ...input] = messages;
  const instructions = system?.content;
  if (!hasTools) return { instructions, input };
  const { id, name, input: given } = call;
  return {
    instructions,
    input: [
      ...input,
      { type: "function_call", call_id: id, name, arguments: JSON.stringify(given) },
      { type: "function_call_output", call_id: id, output: result },
    ],
    tools: tools.map((tool) => ({ type: "function", ...tool, strict: false })),
  };
}

function messageBlocks({ messages: given }: Chat, hasTools: boolean): object {
  const [first, ...messages] = given;
  const system = first?.content;
  if (!hasTools) return { system, messages };
  return {
    system,
    messages: [
      ...messages,
      { role: "assistant", content: [{ type: "tool_use", ...call }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: call.id, content: result }],
      },
    ],
    tools: tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
  };
}
