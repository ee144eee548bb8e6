import type { TSchema } from "typebox";
import type { Json, JsonObject } from "../../../call/chat.ts";
import { chatRequest } from "../chat/request.ts";
import { completionRequest } from "../completions/request.ts";
import { embeddingRequest } from "../embeddings/request.ts";
import { messageEvent, messageReply, messagesErrorReply, tokenCount } from "../messages/replies.ts";
import { countRequest, messagesRequest } from "../messages/request.ts";
import { speechRequest } from "../speech/request.ts";
import { completion, completionChunk } from "./completion-replies.ts";
import { examples } from "./examples.ts";
import {
  chatCompletion,
  chatCompletionChunk,
  embeddingResponse,
  errorReply,
  model,
  modelList,
  speechEvent,
  voiceList,
} from "./replies.ts";
import { toResponsePaths } from "./response-paths.ts";
import { OpenApiSchemas } from "./schema.ts";
import {
  transcriptEvent,
  transcriptionForm,
  transcriptionReply,
  verboseTranscription,
} from "./transcription-replies.ts";

/** Where the gateway listens unless it is told otherwise. */
const usualBaseUrl = "http://127.0.0.1:8080/v1";

/**
 * The machine-readable description of version 1, made from the schemas that check the requests.
 * `docs/openapi.json` is this, written out.
 */
export function toOpenApi(baseUrl: string = usualBaseUrl): JsonObject {
  const schemas = new OpenApiSchemas();
  const paths = toPaths(schemas);
  return {
    openapi: "3.0.3",
    info: {
      title: "svc gateway",
      version: "1.0.0",
      description:
        "One key and one base URL for all models: chat, embeddings of text, images and videos, speech, and transcription. Clients for the chat completions format work unchanged. Unknown fields never cause an error.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    "x-api-version": "v1",
    servers: [
      {
        url: "{base_url}",
        description: "The gateway.",
        variables: {
          base_url: { default: baseUrl, description: "Base URL; ends in the major version /v1." },
        },
      },
    ],
    security: [{ bearer: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "An API key: sk-svc-…. It is shown only once, when it is created.",
        },
      },
      parameters,
      headers,
      responses: toErrorResponses(schemas),
      schemas: schemas.components,
    },
  };
}

const tags = {
  Chat: "Chat completions, streamed or not.",
  Completions: "Legacy completions of text, streamed or not. Preview: subject to change.",
  Messages: "Chat models in the Messages format. Preview: subject to change.",
  Responses: "Responses: the newer format of chats. Preview: subject to change.",
  Embeddings: "Embeddings of text, images and videos.",
  Speech: "Text to speech. Preview: subject to change.",
  Transcription: "Speech to text. Preview: subject to change.",
  Models: "The models that the key can use.",
};

function toPaths(schemas: OpenApiSchemas): JsonObject {
  const json = (schema: TSchema, example: Json) => jsonReply(schemas, schema, example);
  const asked = (schema: TSchema, example: Json) => ({
    "application/json": { schema: schemas.convertRequest(schema), example },
  });
  return {
    "/chat/completions": {
      post: operation({
        id: "createChatCompletion",
        tag: "Chat",
        summary: "Create a chat completion",
        errors: [401, 402, 403, 429],
        isOfModel: true,
        body: asked(chatRequest, examples.chatRequest),
        ok: {
          ...json(chatCompletion, examples.chatReply),
          "text/event-stream": {
            schema: schemas.convert(chatCompletionChunk),
            example: examples.chatChunk,
          },
        },
      }),
    },
    "/completions": {
      post: operation({
        id: "createCompletion",
        tag: "Completions",
        summary: "Create a legacy completion",
        errors: [400, 401, 402, 403, 429],
        isOfModel: true,
        "x-preview": true,
        body: asked(completionRequest, examples.completionRequest),
        ok: {
          ...json(completion, examples.completionReply),
          "text/event-stream": {
            schema: schemas.convert(completionChunk),
            example: examples.completionChunk,
          },
        },
      }),
    },
    ...toResponsePaths({ schemas, json, asked, operation }),
    "/embeddings": {
      post: operation({
        id: "createEmbedding",
        tag: "Embeddings",
        summary: "Create embeddings of text, images or a video",
        errors: [400, 401, 402, 429],
        isOfModel: true,
        body: asked(embeddingRequest, examples.embeddingRequest),
        ok: json(embeddingResponse, examples.embeddingReply),
      }),
    },
    "/audio/speech": {
      post: operation({
        id: "createSpeech",
        tag: "Speech",
        summary: "Create speech from text",
        errors: [400, 401, 402, 429],
        isOfModel: true,
        "x-preview": true,
        body: asked(speechRequest, examples.speechRequest),
        ok: {
          "audio/wav": audio,
          "audio/pcm": audio,
          "text/event-stream": {
            schema: schemas.convert(speechEvent),
            example: examples.speechEvent,
          },
        },
      }),
    },
    ...toTranscriptionPath(schemas),
    ...toMessagesPaths(schemas),
    ...toModelPaths(schemas),
  };
}

