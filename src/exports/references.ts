import { invalid } from "../base/problem.ts";
import { isReserved, reservedVariable } from "../base/reserved-variable.ts";
import { readSecretFile, SecretFileTrouble } from "../base/secret-file.ts";
import { DeliveryFailure } from "./delivery-failure.ts";

/** Where a secret is: `env:NAME` or `file:/path`. The secret itself is never stored or shown. */
export type Reference = string;

const environmentForm = /^env:([A-Za-z_][A-Za-z0-9_]*)$/;
const fileForm = /^file:(\/.+)$/;

export function checkReference(text: string, field: string): Reference {
  if (isReserved(variableIn(text) ?? "")) throw invalid({ [field]: reservedVariable });
  if (environmentForm.test(text) || fileForm.test(text)) return text;
  // What was given may be the secret: it is not repeated.
  throw invalid({
    [field]: `${field} must be env:NAME or file:/path, and not the secret itself, which other users of the machine could see.`,
  });
}

/** Undefined for a file. */
export const variableIn = (reference: Reference): string | undefined =>
  environmentForm.exec(reference)?.[1];

/** Read for each pass, so that a file or a vault can replace it. Throws a `DeliveryFailure`. */
export function readReference(
  reference: Reference,
  variable: (name: string) => string | undefined,
): string {
  const name = variableIn(reference);
  if (name !== undefined) return fromEnvironment(name, variable);
  const path = fileForm.exec(reference)?.[1] ?? "";
  try {
    return checkText(readSecretFile(path).text, path);
  } catch (cause) {
    if (!(cause instanceof SecretFileTrouble)) throw cause;
    throw new DeliveryFailure(`${path} ${cause.message}`, { isFinal: true, cause });
  }
}

function fromEnvironment(name: string, variable: (name: string) => string | undefined): string {
  // A row that is already stored may name one.
  const text = isReserved(name) ? "" : (variable(name)?.trim() ?? "");
  if (text !== "") return checkText(text, name);
  throw new DeliveryFailure(`the environment of the gateway has no ${name}`, { isFinal: true });
}

/** It becomes part of a header. */
function checkText(text: string, place: string): string {
  if (/^[\t -~]+$/.test(text)) return text;
  throw new DeliveryFailure(`${place} has characters that a header cannot have`, { isFinal: true });
}
