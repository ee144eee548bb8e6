import type { Static } from "typebox";
import { Type } from "../../../base/json/type.ts";
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
    prompt_tokens: count("Input tokens."),
    completion_tokens: count("Output tokens of all choices, including reasoning."),
    total_tokens: count("Input plus output tokens."),
    prompt_tokens_details: Type.Optional(
      Type.Object(
        {
          cached_tokens: Type.Optional(count("Input tokens read from the provider's cache.")),
          audio_tokens: Type.Optional(count("Audio tokens.")),
        },
        told("Details, if the provider reports them."),
      ),
    ),
    completion_tokens_details: Type.Optional(
      Type.Object(
        {
          reasoning_tokens: Type.Optional(count("Reasoning tokens.")),
          audio_tokens: Type.Optional(count("Audio tokens.")),
          accepted_prediction_tokens: Type.Optional(count("Predicted tokens that were used.")),
          rejected_prediction_tokens: Type.Optional(
            count("Predicted tokens that were not used. They count as output tokens."),
          ),
        },
        told("Details, if the provider reports them."),
      ),
    ),
  },
  named("Usage", "Token usage."),
);

const calledFunction = {
  name: Type.String(told("Name of the function.")),
  arguments: Type.String(told("Arguments as JSON text, as written by the model.")),
};
const replyToolCall = Type.Object(
  {
    id: Type.String(told("Id of the call; the tool message repeats it as tool_call_id.")),
    type: Type.Literal("function"),
    function: Type.Object(calledFunction, told("The function to call.")),
  },
  named("ReplyToolCall", "A tool call made by the model."),
);

const finishReason = Type.Enum(
  [...finishReasons],
  told(
    "Why generation ended: the reply is complete (stop), reached max_tokens (length), was filtered (content_filter), or calls tools (tool_calls).",
  ),
);
export const logprobs = nullable(
  anyObject(),
  told("Log probabilities, if requested and supported by the model."),
);
export const index = count("Index of the choice.");
export const identity = {
  id: Type.String(told("Id of the completion.")),
  created: seconds("Creation time"),
  model: Type.String(told("The requested model.")),
};

/** What a vendor reports beside the answer. */
export const extras = {
  system_fingerprint: Type.Optional(
    Type.String(told("The vendor configuration that produced the reply, if reported.")),
  ),
  service_tier: Type.Optional(Type.String(told("The vendor's service tier, if reported."))),
  citations: Type.Optional(
    Type.Array(Type.Unknown(), told("Sources of the reply, from vendors with web search.")),
  ),
  search_results: Type.Optional(
    Type.Array(Type.Unknown(), told("Search results, from vendors with web search.")),
  ),
};

const choice = Type.Object(
  {
    index,
    message: Type.Object(
      {
        role: Type.Literal("assistant"),
        content: nullable(
          Type.String(),
          told("The reply text; null if the reply contains only tool calls."),
        ),
        refusal: nullable(Type.String(), told("The refusal text.")),
        tool_calls: Type.Optional(Type.Array(replyToolCall, told("Tool calls."))),
        reasoning_content: Type.Optional(
          nullable(Type.String(), told("Reasoning text, if the model returns it.")),
        ),
      },
      named("ReplyMessage", "The model's message. Other fields from the model are passed through."),
    ),
    logprobs,
    finish_reason: finishReason,
  },
  named("Choice", "One choice."),
);

export const chatCompletion = Type.Object(
  {
    ...identity,
    object: Type.Literal("chat.completion"),
    choices: Type.Array(choice, { minItems: 1, ...told("The choices. There are n of them.") }),
    usage,
    ...extras,
  },
  named("ChatCompletionResponse", "A chat completion."),
);

const toolPiece = Type.Object(
  {
    index: count("Index of the call. Pieces of the same call share it."),
    id: Type.Optional(Type.String(told("Only in the first piece of a call."))),
    type: Type.Optional(Type.Literal("function")),
    function: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String(told("Only in the first piece of a call."))),
          arguments: Type.Optional(Type.String(told("The next piece of the arguments."))),
        },
        told("The function to call."),
      ),
    ),
  },
  named("ToolCallPiece", "Part of a streamed tool call."),
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
      named("Delta", "New content. Only the first event has the role."),
    ),
    logprobs,
    finish_reason: nullable(finishReason, told("Null until the last event of the choice.")),
  },
  named("ChunkChoice", "New content of one choice."),
);

export const chatCompletionChunk = Type.Object(
  {
    ...identity,
    object: Type.Literal("chat.completion.chunk"),
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
    "ChatCompletionChunk",
    "One event: `data: ` followed by this object as JSON. The stream ends with `data: [DONE]`; a failed stream ends with an Error.",
  ),
);