function toTranscriptionPath(schemas: OpenApiSchemas): JsonObject {
  const { transcription, verboseTranscription: verbose } = examples;
  return {
    "/audio/transcriptions": {
      post: operation({
        id: "createTranscription",
        tag: "Transcription",
        summary: "Transcribe audio to text",
        errors: [400, 401, 402, 429],
        isOfModel: true,
        "x-preview": true,
        body: {
          "multipart/form-data": {
            schema: schemas.convertRequest(transcriptionForm),
            example: examples.transcriptionRequest,
          },
        },
        ok: {
          "application/json": {
            schema: {
              anyOf: [schemas.convert(transcriptionReply), schemas.convert(verboseTranscription)],
            },
            examples: { json: { value: transcription }, verbose_json: { value: verbose } },
          },
          "text/plain": {
            schema: { type: "string", description: "With response_format text, srt or vtt." },
            example: "Hello there.\n",
          },
          "text/event-stream": {
            schema: schemas.convert(transcriptEvent),
            example: examples.transcriptEvent,
          },
        },
      }),
    },
  };
}

/** The same models as chat completions has, in another format. */
function toMessagesPaths(schemas: OpenApiSchemas): JsonObject {
  const json = (schema: TSchema, example: Json) => jsonReply(schemas, schema, example);
  const shared = {
    tag: "Messages",
    errors: [400, 401, 402, 403, 429],
    isMessages: true,
    "x-preview": true,
  } as const;
  const asked = (schema: TSchema, example: Json) => ({
    "application/json": { schema: schemas.convertRequest(schema), example },
  });
  return {
    "/messages": {
      post: operation({
        ...shared,
        id: "createMessage",
        summary: "Create a message",
        isOfModel: true,
        body: asked(messagesRequest, examples.messagesRequest),
        ok: {
          ...json(messageReply, examples.messagesReply),
          "text/event-stream": {
            schema: schemas.convert(messageEvent),
            example: examples.messagesEvent,
          },
        },
      }),
    },
    "/messages/count_tokens": {
      post: operation({
        ...shared,
        id: "countMessageTokens",
        summary: "Count the input tokens of a message (free)",
        isOfModel: false,
        body: asked(countRequest, examples.countRequest),
        ok: json(tokenCount, examples.tokenCount),
      }),
    },
  };
}

/** What can be called, and by which voices. */
function toModelPaths(schemas: OpenApiSchemas): JsonObject {
  const json = (schema: TSchema, example: Json) => jsonReply(schemas, schema, example);
  return {
    "/models": {
      get: operation({
        id: "listModels",
        tag: "Models",
        summary: "List the models that the key can use",
        errors: [401],
        isOfModel: false,
        ok: json(modelList, examples.modelList),
      }),
    },
    "/models/{id}": {
      get: operation({
        id: "retrieveModel",
        tag: "Models",
        summary: "Get a model",
        errors: [401],
        isOfModel: false,
        parameters: [{ $ref: "#/components/parameters/ModelId" }],
        ok: json(model, examples.model),
      }),
    },
    "/audio/voices": {
      get: operation({
        id: "listVoices",
        tag: "Speech",
        summary: "List the voices of the speech models (no key required)",
        errors: [405],
        isOfModel: false,
        security: [],
        ok: json(voiceList, examples.voiceList),
      }),
    },
  };
}

const jsonReply = (schemas: OpenApiSchemas, schema: TSchema, example: Json) => ({
  "application/json": { schema: schemas.convert(schema), example },
});

function operation(described: Operation) {
  const { id, tag, summary, errors, body, ok, isOfModel, isMessages, ...more } = described;
  const nameOf = (status: keyof typeof errorNames) =>
    isMessages === true ? "MessagesFailure" : errorNames[status];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...more,
    ...(isOfModel ? { parameters: [{ $ref: "#/components/parameters/IdempotencyKey" }] } : {}),
    ...(body === undefined ? {} : { requestBody: { required: true, content: body } }),
    responses: {
      200: {
        description: "Success.",
        headers: isOfModel ? { ...everyHeader, ...lifecycleHeaders, ...moneyHeaders } : everyHeader,
        content: ok,
      },
      ...Object.fromEntries(
        [...errors, "default"].map((status) => [
          status,
          { $ref: `#/components/responses/${nameOf(status as keyof typeof errorNames)}` },
        ]),
      ),
    },
  };
}

interface Operation {
  readonly id: string;
  readonly tag: keyof typeof tags;
  readonly summary: string;
  /** The contract's statuses; every other is `default`. */
  readonly errors: readonly number[];
  /** Calls one model, whose lifecycle its replies tell. */
  readonly isOfModel: boolean;
  /** Its errors have the shape of the Messages format. */
  readonly isMessages?: true;
  readonly "x-preview"?: true;
  readonly parameters?: readonly JsonObject[];
  /** Empty where no key is needed. */
  readonly security?: readonly JsonObject[];
  readonly body?: JsonObject;
  readonly ok: JsonObject;
}

