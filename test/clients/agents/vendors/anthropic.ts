import { httpReply } from "../../../fake/http/reply.ts";
import { type AnthropicBlock, anthropicEvents } from "../../../fake/vendors/anthropic-messages.ts";
import type { Turn } from "../conversation.ts";
import { argumentsOf, connection, inTwo, objectsIn, textIn, type Vendor } from "./vendor.ts";

export const anthropic: Vendor = {
  title: "Anthropic",
  provider: `{ kind: anthropic, ${connection} }`,
  upstreamModel: "claude-sonnet-4-5",
  path: "/v1/messages",
  signs: true,
  toStream: (turn: Turn) => {
    const { input, cached, output, reasoning } = turn.usage;
    return httpReply({
      headers: { "content-type": "text/event-stream; charset=utf-8" },
      framing: "chunked",
      body: anthropicEvents({
        blocks: blocksOf(turn),
        stopReason: turn.calls.length > 0 ? "tool_use" : "end_turn",
        usage: {
          input_tokens: input - cached,
          cache_read_input_tokens: cached,
          cache_creation_input_tokens: 0,
          output_tokens: output,
          output_tokens_details: { thinking_tokens: reasoning },
        },
      }),
    });
  },
  toHistory: ({ messages }) => {
    const blocks = objectsIn(messages).flatMap(({ content }) => objectsIn(content));
    const ofType = (wanted: string) => blocks.filter(({ type }) => type === wanted);
    return {
      calls: ofType("tool_use").map(({ id, name }) => `${id} ${name}`),
      signatures: ofType("thinking").map(({ signature }) => String(signature)),
      results: new Map(
        ofType("tool_result").map(({ tool_use_id: id, content }) => [String(id), textIn(content)]),
      ),
    };
  },
};

function blocksOf({ thought, signature, text, calls }: Turn): readonly AnthropicBlock[] {
  const pieces = inTwo(text);
  return [
    ...(thought === ""
      ? []
      : [{ type: "thinking", thinking: thought, signature, pieces: inTwo(thought) } as const]),
    ...(text === "" ? [] : [{ type: "text", text, pieces } as const]),
    ...calls.map((call) => {
      const input = argumentsOf(call);
      const { id, name } = call;
      return { type: "tool_use", id, name, input, pieces: inTwo(JSON.stringify(input)) } as const;
    }),
  ];
}
