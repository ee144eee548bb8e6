/** Replies of Bedrock's Converse and ConverseStream, as Amazon documents them. */

import { bedrockEvent } from "./bedrock-frames.ts";

export const bedrockModel = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

export interface BedrockUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cacheReadInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
}

export type BedrockBlock =
  | { readonly text: readonly string[] }
  | { readonly reasoning: readonly string[]; readonly signature: string }
  | {
      readonly toolUseId: string;
      readonly name: string;
      /** Of JSON text. */
      readonly input: readonly string[];
    };

export interface BedrockAnswer {
  readonly blocks: readonly BedrockBlock[];
  readonly stopReason: string;
  readonly usage?: BedrockUsage;
}

const uncounted: BedrockUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
const metrics = { latencyMs: 184 };

export function bedrockReply({ blocks, stopReason, usage }: BedrockAnswer): string {
  const content = blocks.map((block) => {
    if ("text" in block) return { text: block.text.join("") };
    if ("reasoning" in block)
      return {
        reasoningContent: {
          reasoningText: { text: block.reasoning.join(""), signature: block.signature },
        },
      };
    const { toolUseId, name, input } = block;
    return { toolUse: { toolUseId, name, input: JSON.parse(input.join("")) } };
  });
  const output = { message: { role: "assistant", content } };
  // Counts are never left out of a whole reply: what was not counted is 0.
  return JSON.stringify({ metrics, output, stopReason, usage: usage ?? uncounted });
}

/** Amazon pads events to hide how long they are: a field `p` of no meaning. */
const padding = { p: "abcdefghijkl" };

export function bedrockEvents({ blocks, stopReason, usage }: BedrockAnswer): Buffer[] {
  return [
    bedrockEvent("messageStart", { role: "assistant", ...padding }),
    ...blocks.flatMap(blockEvents),
    bedrockEvent("messageStop", { stopReason, ...padding }),
    bedrockEvent("metadata", { metrics, ...(usage === undefined ? {} : { usage }), ...padding }),
  ];
}

function blockEvents(block: BedrockBlock, contentBlockIndex: number): Buffer[] {
  const delta = (said: object) =>
    bedrockEvent("contentBlockDelta", { contentBlockIndex, delta: said, ...padding });
  const stop = bedrockEvent("contentBlockStop", { contentBlockIndex, ...padding });
  if ("text" in block) return [...block.text.map((text) => delta({ text })), stop];
  if ("reasoning" in block)
    return [
      ...block.reasoning.map((text) => delta({ reasoningContent: { text } })),
      delta({ reasoningContent: { signature: block.signature } }),
      stop,
    ];
  const { toolUseId, name, input } = block;
  const start = { toolUse: { toolUseId, name } };
  return [
    bedrockEvent("contentBlockStart", { contentBlockIndex, start, ...padding }),
    ...input.map((piece) => delta({ toolUse: { input: piece } })),
    stop,
  ];
}
