import type { TSchema } from "typebox";
import type { Json, JsonObject } from "../../../call/chat.ts";
import { chatRequest } from "../chat/request.ts";
import { embeddingRequest } from "../embeddings/request.ts";
import { speechRequest } from "../speech/request.ts";
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
import { OpenApiSchemas } from "./schema.ts";

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
        "Call models with one key at one address: chat, embeddings of text, images and videos, speech. Clients for the chat-completions format work unchanged. Fields that are not described here never fail a request.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    "x-api-version": "v1",
    servers: [
      {
        url: "{base_url}",
        description: "The gateway.",
        variables: {
          base_url: { default: baseUrl, description: "Ends in the major version: /v1." },
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
          description: "A key of the platform: sk-svc-…. It is shown once, when it is made.",
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
  Chat: "Conversations, whole or streamed.",
  Embeddings: "Vectors of text, images and videos.",
  Speech: "Text, spoken. Preview: it may still change.",
  Models: "What the key may call.",
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
        summary: "Answer a conversation",
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
    "/embeddings": {
      post: operation({
        id: "createEmbedding",
        tag: "Embeddings",
        summary: "Make vectors of text, images or a video",
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
        summary: "Speak a text",
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
    ...toModelPaths(schemas),
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
        summary: "List the models that the key may call",
        errors: [401],
        isOfModel: false,
        ok: json(modelList, examples.modelList),
      }),
    },
    "/models/{id}": {
      get: operation({
        id: "retrieveModel",
        tag: "Models",
        summary: "Describe one model",
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
        summary: "List the voices of the speech models; needs no key",
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

function operation({ id, tag, summary, errors, body, ok, isOfModel, ...more }: Operation) {
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...more,
    ...(isOfModel ? { parameters: [{ $ref: "#/components/parameters/IdempotencyKey" }] } : {}),
    ...(body === undefined ? {} : { requestBody: { required: true, content: body } }),
    responses: {
      200: {
        description: "Done.",
        headers: isOfModel ? { ...everyHeader, ...lifecycleHeaders, ...moneyHeaders } : everyHeader,
        content: ok,
      },
      ...Object.fromEntries(
        [...errors, "default"].map((status) => [
          status,
          { $ref: `#/components/responses/${errorNames[status as keyof typeof errorNames]}` },
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
    description: "24 kHz, mono, 16-bit: as a WAV file, or bare samples where pcm was asked for.",
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
  400: "The request is not valid; param names the field.",
  401: "The key is missing or not valid.",
  402: "Balance or budget do not cover the request, or the account is suspended.",
  403: "The key may not call the model, or the model is retired.",
  429: "Too many requests, here or at the provider; the headers say when to try again.",
  default: "Any other failure: an error of the one shape.",
};

function toErrorResponses(schemas: OpenApiSchemas): JsonObject {
  const schema = schemas.convert(errorReply);
  const all = [400, 401, 402, 403, 429, "default"] as const;
  return Object.fromEntries(
    all.map((status) => [
      errorNames[status],
      {
        description: errorWords[status],
        headers: errorHeaders(status),
        content: { "application/json": { schema, example: { error: examples.errors[status] } } },
      },
    ]),
  );
}

const header = (description: string, type = "string") => ({ description, schema: { type } });

const headers = {
  RequestId: header("Names this request in the operator's log."),
  RetryAfter: header("After how many seconds to try again.", "integer"),
  RetryAfterMs: header("The same in milliseconds.", "integer"),
  ShouldRetry: header("`false` where the same request cannot succeed later."),
  Deprecation: header("Of a deprecated model: since when, as @seconds (RFC 9745)."),
  Sunset: header("When the model retires (RFC 8594)."),
  Link: header('The model to use instead, as rel="successor-version".'),
  LimitRequests: header("Where requests are limited: how many a minute.", "integer"),
  RemainingRequests: header("How many are left now.", "integer"),
  ResetRequests: header("After how long all are there again, such as 12ms or 1m30s."),
  LimitTokens: header("Where tokens are limited: how many a minute.", "integer"),
  RemainingTokens: header("How many are left now.", "integer"),
  ResetTokens: header("After how long all are there again, such as 12ms or 1m30s."),
  MaxTokens: header(
    "The length to which the answer was limited, because the balance does not cover a longer one and the request named none.",
    "integer",
  ),
  Replayed: header("`true` where this is the kept reply of an earlier request."),
  OriginalRequestId: header("The earlier request with the same Idempotency-Key."),
};

const parameters = {
  ModelId: {
    name: "id",
    in: "path",
    required: true,
    description: "The id of a model; a slash in it may be percent-encoded.",
    schema: { type: "string", minLength: 1 },
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "The same key and body within 24 hours get the same reply and no second charge. 409 while the first request runs, for another body, and where the first reply was streamed or larger than 1 MB.",
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
