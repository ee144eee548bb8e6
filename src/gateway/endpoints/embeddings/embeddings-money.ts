import type { EmbedInput } from "../../../call/embed.ts";
import type { Price, Units } from "../../../call/price.ts";
import { TextBound } from "../../../call/text-bound.ts";
import { type Need, needOf } from "../../../ledger/need.ts";
import type { TokenCounter } from "../../../ledger/tokens/token-counter.ts";
import { billedVideoSeconds } from "../../../media/video.ts";
import type { Measured } from "../../billing/charge.ts";

/** What models put around each text. */
const tokensAroundText = 8;

/** The most that an embedding can cost: a token a byte; images and seconds are known exactly. */
export function embeddingNeed(
  input: EmbedInput,
  price: Price,
): { readonly need: Need; readonly tokens: number } {
  const units = unitsOf(input, mostTokens(input));
  const { input: most = 0, image = 0, video_second: video = 0 } = units;
  return {
    need: needOf({ units: { input: most, image, video }, price }),
    tokens: input.kind === "tokens" ? most : Math.ceil(most / 4),
  };
}

function mostTokens(input: EmbedInput): number {
  switch (input.kind) {
    case "texts": {
      const bound = new TextBound();
      return input.texts.reduce((sum, text) => sum + bound.bytesOf(text) + tokensAroundText, 0);
    }
    case "tokens":
      return input.tokens.reduce((sum, ids) => sum + ids.length + tokensAroundText, 0);
    case "images":
    case "video":
      return 0;
    default:
      return input satisfies never;
  }
}

/** Where the upstream has not told it. */
export function countTokens(
  input: EmbedInput,
  counter: TokenCounter,
  accountId: string,
): Promise<number> {
  if (input.kind === "texts") return counter.count(input.texts, { accountId, purpose: "reply" });
  if (input.kind !== "tokens") return Promise.resolve(0);
  return Promise.resolve(input.tokens.reduce((sum, ids) => sum + ids.length, 0));
}

export function toMeasured(input: EmbedInput, tokens: number, estimated: boolean): Measured {
  return { units: unitsOf(input, tokens), reasoningTokens: 0, estimated };
}

function unitsOf(input: EmbedInput, tokens: number): Units {
  switch (input.kind) {
    case "texts":
    case "tokens":
      return { input: tokens };
    case "images":
      return { image: input.dataUris.length };
    case "video":
      return { video_second: billedVideoSeconds(input.durationS) };
    default:
      return input satisfies never;
  }
}
