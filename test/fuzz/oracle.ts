import { Ajv, type ValidateFunction } from "ajv";
import { ownKeywords } from "../../src/wire/v1/schema.ts";
import { problemsOf } from "../replies/conformance.ts";
import { type BodyKind, kinds } from "./cases/body-kinds.ts";

/** A validator of its own, so that the gateway's is not judged by itself. */
const ajv = new Ajv({ discriminator: true, strict: false, strictNumbers: true }).addVocabulary([
  ...ownKeywords,
]);

const validators = new Map<BodyKind, ValidateFunction>();

/** Half of a surrogate pair is no text, which a schema cannot say. */
const isBroken = (value: unknown) => typeof value === "string" && !value.isWellFormed();

/** Items of a response without a type are messages or references. */
function typed(item: unknown): unknown {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
  const { type, role, id } = item as Readonly<Record<string, unknown>>;
  if (typeof type === "string") return item;
  return { ...item, type: role === undefined && id !== undefined ? "item_reference" : "message" };
}

/** Whether the contract refuses a body: then nothing but 400 is right. Undefined is no JSON. */
export function isRefused(kind: BodyKind, body: unknown): boolean {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return true;
  const fields: Record<string, unknown> = Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== null),
  );
  if (kind === "responses" && Array.isArray(fields["input"]))
    fields["input"] = fields["input"].map(typed);
  if (kind === "speech" && [fields["input"], fields["instructions"]].some(isBroken)) return true;
  const isValid = validators.get(kind) ?? ajv.compile(kinds[kind].schema);
  validators.set(kind, isValid);
  return !isValid(fields);
}

/** What is wrong with a reply by its schema; undefined when nothing is. */
export function replyProblem(kind: keyof typeof problemsOf, value: unknown): string | undefined {
  const [first] = problemsOf[kind](value);
  return first === undefined ? undefined : `${kind} reply: ${first}`;
}
