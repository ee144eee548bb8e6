import type { JsonObject } from "../../call/chat.ts";

/**
 * The bytes of all fields that are not known here. A vendor that gets the caller's own request may
 * read them as part of the prompt, so they are held for: nothing that goes upstream is free.
 */
export function otherBytes(owner: JsonObject, known: ReadonlySet<string>): number {
  let bytes = 0;
  for (const name in owner) {
    if (known.has(name)) continue;
    const value = owner[name];
    bytes += Buffer.byteLength(name);
    if (value !== undefined && value !== null) bytes += jsonBytes(value);
  }
  return bytes;
}

/** Of a value as it goes upstream. */
export const jsonBytes = (value: NonNullable<JsonObject[string]>) =>
  Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
