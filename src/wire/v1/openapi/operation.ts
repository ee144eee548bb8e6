import type { TSchema } from "typebox";
import type { Json, JsonObject } from "../../../call/chat.ts";
import { messagesErrorReply } from "../messages/replies.ts";
import { examples } from "./examples.ts";
import { errorReply } from "./replies.ts";
import type { OpenApiSchemas } from "./schema.ts";

export const tags = {
  Chat: "Chat completions, streamed or not.",
  Completions: "Legacy completions of text, streamed or not. Preview: subject to change.",
  Messages: "Chat models in the Messages format. Preview: subject to change.",
  Responses: "Responses: the newer format of chats. Preview: subject to change.",
  Embeddings: "Embeddings of text, images and videos.",
  Speech: "Text to speech. Preview: subject to change.",
  Transcription: "Speech to text. Preview: subject to change.",
  Models: "The models that the key can use.",
};

/** What the paths of the document are made with. */
export interface PathKit {
  readonly schemas: OpenApiSchemas;
  readonly json: (schema: TSchema, example: Json) => JsonObject;
  readonly asked: (schema: TSchema, example: Json) => JsonObject;
}

export const toPathKit = (schemas: OpenApiSchemas): PathKit => ({
  schemas,
  json: (schema, example) => ({
    "application/json": { schema: schemas.convert(schema), example },
  }),
  asked: (schema, example) => ({
    "application/json": { schema: schemas.convertRequest(schema), example },
  }),
});

export function operation(described: Operation) {
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

export function toErrorResponses(schemas: OpenApiSchemas): JsonObject {
  const schema = schemas.convert(errorReply);
  const all = [400, 401, 402, 403, 429, "default"] as const;
  const ofMessages = toPathKit(schemas).json(messagesErrorReply, examples.messagesError);
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

export const headers = {
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

export const parameters = {
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
