import { CHAT_USAGE } from "../../../fake/openai/chat-json.ts";
import { chatChunk, chatStream, DONE } from "../../../fake/recordings.ts";
import type { Turn } from "../conversation.ts";
import { argumentsOf, connection, inTwo, objectsIn, textIn, type Vendor } from "./vendor.ts";

/** A server with the chat-completions format and nothing else, such as vLLM or llama.cpp. */
export const compatibleServer: Vendor = {
  title: "an OpenAI-compatible server",
  provider: `{ kind: openai, ${connection} }`,
  upstreamModel: "qwen3-coder",
  path: "/v1/chat/completions",
  signs: false,
  toStream: ({ thought, text, calls, usage }: Turn) =>
    chatStream({
      events: [
        chatChunk({ delta: { role: "assistant", content: "" } }),
        ...inTwo(thought).map((piece) => chatChunk({ delta: { reasoning_content: piece } })),
        ...inTwo(text).map((piece) => chatChunk({ delta: { content: piece } })),
        ...calls.flatMap((call, index) => {
          const [first = "", second = ""] = inTwo(JSON.stringify(argumentsOf(call)));
          const { id, name } = call;
          const opening = { index, id, type: "function", function: { name, arguments: first } };
          return [opening, { index, function: { arguments: second } }].map((piece) =>
            chatChunk({ delta: { tool_calls: [piece] } }),
          );
        }),
        chatChunk({ finish: calls.length > 0 ? "tool_calls" : "stop" }),
        chatChunk({
          choices: [],
          usage: {
            ...CHAT_USAGE,
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.input + usage.output,
            prompt_tokens_details: { cached_tokens: usage.cached },
            completion_tokens_details: { reasoning_tokens: usage.reasoning },
          },
        }),
        DONE,
      ],
    }),
  toHistory: ({ messages }) => {
    const all = objectsIn(messages);
    const calls = all.flatMap(({ tool_calls: made }) => objectsIn(made));
    return {
      calls: calls.map(
        ({ id, function: called }) => `${id} ${Reflect.get(Object(called), "name")}`,
      ),
      signatures: [],
      results: new Map(
        all
          .filter(({ role }) => role === "tool")
          .map(({ tool_call_id: id, content }) => [String(id), textIn(content)]),
      ),
    };
  },
};
