import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { type Fields, isFields, type Owner } from "../model.ts";

/**
 * What a vendor signs or encrypts, and wants back as it was: a package's name for it, and ours.
 * Nothing else goes either way. What comes back is the caller's word, and fields beside these would
 * ask for longer caches and tools that cost, or name what the operator's account keeps of others.
 */
const names = [
  ["signature", "signature"],
  ["redactedData", "data"],
  ["redactedContent", "redacted_content"],
] as const;

const maxLength = 1024 * 1024;

/** For the caller, to be sent back: `format` is a mark of whose it is, and no name. */
export function toCarried(metadata: unknown, { mark }: Owner): JsonObject | undefined {
  if (!isFields(metadata)) return undefined;
  // Some packages tell the same under an old and a new name.
  for (const told of Object.values(metadata)) {
    if (!isFields(told)) continue;
    const carried: Record<string, Json> = {};
    for (const [theirs, ours] of names) {
      const value = told[theirs];
      if (isBounded(value)) carried[ours] = value;
    }
    if (Object.keys(carried).length > 0) return { format: mark, ...carried };
  }
  return undefined;
}

/** As the package takes it; undefined where it is of another vendor, which could not read it. */
export function fromCarried(
  given: Json | undefined,
  { mark, key }: Owner,
): { readonly providerOptions: Fields } | undefined {
  if (!isJsonObject(given) || given["format"] !== mark) return undefined;
  const fields: Record<string, string> = {};
  for (const [theirs, ours] of names) {
    const value = given[ours];
    if (isBounded(value)) fields[theirs] = value;
  }
  if (Object.keys(fields).length === 0) return undefined;
  return { providerOptions: { [key]: fields } };
}

function isBounded(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= maxLength;
}
