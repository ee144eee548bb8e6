import type { Price } from "../../../call/price.ts";
import { TextBound } from "../../../call/text-bound.ts";
import { type Need, needOf } from "../../../ledger/need.ts";

/** 24,000 samples a second of two bytes. */
const bytesPerSecond = 48_000;
const tokensPerSecond = 25;
const tokensAroundText = 16;

/**
 * The longest that the audio of a text may become, unless the catalogue says less. Slow speech is
 * longer by as much as it is slower.
 */
export function mostAudioBytes(
  text: string,
  { maxAudioSeconds = Number.POSITIVE_INFINITY, speed = 1 }: AudioBound,
): number {
  // Code points, as characters are counted everywhere.
  let characters = 0;
  for (const _ of text) characters++;
  const seconds = Math.min(maxAudioSeconds, (10 + characters / 4) / Math.min(1, speed));
  return Math.ceil(seconds) * bytesPerSecond;
}

interface AudioBound {
  readonly maxAudioSeconds?: number | undefined;
  readonly speed?: number | undefined;
}

export function audioTokens(sizeBytes: number): number {
  return Math.ceil((sizeBytes * tokensPerSecond) / bytesPerSecond);
}

export function speechNeed(options: {
  readonly text: string;
  /** Billed as text, too. */
  readonly instructions?: string | undefined;
  readonly mostBytes: number;
  readonly price: Price;
}): { readonly need: Need; readonly tokens: number } {
  const { text, instructions = "", mostBytes, price } = options;
  const bound = new TextBound();
  const input = bound.bytesOf(text) + bound.bytesOf(instructions) + tokensAroundText;
  const audio = audioTokens(mostBytes);
  return {
    need: needOf({ units: { input, audio }, price }),
    // Speech has about fifteen characters a second.
    tokens: Math.ceil(input / 4) + Math.ceil((text.length / 15) * tokensPerSecond),
  };
}
