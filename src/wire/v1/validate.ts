import { Ajv, type ValidateFunction } from "ajv";
import type { TSchema } from "typebox";
import { ApiError } from "../../base/errors.ts";
import { schemaProblem } from "../../base/schema-problem.ts";
import type { JsonObject } from "../../call/chat.ts";
import { type ChatRequest, chatRequest } from "./chat/request.ts";
import { type EmbeddingRequest, embeddingFields } from "./embeddings/request.ts";
import { ownKeywords, withDefinitions } from "./schema.ts";
import { type SpeechRequest, speechRequest } from "./speech/request.ts";
import {
  fromForm,
  type TranscriptionRequest,
  transcriptionRequest,
} from "./transcription/request.ts";
import { checkText } from "./well-formed.ts";

const ajv = new Ajv({
  discriminator: true,
  verbose: true,
  strict: false,
  // 1e999 is JSON, reads as Infinity and would go upstream as null: no cap at all.
  strictNumbers: true,
  // A function per named schema: the engine leaves one that is too long in its slow tier.
  inlineRefs: false,
}).addVocabulary([...ownKeywords]);

export const readChatRequest = reader<ChatRequest>(chatRequest);
export const readEmbeddingRequest = reader<EmbeddingRequest>(embeddingFields);
const readTranscriptionFields = reader<TranscriptionRequest>(transcriptionRequest);
const readSpeechFields = reader<SpeechRequest>(speechRequest);

export function readSpeechRequest(body: JsonObject): SpeechRequest {
  const request = readSpeechFields(body);
  checkText("input", request.input);
  if (request.instructions !== undefined) checkText("instructions", request.instructions);
  return request;
}

/** The fields of a form, which are all text. */
export function readTranscriptionRequest(fields: JsonObject): TranscriptionRequest {
  return readTranscriptionFields(fromForm(fields));
}

/** Checks a body and returns it under its type, or throws an error that names the field. */
export function reader<T>(schema: TSchema): (body: JsonObject) => T {
  // Compiled at the start: on first use it would stall every caller for a quarter of a second.
  const isValid: ValidateFunction = ajv.compile(withDefinitions(schema));
  return (body) => {
    if (isValid(body)) return body as T;
    const found = schemaProblem(isValid.errors ?? []);
    if (found === undefined)
      throw new ApiError({ code: "invalid_request", message: "The request is not valid." });
    throw fieldError(found.field, found.problem);
  };
}

export function fieldError(param: string, problem: string): ApiError {
  return new ApiError({ code: "invalid_request", param, message: `${param} ${problem}.` });
}
