import { Ajv, type ValidateFunction } from "ajv";
import type { TSchema } from "typebox";
import {
  messageReply,
  messagesErrorReply,
  messagesModel,
  messagesModelList,
  tokenCount,
} from "../../src/wire/v1/messages/replies.ts";
import { completion, completionChunk } from "../../src/wire/v1/openapi/completion-replies.ts";
import {
  chatCompletion,
  chatCompletionChunk,
  embeddingResponse,
  errorReply,
  model,
  modelList,
} from "../../src/wire/v1/openapi/replies.ts";
import {
  deletedResponse,
  responseItems,
  responseReply,
} from "../../src/wire/v1/openapi/response-replies.ts";
import {
  transcriptionReply,
  verboseTranscription,
} from "../../src/wire/v1/openapi/transcription-replies.ts";
import { ownKeywords } from "../../src/wire/v1/schema.ts";

/** Holds replies to the schemas of the contract. */
const ajv = new Ajv({ strict: false, allErrors: true, strictNumbers: true }).addVocabulary([
  ...ownKeywords,
]);

function problems(schema: TSchema): (value: unknown) => readonly string[] {
  let compiled: ValidateFunction | undefined;
  return (value) => {
    compiled ??= ajv.compile(schema);
    if (compiled(value)) return [];
    return (compiled.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

export const problemsOf = {
  chat: problems(chatCompletion),
  chunk: problems(chatCompletionChunk),
  completion: problems(completion),
  completionChunk: problems(completionChunk),
  embeddings: problems(embeddingResponse),
  models: problems(modelList),
  model: problems(model),
  transcription: problems(transcriptionReply),
  verboseTranscription: problems(verboseTranscription),
  error: problems(errorReply),
  message: problems(messageReply),
  count: problems(tokenCount),
  messagesError: problems(messagesErrorReply),
  messagesModel: problems(messagesModel),
  messagesModels: problems(messagesModelList),
  response: problems(responseReply),
  deletedResponse: problems(deletedResponse),
  responseItems: problems(responseItems),
};

/** What is wrong with a JSON reply of this path; nothing, if it is no JSON. */
export async function replyProblems(path: string, response: Response): Promise<readonly string[]> {
  if (response.headers.get("content-type") !== "application/json") return [];
  const body: unknown = await response.clone().json();
  // The Messages format names its request ids so.
  if (response.headers.has("request-id")) return messagesProblems(path, response.status, body);
  if (response.status >= 400) return problemsOf.error(body);
  if (path.startsWith("/chat/completions")) return problemsOf.chat(body);
  if (path.startsWith("/completions")) return problemsOf.completion(body);
  if (path.startsWith("/responses")) return storedProblems(path, body);
  if (path.startsWith("/embeddings")) return problemsOf.embeddings(body);
  if (path.startsWith("/audio/transcriptions"))
    return typeof body === "object" && body !== null && "task" in body
      ? problemsOf.verboseTranscription(body)
      : problemsOf.transcription(body);
  if (/^\/models\/./.test(path)) return problemsOf.model(body);
  return path.startsWith("/models") ? problemsOf.models(body) : [`JSON from ${path}`];
}

function messagesProblems(path: string, status: number, body: unknown): readonly string[] {
  if (status >= 400) return problemsOf.messagesError(body);
  if (path.startsWith("/messages/count_tokens")) return problemsOf.count(body);
  if (path.startsWith("/messages")) return problemsOf.message(body);
  return /^\/models\/./.test(path)
    ? problemsOf.messagesModel(body)
    : problemsOf.messagesModels(body);
}

function storedProblems(path: string, body: unknown): readonly string[] {
  if (path.includes("/input_items")) return problemsOf.responseItems(body);
  const isDeleted = typeof body === "object" && body !== null && "deleted" in body;
  return isDeleted ? problemsOf.deletedResponse(body) : problemsOf.response(body);
}
