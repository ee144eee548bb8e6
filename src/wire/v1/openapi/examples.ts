import { voices } from "../../../call/speak.ts";

/** One example of every body, as the document shows them. A test holds each to its schema. */
const created = 1_790_000_000;

const model = {
  id: "svc-3-flash",
  object: "model",
  created,
  owned_by: "svc",
  supported_endpoints: ["/v1/chat/completions", "/v1/responses", "/v1/messages"],
  architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
  context_length: 1_048_576,
  max_completion_tokens: 65_536,
  pricing: { prompt: "0.0000003", completion: "0.0000025" },
} as const;

const prompt = {
  model: "svc-3-flash",
  system: "Answer in one sentence.",
  messages: [{ role: "user", content: "Why is the sky blue?" }],
} as const;

export const examples = {
  messagesRequest: { ...prompt, max_tokens: 100 },
  countRequest: prompt,
  messagesReply: {
    id: "msg_0199f0d52c5d7b5c8a3e6f1d2b4c5a69",
    type: "message",
    role: "assistant",
    model: "svc-3-flash",
    content: [
      {
        type: "text",
        text: "Air scatters blue light more than red, so blue reaches us from everywhere.",
      },
    ],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: 19,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 16,
    },
  },
  messagesEvent: {
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: "Air" },
  },
  tokenCount: { input_tokens: 19 },
  messagesError: {
    type: "error",
    error: {
      type: "invalid_request_error",
      message: "max_tokens is required and must be an integer of at least 1.",
      code: "invalid_request",
      param: "max_tokens",
    },
    request_id: "req_0199f0d52c5d7b5c8a3e6f1d2b4c5a69",
  },
  chatRequest: {
    model: "svc-3-flash",
    messages: [
      { role: "system", content: "Answer in one sentence." },
      { role: "user", content: "Why is the sky blue?" },
    ],
    max_tokens: 100,
    temperature: 0.7,
  },
  chatReply: {
    id: "chatcmpl-0199f0d52c5d7b5c8a3e6f1d2b4c5a69",
    object: "chat.completion",
    created,
    model: "svc-3-flash",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Air scatters blue light more than red, so blue reaches us from everywhere.",
          refusal: null,
        },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: { prompt_tokens: 19, completion_tokens: 16, total_tokens: 35 },
  },
  chatChunk: {
    id: "chatcmpl-0199f0d52c5d7b5c8a3e6f1d2b4c5a69",
    object: "chat.completion.chunk",
    created,
    model: "svc-3-flash",
    choices: [
      {
        index: 0,
        delta: { role: "assistant", content: "Air" },
        logprobs: null,
        finish_reason: null,
      },
    ],
  },
  completionRequest: {
    model: "svc-3-flash",
    prompt: "The three primary colors are",
    max_tokens: 20,
    temperature: 0,
  },
  completionReply: {
    id: "cmpl-0199f0d52c5d7b5c8a3e6f1d2b4c5a69",
    object: "text_completion",
    created,
    model: "svc-3-flash",
    choices: [{ index: 0, text: " red, yellow and blue.", logprobs: null, finish_reason: "stop" }],
    usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 },
  },
  completionChunk: {
    id: "cmpl-0199f0d52c5d7b5c8a3e6f1d2b4c5a69",
    object: "text_completion",
    created,
    model: "svc-3-flash",
    choices: [{ index: 0, text: " red", logprobs: null, finish_reason: null }],
  },
  embeddingRequest: {
    model: "svc-embedding-2",
    input: ["a cat on a mat", "a dog in the fog"],
  },
  embeddingReply: {
    object: "list",
    // Shortened: a real one has 3072 numbers.
    data: [
      { object: "embedding", index: 0, embedding: [0.0123, -0.0456, 0.0789] },
      { object: "embedding", index: 1, embedding: [-0.0321, 0.0654, -0.0987] },
    ],
    model: "svc-embedding-2",
    usage: { prompt_tokens: 12, total_tokens: 12 },
  },
  speechRequest: {
    model: "svc-2.5-flash-tts",
    input: "Good morning. It is seven o'clock.",
    voice: voices[0],
    response_format: "wav",
  },
  speechEvent: {
    type: "speech.audio.done",
    usage: { input_tokens: 9, output_tokens: 74, total_tokens: 83 },
  },
  transcriptionRequest: { model: "svc-transcribe-1", file: "speech.wav" },
  transcription: {
    text: "Good morning. It is seven o'clock.",
    usage: { type: "duration", seconds: 3 },
  },
  verboseTranscription: {
    task: "transcribe",
    language: "english",
    duration: 2.96,
    text: "Good morning.",
    segments: [
      {
        id: 0,
        seek: 0,
        start: 0,
        end: 2.96,
        text: "Good morning.",
        tokens: [],
        temperature: 0,
        avg_logprob: 0,
        compression_ratio: 0,
        no_speech_prob: 0,
      },
    ],
    usage: { type: "duration", seconds: 3 },
  },
  transcriptEvent: {
    type: "transcript.text.done",
    text: "Good morning.",
    usage: { type: "duration", seconds: 3 },
  },
  model,
  voiceList: { voices: voices.map((name) => ({ id: name, name })) },
  modelList: {
    object: "list",
    data: [
      model,
      {
        id: "svc-2-flash",
        object: "model",
        created,
        owned_by: "svc",
        deprecated: true,
        deprecated_at: created + 86_400,
        retires_at: created + 90 * 86_400,
        replacement: "svc-3-flash",
      },
    ],
  },
  errors: {
    400: {
      message: "dimensions must be 768, 1536 or 3072.",
      type: "invalid_request_error",
      param: "dimensions",
      code: "invalid_request",
    },
    401: {
      message:
        "Incorrect API key provided. Send a valid key as `Authorization: Bearer sk-svc-…`. You can create one in the console or ask the operator for one.",
      type: "invalid_request_error",
      param: null,
      code: "invalid_api_key",
    },
    402: {
      message:
        "This request can cost up to 0.0205 USD, but the account has 0.0131 USD available and 0.00 USD held for requests in flight. Lower max_tokens, shorten the prompt, or ask the operator to add credit.",
      type: "insufficient_quota",
      param: null,
      code: "insufficient_quota",
    },
    403: {
      message:
        'Model "svc-4" does not exist, or this key cannot use it. GET /v1/models lists the models this key can use.',
      type: "permission_error",
      param: "model",
      code: "model_not_allowed",
    },
    429: {
      message: "This key has reached its limit of 60 requests per minute. Try again in 0.84 s.",
      type: "rate_limit_error",
      param: null,
      code: "rate_limit_exceeded",
    },
    default: {
      message: "The model failed to respond. Try again.",
      type: "upstream_error",
      param: null,
      code: "upstream_error",
    },
  },
} as const;
