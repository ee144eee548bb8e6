/**
 * A kind of provider that older versions had. It loaded any installed package by a name from outside,
 * which is to run any code. Rows of such providers may still be stored.
 */
export const removedKind = "ai-sdk";

export const removedKindWords = {
  what: `kind ${removedKind} was removed`,
  advice:
    "Use kind openai with base_url for a server with the chat-completions format, or kind anthropic or bedrock.",
} as const;