export const embeddingResponse = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(
      Type.Object(
        {
          object: Type.Literal("embedding"),
          index: count("Index of the input."),
          embedding: Type.Union(
            [Type.Array(Type.Number()), Type.String()],
            told("The vector: numbers, or base64 if requested."),
          ),
        },
        named("Embedding", "One vector."),
      ),
      { minItems: 1, ...told("One vector per input, in the order of the input.") },
    ),
    model: Type.String(told("The requested model.")),
    usage: Type.Object(
      {
        prompt_tokens: count("Input tokens; 0 for images and videos."),
        total_tokens: count("Same as prompt_tokens."),
        images: Type.Optional(count("Number of images, for image input.")),
        video_seconds: Type.Optional(count("Seconds of video, rounded up, for video input.")),
      },
      named("EmbeddingUsage", "Usage."),
    ),
  },
  named("EmbeddingResponse", "Embeddings."),
);

export const model = Type.Object(
  {
    id: Type.String(told("Model id.")),
    object: Type.Literal("model"),
    created: seconds("When it was added"),
    owned_by: Type.String(told("Owner of the model.")),
    deprecated: Type.Optional(
      Type.Boolean(
        told("True if the model is deprecated. The next three fields are then present."),
      ),
    ),
    deprecated_at: Type.Optional(seconds("When it was deprecated")),
    retires_at: Type.Optional(
      nullable(Type.Integer({ minimum: 0 }), told("Retirement date, in seconds since 1970.")),
    ),
    replacement: Type.Optional(nullable(Type.String(), told("Replacement model."))),
    supported_endpoints: Type.Optional(
      Type.Array(
        Type.String(),
        told("Endpoint paths that serve it, such as /v1/chat/completions."),
      ),
    ),
    architecture: Type.Optional(
      Type.Object(
        {
          input_modalities: Type.Array(
            Type.String(),
            told("Input types: text, image, video, audio."),
          ),
          output_modalities: Type.Array(
            Type.String(),
            told("Output types: text, embeddings or audio."),
          ),
        },
        told("Input and output types."),
      ),
    ),
    context_length: Type.Optional(count("Context length in tokens, if known.")),
    max_completion_tokens: Type.Optional(count("Maximum output tokens, if the model has a limit.")),
    pricing: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: Type.String(),
          ...told(
            "USD per unit as a decimal string: prompt, completion, input_cache_read, input_cache_write and audio_output per token, image per image, video_second and audio_second per second.",
          ),
        },
      ),
    ),
  },
  named("Model", "A model that the key can use."),
);

export const modelList = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(model, told("The models that the key can use.")),
  },
  named("ModelList", "A list of models."),
);

const speechAudioDelta = Type.Object(
  {
    type: Type.Literal("speech.audio.delta"),
    audio: Type.String(told("The next piece of audio, base64-encoded.")),
  },
  named("SpeechAudioDelta", "A piece of audio. Decode and concatenate all pieces to get the file."),
);

const speechAudioDone = Type.Object(
  {
    type: Type.Literal("speech.audio.done"),
    usage: Type.Object(
      {
        input_tokens: count("Text tokens."),
        output_tokens: count("Audio tokens."),
        total_tokens: count("Input plus output tokens."),
      },
      told("Usage."),
    ),
  },
  named("SpeechAudioDone", "The last event."),
);

export const speechEvent = tagged("type", [speechAudioDelta, speechAudioDone], {
  ...named(
    "SpeechEvent",
    "With stream_format sse: `data: ` followed by this object as JSON. A failed stream ends with an Error.",
  ),
  "x-tag": '"speech.audio.delta" or "speech.audio.done"',
});

export const voiceList = Type.Object(
  {
    voices: Type.Array(
      Type.Object(
        {
          id: Type.String(told("Voice id.")),
          name: Type.String(told("Display name.")),
        },
        named("Voice", "A voice."),
      ),
      told("Voices of all speech models."),
    ),
  },
  named("VoiceList", "A list of voices."),
);

export const errorReply = Type.Object(
  {
    error: Type.Object(
      {
        message: Type.String(told("What is wrong and how to fix it, for people.")),
        type: Type.String(told("Error type.")),
        param: nullable(Type.String(), told("The invalid field, if the error is about one.")),
        code: Type.String(told("Error code, for programs.")),
      },
      told("The error."),
    ),
  },
  named("Error", "The format of all errors."),
);

export type ChatCompletion = Static<typeof chatCompletion>;
export type EmbeddingResponse = Static<typeof embeddingResponse>;
export type ModelReply = Static<typeof model>;
export type ModelListReply = Static<typeof modelList>;
export type SpeechAudioDone = Static<typeof speechAudioDone>;
export type VoiceListReply = Static<typeof voiceList>;
export type ErrorReply = Static<typeof errorReply>;
