import type { Price } from "../../../call/price.ts";
import { TextBound } from "../../../call/text-bound.ts";
import { type Need, needOf } from "../../../ledger/need.ts";

/** 24,000 samples a second of two bytes. */
const bytesPerSecond = 48_000;
const tokensPerSecond = 25;
const tokensAroundText = 16;

/** The longest that the audio of a text may become, unless the catalogue says less. */
export function mostAudioBytes(text: string, maxAudioSeconds: number | undefined): number {
  // Code points, as characters are counted everywhere.
  let characters = 0;
  for (const _ of text) characters++;
  const seconds = Math.min(maxAudioSeconds ?? Number.POSITIVE_INFINITY, 10 + characters / 4);
  return Math.ceil(seconds) * bytesPerSecond;
}

export function audioTokens(sizeBytes: number): number {
  return Math.ceil((sizeBytes * tokensPerSecond) / bytesPerSecond);
}

export function speechNeed(options: {
  readonly text: string;
  readonly mostBytes: number;
  readonly price: Price;
}): { readonly need: Need; readonly tokens: number } {
  const { text, mostBytes, price } = options;
  const input = new TextBound().bytesOf(text) + tokensAroundText;
  const audio = audioTokens(mostBytes);
  return {
    need: needOf({ units: { input, audio }, price }),
    // Speech has about fifteen characters a second.
    tokens: Math.ceil(input / 4) + Math.ceil((text.length / 15) * tokensPerSecond),
  };
}
