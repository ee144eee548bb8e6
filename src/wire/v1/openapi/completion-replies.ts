import { Type } from "../../../base/json/type.ts";
import { finishReasons } from "../../../call/chat.ts";
import { named, nullable, told } from "../schema.ts";
import { extras, identity, index, logprobs, usage } from "./replies.ts";

/** What POST /v1/completions answers: one object, whole or as the events of a stream. */
const finishReason = Type.Enum(
  finishReasons.filter((reason) => reason !== "tool_calls"),
  told(
    "Why generation ended: the completion is complete (stop), reached max_tokens (length), or was filtered (content_filter).",
  ),
);
const object = Type.Literal("text_completion");

const choice = Type.Object(
  {
    index,
    text: Type.String(told("The completion; with echo, after its prompt.")),
    logprobs,
    finish_reason: finishReason,
  },
  named("CompletionChoice", "One choice. Other fields from the provider are passed through."),
);

const chunkChoice = Type.Object(
  {
    index,
    text: Type.String(told("The next piece of text.")),
    logprobs,
    finish_reason: nullable(finishReason, told("Null until the last event of the choice.")),
  },
  named("CompletionChunkChoice", "New text of one choice."),
);

export const completion = Type.Object(
  {
    ...identity,
    object,
    choices: Type.Array(choice, {
      minItems: 1,
      ...told("n choices per prompt. Choice i of prompt p has the index p × n + i."),
    }),
    usage,
    ...extras,
  },
  named("CompletionResponse", "A legacy completion."),
);

export const completionChunk = Type.Object(
  {
    ...identity,
    object,
    choices: Type.Array(chunkChoice, told("Empty in the usage event.")),
    usage: Type.Optional(
      nullable(
        usage,
        told(
          "With stream_options.include_usage: the usage in the last event, null in earlier events.",
        ),
      ),
    ),
    ...extras,
  },
  named(
    "CompletionChunk",
    "One event: `data: ` followed by this object as JSON. The stream ends with `data: [DONE]`; a failed stream ends with an Error.",
  ),
);
