import { type ChatCall, type ChatResult, wordsOf } from "../../../call/chat.ts";
import { hasMedia, mostInputTokens, textsOf } from "../../../call/chat-size.ts";
import type { Price } from "../../../call/price.ts";
import { toTokenUnits, type Usage } from "../../../call/usage.ts";
import { maxContextTokens } from "../../../catalog/context-tokens.ts";
import { maxImageTokens } from "../../../catalog/image-tokens.ts";
import { type Model, usualOutputTokens } from "../../../catalog/model.ts";
import { type Need, needOf } from "../../../ledger/need.ts";
import type { CountFor, TokenCounter } from "../../../ledger/tokens/token-counter.ts";
import type { ChatOrder } from "../../../wire/v1/dialect.ts";
import type { Said } from "../../../wire/v1/said.ts";
import type { Measured } from "../../billing/charge.ts";

/** Of an answer whose length nobody has named, for the limit of tokens a minute. */
const expectedOutputTokens = 1_024;
/** About what a token of text has. */
const bytesPerToken = 4;

export interface ChatNeed {
  readonly need: Need;
  /** About what it will use. */
  readonly tokens: number;
  /** About what of it is the prompt. */
  readonly aboutInputTokens: number;
  /** The answer was made shorter than it might have been, to fit the limit. */
  readonly isShortened: boolean;
}

/** The most that a chat can cost: each byte a token at the dearest input, each answer at its cap. */
export function chatNeed(options: {
  readonly order: ChatOrder;
  readonly model: Model;
  readonly price: Price;
  /** The tightest limit of tokens a minute that the call must pass. */
  readonly tpm: number | undefined;
}): ChatNeed {
  const { order, model, price, tpm } = options;
  const { call, choices, isCapNamed } = order;
  const sized = mostInputTokens(call, maxImageTokens(model));
  const context = hasMedia(call) ? maxContextTokens(model) : undefined;
  const most = context === undefined ? sized : Math.max(sized, context);
  const whole = call.maxOutputTokens ?? usualOutputTokens;
  // Token ids are counted already.
  const ids = call.original?.promptTokens ?? 0;
  const about = Math.ceil((Math.min(sized, context ?? sized) - ids) / bytesPerToken) + ids;
  // Who named no length is not refused for one that we made up: the answer is made to fit.
  const fitting = tpm === undefined ? whole : Math.floor((tpm - about) / choices);
  const cap = isCapNamed ? whole : Math.max(1, Math.min(whole, fitting));
  const expected = choices * (isCapNamed ? cap : Math.min(cap, expectedOutputTokens));
  return {
    need: needOf({ units: { input: most, choices }, price, cap, isCapNamed }),
    tokens: about + expected,
    aboutInputTokens: about,
    isShortened: cap < whole,
  };
}

export function measured(usage: Usage): Measured {
  return {
    units: toTokenUnits(usage),
    reasoningTokens: usage.reasoningTokens ?? 0,
    estimated: usage.estimated,
  };
}

export interface CountOptions {
  readonly counter: TokenCounter;
  readonly countFor: CountFor;
  readonly chat: ChatCall;
  readonly said: Pick<Said, "text" | "share">;
  readonly model: Model;
  readonly choices: number;
  /** What the model is likely to have thought besides. */
  readonly hiddenTokens?: number;
  /** The upstream got the request in the caller's own dialect, with what no message here has. */
  readonly isNative?: boolean;
}

/** Where no upstream has told it: counted with a tokenizer, which is an estimate. */
export async function countUsage(options: CountOptions): Promise<Usage> {
  const { counter, countFor, chat, said, model, choices } = options;
  const { hiddenTokens = 0, isNative = false } = options;
  const { texts, images, mediaTokens: mostMedia } = textsOf(chat);
  const [input, output] = await Promise.all([
    counter.count(texts, countFor),
    said.text === "" ? 0 : counter.count([said.text], countFor),
  ]);
  const imageTokens = maxImageTokens(model);
  const mediaTokens = mostMedia === 0 ? 0 : Math.min(mostMedia, maxContextTokens(model));
  // Another tokenizer may count more than the upstream was allowed.
  const most = (chat.maxOutputTokens ?? Number.POSITIVE_INFINITY) * choices;
  // A prompt of completions has no template around it.
  const { dialect, promptTokens = 0, addedTokens = 0 } = chat.original ?? {};
  const around = dialect === "completions" ? 0 : 4 * chat.messages.length;
  // The hold has a token for each byte of it; a tokenizer would make far less of it.
  const added = isNative ? Math.ceil(addedTokens / bytesPerToken) : 0;
  return {
    inputTokens: input + promptTokens + added + around + images * imageTokens + mediaTokens,
    outputTokens: Math.min(most, Math.ceil(output * said.share) + hiddenTokens),
    ...(hiddenTokens > 0 ? { reasoningTokens: hiddenTokens } : {}),
    estimated: true,
  };
}

export const hasSaid = (result: ChatResult) => saidIn(result).text.trim() !== "";

/** All that the model said: text, tool calls, reasoning. */
export function saidIn({ choices }: ChatResult, share = 1): Pick<Said, "text" | "share"> {
  return { text: choices.map(({ message }) => wordsOf(message)).join("\n"), share };
}
