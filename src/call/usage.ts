/** What a call used, by class. What is unknown is undefined, never 0. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of inputTokens. */
  readonly cachedInputTokens?: number | undefined;
  /** Part of outputTokens. */
  readonly reasoningTokens?: number | undefined;
  /** True when no upstream counted and we did. */
  readonly estimated: boolean;
}

/** A token for about four characters: a stand-in where the upstream told no usage. */
export function estimateTokens(textLength: number): number {
  return Math.ceil(textLength / 4);
}
