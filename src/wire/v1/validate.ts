import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { TSchema } from "typebox";
import { ApiError } from "../../base/errors.ts";
import type { JsonObject } from "../../call/chat.ts";
import { type ChatRequest, chatRequest } from "./chat-request.ts";
import { type EmbeddingRequest, embeddingFields } from "./embedding-request.ts";
import { ownKeywords } from "./schema.ts";
import { type SpeechRequest, speechRequest } from "./speech-request.ts";

const ajv = new Ajv({
  discriminator: true,
  verbose: true,
  strict: false,
  // 1e999 is JSON, reads as Infinity and would go upstream as null: no cap at all.
  strictNumbers: true,
}).addVocabulary([...ownKeywords]);

export const readChatRequest = reader<ChatRequest>(chatRequest);
export const readEmbeddingRequest = reader<EmbeddingRequest>(embeddingFields);
export const readSpeechRequest = reader<SpeechRequest>(speechRequest);

/** Checks a body and returns it under its type, or throws an error that names the field. */
export function reader<T>(schema: TSchema): (body: JsonObject) => T {
  const isValid: ValidateFunction = ajv.compile(schema);
  return (body) => {
    if (isValid(body)) return body as T;
    throw toFieldError(isValid.errors ?? []);
  };
}

export function fieldError(param: string, problem: string): ApiError {
  return new ApiError({ code: "invalid_request", param, message: `${param} ${problem}.` });
}

/**
 * Of several errors the deepest tells most: it lies in the form that the caller meant. Between
 * equals the last one wins, which is the one that speaks of the whole field.
 */
function toFieldError(errors: readonly ErrorObject[]): ApiError {
  let best: ErrorObject | undefined;
  let bestDepth = -1;
  for (const error of errors) {
    const depth = pathOf(error).length;
    if (depth < bestDepth) continue;
    best = error;
    bestDepth = depth;
  }
  if (best === undefined)
    return new ApiError({ code: "invalid_request", message: "The request is not valid." });
  const param = toParam(pathOf(best));
  const expected = expectation(best);
  const isMissing =
    best.keyword === "required" ||
    (best.keyword === "discriminator" &&
      best.params["error"] === "tag" &&
      best.params["tagValue"] === undefined);
  return fieldError(
    param,
    isMissing ? `is missing: it must be ${expected}` : `must be ${expected}`,
  );
}

/** The way to the field in question; what is missing is the field itself, not its parent. */
function pathOf(error: ErrorObject): readonly string[] {
  const path = error.instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (error.keyword === "required") return [...path, String(error.params["missingProperty"])];
  return error.keyword === "discriminator" ? [...path, String(error.params["tag"])] : path;
}

function expectation(error: ErrorObject): string {
  const schema = error.keyword === "required" ? propertySchema(error) : error.parentSchema;
  const words: unknown = schema?.[error.keyword === "discriminator" ? "x-tag" : "x-says"];
  if (typeof words === "string") return words;
  return (error.message ?? "valid").replace(/^must be /, "");
}

function propertySchema(error: ErrorObject): Record<string, unknown> | undefined {
  return error.parentSchema?.["properties"]?.[String(error.params["missingProperty"])];
}

/** messages[0].role, as the SDKs know it. */
function toParam(path: readonly string[]): string {
  return path.reduce(
    (text, step) =>
      /^\d+$/.test(step) ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`,
    "",
  );
}