const audio = {
  schema: {
    type: "string",
    format: "binary",
    description: "24 kHz, mono, 16-bit: a WAV file, or raw samples if response_format is pcm.",
  },
};

const errorNames = {
  400: "InvalidRequest",
  401: "InvalidKey",
  402: "NotCovered",
  403: "NotAllowed",
  405: "Failure",
  429: "TooMany",
  default: "Failure",
} as const;

type ErrorStatus = Exclude<keyof typeof errorNames, 405>;

const errorWords: Readonly<Record<ErrorStatus, string>> = {
  400: "Invalid request; param names the field.",
  401: "Missing or invalid API key.",
  402: "The balance or a budget does not cover the request, or the account is suspended.",
  403: "The key cannot use the model, or the model is retired.",
  429: "A rate limit of the gateway or the provider was reached. The headers show when to retry.",
  default: "Any other error, in the same format.",
};

function toErrorResponses(schemas: OpenApiSchemas): JsonObject {
  const schema = schemas.convert(errorReply);
  const all = [400, 401, 402, 403, 429, "default"] as const;
  const ofMessages = jsonReply(schemas, messagesErrorReply, examples.messagesError);
  const described = all.map((status) => [
    errorNames[status],
    {
      description: errorWords[status],
      headers: errorHeaders(status),
      content: { "application/json": { schema, example: { error: examples.errors[status] } } },
    },
  ]);
  return {
    ...Object.fromEntries(described),
    MessagesFailure: {
      description: "An error in the Messages format.",
      headers: errorHeaders("default"),
      content: ofMessages,
    },
  };
}

const header = (description: string, type = "string") => ({ description, schema: { type } });

const headers = {
  RequestId: header("Id of this request, as in the operator's log."),
  RetryAfter: header("Seconds to wait before retrying.", "integer"),
  RetryAfterMs: header("Milliseconds to wait before retrying.", "integer"),
  ShouldRetry: header("`false` if a retry of the same request cannot succeed."),
  Deprecation: header("When the model was deprecated, as @seconds (RFC 9745)."),
  Sunset: header("When the model retires (RFC 8594)."),
  Link: header('The replacement model, as rel="successor-version".'),
  LimitRequests: header("Limit on requests per minute, if there is one.", "integer"),
  RemainingRequests: header("Remaining requests.", "integer"),
  ResetRequests: header("Time until the full request limit is available, such as 12ms or 1m30s."),
  LimitTokens: header("Limit on tokens per minute, if there is one.", "integer"),
  RemainingTokens: header("Remaining tokens.", "integer"),
  ResetTokens: header("Time until the full token limit is available, such as 12ms or 1m30s."),
  MaxTokens: header(
    "Output cap in tokens, if the request set none and the gateway lowered it to what the balance covers.",
    "integer",
  ),
  Replayed: header("`true` if this is the stored reply of an earlier request."),
  OriginalRequestId: header("Id of the earlier request with the same Idempotency-Key."),
};

const parameters = {
  ModelId: {
    name: "id",
    in: "path",
    required: true,
    description: "Model id. A slash in it may be percent-encoded.",
    schema: { type: "string", minLength: 1 },
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "The same key and body within 24 hours get the same reply and no second charge. Returns 409 while the first request runs, for a different body, and if the first reply was streamed or larger than 1 MB.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]{1,255}$" },
  },
};

const ref = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });
const requestIdHeader = { "x-request-id": ref("RequestId") };
/** On every reply to a key that is valid. */
const everyHeader = {
  ...requestIdHeader,
  "x-ratelimit-limit-requests": ref("LimitRequests"),
  "x-ratelimit-remaining-requests": ref("RemainingRequests"),
  "x-ratelimit-reset-requests": ref("ResetRequests"),
  "x-ratelimit-limit-tokens": ref("LimitTokens"),
  "x-ratelimit-remaining-tokens": ref("RemainingTokens"),
  "x-ratelimit-reset-tokens": ref("ResetTokens"),
};
const moneyHeaders = {
  "x-svc-max-tokens": ref("MaxTokens"),
  "idempotent-replayed": ref("Replayed"),
  "x-original-request-id": ref("OriginalRequestId"),
};
const retryHeaders = {
  "retry-after": ref("RetryAfter"),
  "retry-after-ms": ref("RetryAfterMs"),
};
/** What cannot succeed later says so; what can, says when. */
const errorHeaders = (status: ErrorStatus) => ({
  ...(status === 401 ? requestIdHeader : everyHeader),
  "x-should-retry": ref("ShouldRetry"),
  ...(status === 429 || status === "default" ? retryHeaders : {}),
  ...(status === "default" ? { "x-original-request-id": ref("OriginalRequestId") } : {}),
});
const lifecycleHeaders = {
  deprecation: ref("Deprecation"),
  sunset: ref("Sunset"),
  link: ref("Link"),
};
