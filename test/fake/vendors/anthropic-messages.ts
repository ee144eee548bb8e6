/** Replies of Anthropic's Messages API, as it documents them. */

export const anthropicModel = "claude-sonnet-4-5-20250929";

export interface AnthropicUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly output_tokens_details?: { readonly thinking_tokens: number };
}

export type AnthropicBlock =
  | { readonly type: "text"; readonly text: string; readonly pieces?: readonly string[] }
  | {
      readonly type: "thinking";
      readonly thinking: string;
      readonly signature: string;
      readonly pieces?: readonly string[];
    }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
      readonly pieces?: readonly string[];
    };

export interface AnthropicAnswer {
  readonly blocks: readonly AnthropicBlock[];
  readonly stopReason: string | null;
  readonly usage: AnthropicUsage;
}

const envelope = {
  id: "msg_vendor0001",
  type: "message",
  role: "assistant",
  model: anthropicModel,
  stop_sequence: null,
};

export function anthropicMessage({ blocks, stopReason, usage }: AnthropicAnswer): string {
  const content = blocks.map(({ ...block }) => {
    Reflect.deleteProperty(block, "pieces");
    return block;
  });
  return JSON.stringify({ ...envelope, content, stop_reason: stopReason, usage });
}

export function anthropicEvent(event: { readonly type: string; readonly [name: string]: unknown }) {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Each event by itself. The input is counted at the start, the output at the end. */
export function anthropicEvents({ blocks, stopReason, usage }: AnthropicAnswer): string[] {
  const { output_tokens, output_tokens_details, ...input } = usage;
  const message = {
    ...envelope,
    content: [],
    stop_reason: null,
    usage: { ...input, output_tokens: Math.min(1, output_tokens) },
  };
  return [
    anthropicEvent({ type: "message_start", message }),
    anthropicEvent({ type: "ping" }),
    ...blocks.flatMap(blockEvents),
    anthropicEvent({
      type: "message_delta",
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: {
        output_tokens,
        ...(output_tokens_details === undefined ? {} : { output_tokens_details }),
      },
    }),
    anthropicEvent({ type: "message_stop" }),
  ];
}

function blockEvents(block: AnthropicBlock, index: number): string[] {
  const { opening, deltas } = opened(block);
  return [
    anthropicEvent({ type: "content_block_start", index, content_block: opening }),
    ...deltas.map((delta) => anthropicEvent({ type: "content_block_delta", index, delta })),
    anthropicEvent({ type: "content_block_stop", index }),
  ];
}

function opened(block: AnthropicBlock): { opening: object; deltas: readonly object[] } {
  switch (block.type) {
    case "text":
      return {
        opening: { type: "text", text: "" },
        deltas: (block.pieces ?? [block.text]).map((text) => ({ type: "text_delta", text })),
      };
    case "thinking":
      return {
        opening: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          ...(block.pieces ?? [block.thinking]).map((thinking) => ({
            type: "thinking_delta",
            thinking,
          })),
          { type: "signature_delta", signature: block.signature },
        ],
      };
    case "redacted_thinking":
      return { opening: block, deltas: [] };
    case "tool_use":
      return {
        opening: { type: "tool_use", id: block.id, name: block.name, input: {} },
        deltas: ["", ...(block.pieces ?? [JSON.stringify(block.input)])].map((partial_json) => ({
          type: "input_json_delta",
          partial_json,
        })),
      };
    default:
      return block satisfies never;
  }
}

export function anthropicError(type: string, message: string): string {
  const error = { type, message };
  return JSON.stringify({ type: "error", error, request_id: "req_vendor0001" });
}
