import { ApiError } from "../../base/errors.ts";
import { isJsonObject, type Json } from "../../call/chat.ts";

/**
 * JSON can spell half of a surrogate pair ("\ud800"), which is no text and has no form in UTF-8.
 * Many servers answer 500 to it, so it is refused here, with the field that holds it.
 */
const problem = "must be valid Unicode. It contains a lone surrogate, such as \\ud800";

export function checkText(field: string, text: string): void {
  if (!text.isWellFormed()) throw refusal(field);
}

/** Names the place in a value that is known to hold one. */
export function illFormed(field: string, value: Json | undefined): ApiError {
  return refusal(placeIn(field, value) ?? field);
}

/** A name from outside goes into a message: it is not endless, and text. */
const maxNameChars = 64;

function placeIn(field: string, value: Json | undefined): string | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : field;
  if (Array.isArray(value)) {
    for (const [at, inner] of value.entries()) {
      const place = placeIn(`${field}[${at}]`, inner);
      if (place !== undefined) return place;
    }
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  for (const name in value) {
    const place = name.isWellFormed()
      ? placeIn(`${field}.${name.slice(0, maxNameChars).toWellFormed()}`, value[name])
      : field;
    if (place !== undefined) return place;
  }
  return undefined;
}

function refusal(param: string): ApiError {
  return new ApiError({ code: "invalid_request", param, message: `${param} ${problem}.` });
}
