import type { ContextSizes } from "../../base/context-length.ts";
import type { Said } from "./error-body.ts";

/** How vendors name both lengths, in lower case. */
const forms: readonly RegExp[] = [
  // anthropic
  /prompt is too long: (?<tokens>\d{1,9}) tokens > (?<maximum>\d{1,9}) maximum/,
  // fireworks
  /prompt is too long: (?<tokens>\d{1,9}), model maximum context length: (?<maximum>\d{1,9})/,
  // openai deepseek openrouter vllm xai sambanova
  /maximum (?:context|prompt) length is (?<maximum>\d{1,9})\b[^\d]{1,60}(?<tokens>\d{1,9}) tokens/,
  // gemini
  /input token count \((?<tokens>\d{1,9})\) exceeds the maximum number of tokens allowed \((?<maximum>\d{1,9})\)/,
  // mistral
  /prompt contains (?<tokens>\d{1,9}) tokens .{1,60}model with (?<maximum>\d{1,9}) maximum/,
  // moonshot
  /model token limit: (?<maximum>\d{1,9}) \(requested: (?<tokens>\d{1,9})\)/,
  // cerebras
  /current length is (?<tokens>\d{1,9}) while limit is (?<maximum>\d{1,9})/,
  // cohere
  /cannot exceed (?<maximum>\d{1,9}) - received (?<tokens>\d{1,9})/,
  // vllm
  /\(length (?<tokens>\d{1,9})\) is longer than the maximum model length of (?<maximum>\d{1,9})/,
];

/** Undefined: the vendor does not name both lengths, or they contradict its refusal. */
export function contextSizesIn({ message, contextSizes }: Said): ContextSizes | undefined {
  const sizes = contextSizes ?? sizesInWords(message);
  return sizes !== undefined && sizes.maximum > 0 && sizes.tokens > sizes.maximum
    ? sizes
    : undefined;
}

function sizesInWords(message: string): ContextSizes | undefined {
  for (const form of forms) {
    const { tokens, maximum } = form.exec(message)?.groups ?? {};
    if (tokens !== undefined && maximum !== undefined)
      return { tokens: Number(tokens), maximum: Number(maximum) };
  }
  return undefined;
}
