import { type Static, Type } from "typebox";
import { finishReasons } from "../../../call/chat.ts";
import { anyObject, named, nullable, tagged, told } from "../schema.ts";

/**
 * What the endpoints answer. Replies may carry more fields than these (what a model adds to its
 * message, say), never fewer and never others under these names.
 */
const count = (description: string) => Type.Integer({ minimum: 0, description });
const seconds = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description}, in seconds since 1970.` });

export const usage = Type.Object(
  {
    prompt_tokens: count("Tokens of the request."),
    completion_tokens: count("Tokens of the answer, all choices and all reasoning."),
    total_tokens: count("The sum of both."),
    prompt_tokens_details: Type.Optional(
      Type.Object(
        {
          cached_tokens: Type.Optional(count("Tokens that the provider had kept.")),
          audio_tokens: Type.Optional(count("Tokens of audio.")),
        },
        told("Where the provider tells them."),
      ),
    ),
    completion_tokens_details: Type.Optional(
      Type.Object(
        {
          reasoning_tokens: Type.Optional(count("Tokens of reasoning.")),
          audio_tokens: Type.Optional(count("Tokens of audio.")),
          accepted_prediction_tokens: Type.Optional(count("Predicted tokens that were used.")),
          rejected_prediction_tokens: Type.Optional(
            count("Predicted tokens that were not used. They are part of the answer's tokens."),
          ),
        },
        told("Where the provider tells them."),
      ),
    ),
  },
  named("Usage", "What was used."),
);

const calledFunction = {
  name: Type.String(told("The function's name.")),
  arguments: Type.String(told("Its arguments: JSON, as the model wrote it.")),
};
const replyToolCall = Type.Object(
  {
    id: Type.String(told("The id that the answer to it names as tool_call_id.")),
    type: Type.Literal("function"),
    function: Type.Object(calledFunction, told("What is called.")),
  },
  named("ReplyToolCall", "A tool call that the model makes."),
);

const finishReason = Type.Enum(
  [...finishReasons],
  told("Why it ended: said all, reached max_tokens, was filtered, calls tools."),
);
const logprobs = nullable(
  anyObject(),
  told("How likely each token was, where that was asked for and the model tells it."),
);
const index = count("The place of the choice.");
const identity = {
  id: Type.String(told("The completion's own id.")),
  created: seconds("When it was made"),
  model: Type.String(told("The model that was asked for.")),
};

/** What a vendor reports beside the answer. */
const extras = {
  system_fingerprint: Type.Optional(
    Type.String(told("The vendor's name for the configuration that answered, if it reports one.")),
  ),
  service_tier: Type.Optional(Type.String(told("The vendor's tier, if it reports one."))),
  citations: Type.Optional(
    Type.Array(Type.Unknown(), told("Sources of the answer, of vendors that search.")),
  ),
  search_results: Type.Optional(
    Type.Array(Type.Unknown(), told("What was found, of vendors that search.")),
  ),
};

const choice = Type.Object(
  {
    index,
    message: Type.Object(
      {
        role: Type.Literal("assistant"),
        content: nullable(Type.String(), told("The answer; null where it only calls tools.")),
        refusal: nullable(Type.String(), told("The words of a refusal.")),
        tool_calls: Type.Optional(Type.Array(replyToolCall, told("What the model calls."))),
        reasoning_content: Type.Optional(
          nullable(Type.String(), told("The model's reasoning, where it shows it.")),
        ),
      },
      named("ReplyMessage", "The model's message. What else the model tells stays in it."),
    ),
    logprobs,
    finish_reason: finishReason,
  },
  named("Choice", "One answer."),
);

export const chatCompletion = Type.Object(
  {
    ...identity,
    object: Type.Literal("chat.completion"),
    choices: Type.Array(choice, { minItems: 1, ...told("The answers: n of them.") }),
    usage,
    ...extras,
  },
  named("ChatCompletionResponse", "A whole reply."),
);

const toolPiece = Type.Object(
  {
    index: count("The place of the call: pieces of one call share it."),
    id: Type.Optional(Type.String(told("In the first piece of a call only."))),
    type: Type.Optional(Type.Literal("function")),
    function: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String(told("In the first piece of a call only."))),
          arguments: Type.Optional(Type.String(told("The next piece of the arguments."))),
        },
        told("What is called."),
      ),
    ),
  },
  named("ToolCallPiece", "A piece of a tool call."),
);

const chunkChoice = Type.Object(
  {
    index,
    delta: Type.Object(
      {
        role: Type.Optional(Type.Literal("assistant")),
        content: Type.Optional(nullable(Type.String(), told("The next piece of text."))),
        tool_calls: Type.Optional(Type.Array(toolPiece, told("The next pieces of tool calls."))),
        reasoning_content: Type.Optional(
          nullable(Type.String(), told("The next piece of reasoning.")),
        ),
      },
      named("Delta", "What is new. The role is in the first only."),
    ),
    logprobs,
    finish_reason: nullable(finishReason, told("Null until the choice's last event.")),
  },
  named("ChunkChoice", "What is new in one answer."),
);

export const chatCompletionChunk = Type.Object(
  {
    ...identity,
    object: Type.Literal("chat.completion.chunk"),
    choices: Type.Array(chunkChoice, told("Empty in the event that tells the usage.")),
    usage: Type.Optional(
      nullable(usage, told("With stream_options.include_usage: null, and told by the last event.")),
    ),
    ...extras,
  },
  named(
    "ChatCompletionChunk",
    "One event: `data: ` and this as JSON. The last is `data: [DONE]`; one that failed is an Error instead.",
  ),
);

export const embeddingResponse = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(
      Type.Object(
        {
          object: Type.Literal("embedding"),
          index: count("The place of the input."),
          embedding: Type.Union(
            [Type.Array(Type.Number()), Type.String()],
            told("The vector: numbers, or base64 where that was asked for."),
          ),
        },
        named("Embedding", "One vector."),
      ),
      { minItems: 1, ...told("One vector an input, in the order of the input.") },
    ),
    model: Type.String(told("The model that was asked for.")),
    usage: Type.Object(
      {
        prompt_tokens: count("Tokens of the input; 0 for images and videos."),
        total_tokens: count("The same."),
        images: Type.Optional(count("Images, where they are what counts.")),
        video_seconds: Type.Optional(count("Seconds of video, rounded up, where they count.")),
      },
      named("EmbeddingUsage", "What was used."),
    ),
  },
  named("EmbeddingResponse", "The vectors."),
);

export const model = Type.Object(
  {
    id: Type.String(told("What requests name as model.")),
    object: Type.Literal("model"),
    created: seconds("When it was added"),
    owned_by: Type.String(told("Whose it is.")),
    deprecated: Type.Optional(
      Type.Boolean(told("True once it is deprecated; then the following three are there, too.")),
    ),
    deprecated_at: Type.Optional(seconds("When it was deprecated")),
    retires_at: Type.Optional(
      nullable(Type.Integer({ minimum: 0 }), told("When it stops working, in seconds since 1970.")),
    ),
    replacement: Type.Optional(nullable(Type.String(), told("The model to use instead."))),
    supported_endpoints: Type.Optional(
      Type.Array(Type.String(), told("The paths that serve it, such as /v1/chat/completions.")),
    ),
    architecture: Type.Optional(
      Type.Object(
        {
          input_modalities: Type.Array(Type.String(), told("What it takes: text, image, video.")),
          output_modalities: Type.Array(
            Type.String(),
            told("What it returns: text, embeddings or audio."),
          ),
        },
        told("What goes in and what comes out."),
      ),
    ),
    context_length: Type.Optional(
      count("How many tokens a request and its answer may have, where that is known."),
    ),
    max_completion_tokens: Type.Optional(
      count("The most tokens of an answer, where the model has such a limit."),
    ),
    pricing: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: Type.String(),
          ...told(
            "USD per unit as decimal text: prompt, completion, input_cache_read, input_cache_write and audio_output per token, image per image, video_second per second.",
          ),
        },
      ),
    ),
  },
  named("Model", "A model that the key may call."),
);

export const modelList = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(model, told("The models that the key may call.")),
  },
  named("ModelList", "Models."),
);

const speechAudioDelta = Type.Object(
  {
    type: Type.Literal("speech.audio.delta"),
    audio: Type.String(told("The next piece of the audio, as base64.")),
  },
  named("SpeechAudioDelta", "A piece of audio. All pieces, decoded and joined, are the file."),
);

const speechAudioDone = Type.Object(
  {
    type: Type.Literal("speech.audio.done"),
    usage: Type.Object(
      {
        input_tokens: count("Tokens of the text."),
        output_tokens: count("Tokens of the audio."),
        total_tokens: count("The sum of both."),
      },
      told("What was used."),
    ),
  },
  named("SpeechAudioDone", "The last event."),
);

export const speechEvent = tagged("type", [speechAudioDelta, speechAudioDone], {
  ...named(
    "SpeechEvent",
    "With stream_format sse: `data: ` and this as JSON. A stream that fails ends with an Error instead.",
  ),
  "x-tag": '"speech.audio.delta" or "speech.audio.done"',
});

export const voiceList = Type.Object(
  {
    voices: Type.Array(
      Type.Object(
        {
          id: Type.String(told("What requests name as voice.")),
          name: Type.String(told("Its name, for people.")),
        },
        named("Voice", "A voice."),
      ),
      told("The voices of every speech model."),
    ),
  },
  named("VoiceList", "Voices."),
);

export const errorReply = Type.Object(
  {
    error: Type.Object(
      {
        message: Type.String(told("What is wrong and what would be right, for people.")),
        type: Type.String(told("The kind of error.")),
        param: nullable(Type.String(), told("The field that is wrong, where it is one.")),
        code: Type.String(told("What went wrong, for programs.")),
      },
      told("What went wrong."),
    ),
  },
  named("Error", "The one shape of every error."),
);

export type ChatCompletion = Static<typeof chatCompletion>;
export type EmbeddingResponse = Static<typeof embeddingResponse>;
export type ModelReply = Static<typeof model>;
export type ModelListReply = Static<typeof modelList>;
export type SpeechAudioDone = Static<typeof speechAudioDone>;
export type VoiceListReply = Static<typeof voiceList>;
export type ErrorReply = Static<typeof errorReply>;
