/** How long a prompt is and may be, in tokens. */
export interface ContextSizes {
  readonly tokens: number;
  readonly maximum: number;
}

/**
 * The words for a prompt that does not fit. Agents and SDKs compact the conversation and go on only
 * if they find the words of their own vendor in the message, in the vendor's letters, so it has those
 * of all of them; docs/clients.md lists them.
 */
export function promptTooLong(reason?: ContextSizes | string): string {
  const sizes = typeof reason === "object" ? reason : undefined;
  const words = sizes ? `${sizes.tokens} tokens > ${sizes.maximum} maximum` : reason;
  const which = words === undefined ? "it" : `${words}, which`;
  const maximum = sizes === undefined ? "smaller" : `${sizes.maximum} tokens`;
  return `prompt is too long: ${which} exceeds the context window. This model's maximum context length is ${maximum}: shorten the conversation or lower max_tokens.`;
}
