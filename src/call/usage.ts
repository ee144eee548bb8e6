import type { Units } from "./price.ts";

/** What a call used, by class. What is unknown is undefined, never 0. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of inputTokens: read from a cache. */
  readonly cachedInputTokens?: number | undefined;
  /** Part of inputTokens: written to a cache, which some vendors bill at a price of its own. */
  readonly cacheWriteTokens?: number | undefined;
  /** Part of outputTokens. */
  readonly reasoningTokens?: number | undefined;
  /** Other counts that a vendor reports, by the names of the wire; each is part of its side. */
  readonly inputDetails?: Readonly<Record<string, number>> | undefined;
  readonly outputDetails?: Readonly<Record<string, number>> | undefined;
  /** True when no upstream counted and we did. */
  readonly estimated: boolean;
}

/** Each token in one class: those of the cache are taken out of the input, never counted twice. */
export function toTokenUnits(usage: Usage): Units {
  const { inputTokens, outputTokens } = usage;
  const cached = Math.min(usage.cachedInputTokens ?? 0, inputTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, inputTokens - cached);
  return {
    input: inputTokens - cached - written,
    cached_input: cached,
    cache_write: written,
    output: outputTokens,
  };
}

/**
 * Upstreams that tell their usage several times tell it of the whole: the last one counts, never
 * their sum. A nothing behind something is a form that was left empty: some tell the input first
 * and the output last.
 */
export function latestUsage(earlier: Usage | undefined, later: Usage): Usage {
  if (earlier === undefined) return later;
  const input = later.inputTokens === 0 ? earlier : later;
  const output = later.outputTokens === 0 ? earlier : later;
  return {
    inputTokens: input.inputTokens,
    cachedInputTokens: input.cachedInputTokens,
    cacheWriteTokens: input.cacheWriteTokens,
    inputDetails: input.inputDetails,
    outputTokens: output.outputTokens,
    reasoningTokens: output.reasoningTokens,
    outputDetails: output.outputDetails,
    estimated: later.estimated,
  };
}

/** A count of nothing, where something was read and said, is none. */
export function isHollow({ inputTokens, outputTokens }: Usage, hasSaid: boolean): boolean {
  return inputTokens === 0 || (outputTokens === 0 && hasSaid);
}
