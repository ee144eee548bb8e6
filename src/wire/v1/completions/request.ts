import type { Static } from "typebox";
import { Type } from "../../../base/json/type.ts";
import { chatRequest } from "../chat/request.ts";
import {
  filled,
  modelId,
  named,
  optionalAtLeast,
  optionalFlag,
  optionalInteger,
  optionalText,
  told,
} from "../schema.ts";

/** As for embeddings. */
export const maxPrompts = 100;
/** As many as a chat may ask for. */
export const maxChoices = 128;
const maxBestOf = 20;
const maxLogprobs = 5;
/** What the legacy API has always used; servers that copy it differ, so it is sent to all of them. */
export const usualMaxTokens = 16;

const forms = `a string, a list of 1 to ${maxPrompts} strings, or token ids`;
const tokenId = Type.Integer({ minimum: 0, "x-says": "a token id (an integer of at least 0)" });
const tokenList = Type.Array(tokenId, {
  minItems: 1,
  ...told("One prompt as token ids.", "a list of at least one token id"),
});

/** The forms that `prompt` may have. */
export const promptForms = {
  text: filled("One prompt.", forms),
  texts: Type.Array(
    Type.String({ minLength: 1, "x-says": "a non-empty string, like the other entries" }),
    { minItems: 1, maxItems: maxPrompts, ...told(`Up to ${maxPrompts} prompts.`, forms) },
  ),
  tokens: tokenList,
  tokenLists: Type.Array(tokenList, {
    minItems: 1,
    maxItems: maxPrompts,
    ...told(
      `Up to ${maxPrompts} prompts as token ids.`,
      `a list of 1 to ${maxPrompts} lists of token ids`,
    ),
  }),
} as const;

const { text, texts, tokens, tokenLists } = promptForms;
/** They mean the same as in a chat. */
const {
  temperature,
  top_p,
  stream,
  stream_options,
  stop,
  seed,
  presence_penalty,
  frequency_penalty,
  logit_bias,
  user,
} = chatRequest.properties;

export const completionRequest = Type.Object(
  {
    model: modelId("chat"),
    prompt: Type.Union([text, texts, tokens, tokenLists], {
      ...told(`The prompt: ${forms}. Each prompt gets its own choices.`, forms),
    }),
    suffix: optionalText("Text that follows the completion. Requires a single prompt."),
    max_tokens: optionalAtLeast(
      0,
      `Maximum number of output tokens per choice. Default: ${usualMaxTokens}. 0 is allowed only with echo.`,
    ),
    temperature,
    top_p,
    n: optionalInteger(
      1,
      maxChoices,
      `Number of choices per prompt. Each one is billed. A request can have up to ${maxChoices} choices in total.`,
    ),
    best_of: optionalInteger(
      1,
      maxBestOf,
      "Number of candidates per prompt, of which the best n are returned. All of them are billed. Cannot be streamed.",
    ),
    stream,
    stream_options,
    logprobs: optionalInteger(
      0,
      maxLogprobs,
      "Returns log probabilities of the tokens, with this many alternatives per token.",
    ),
    echo: optionalFlag("Whether to return the prompt before the completion. Default: false."),
    stop,
    seed,
    presence_penalty,
    frequency_penalty,
    logit_bias,
    user,
  },
  named("CompletionRequest", "A legacy completion request."),
);

/** The fields beside the prompt, whose forms are checked one by one. */
export const completionFields = Type.Omit(completionRequest, ["prompt"]);

export type CompletionRequest = Static<typeof completionFields>;
