import { Ajv, type ValidateFunction } from "ajv";
import { chatRequest } from "../../src/wire/v1/chat/request.ts";
import { embeddingRequest } from "../../src/wire/v1/embeddings/request.ts";
import { ownKeywords } from "../../src/wire/v1/schema.ts";
import { speechRequest } from "../../src/wire/v1/speech/request.ts";
import { problemsOf } from "../replies/conformance.ts";
import type { BodyKind } from "./cases/bodies.ts";

/** A validator of its own, so that the gateway's is not judged by itself. */
const ajv = new Ajv({ discriminator: true, strict: false, strictNumbers: true }).addVocabulary([
  ...ownKeywords,
]);

const requests: Readonly<Record<BodyKind, ValidateFunction>> = {
  chat: ajv.compile(chatRequest),
  "text-embeddings": ajv.compile(embeddingRequest),
  "media-embeddings": ajv.compile(embeddingRequest),
  speech: ajv.compile(speechRequest),
};

/** Half of a surrogate pair is no text, which a schema cannot say. */
const isBroken = (value: unknown) => typeof value === "string" && !value.isWellFormed();

/** Whether the contract refuses a body: then nothing but 400 is right. */
export function isRefused(kind: BodyKind, text: string): boolean {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return true;
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return true;
  const fields = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  if (kind === "speech" && [fields["input"], fields["instructions"]].some(isBroken)) return true;
  return !requests[kind](fields);
}

/** What is wrong with a reply by its schema; undefined when nothing is. */
export function replyProblem(kind: keyof typeof problemsOf, value: unknown): string | undefined {
  const [first] = problemsOf[kind](value);
  return first === undefined ? undefined : `${kind} reply: ${first}`;
}
