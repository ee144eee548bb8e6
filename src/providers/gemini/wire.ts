import { ApiError } from "../../base/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";

export interface Part {
  readonly text?: string;
  readonly inlineData?: InlineData;
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args: Json };
  readonly functionResponse?: {
    readonly id?: string;
    readonly name: string;
    readonly response: JsonObject;
    /** Images and documents, for models that take them there. */
    readonly parts?: readonly { readonly inlineData: InlineData }[];
  };
  readonly thoughtSignature?: string;
}

export interface InlineData {
  readonly mimeType: string;
  readonly data: string;
}

export interface Content {
  readonly role: "user" | "model";
  readonly parts: Part[];
}

/** The caller's mistake, which another target may not see as one, but which we cannot put into words. */
export function fieldError(param: string, problem: string): ApiError {
  return new ApiError({ code: "invalid_request", param, message: `${param} ${problem}.` });
}

/** Headers of data URIs are short; the bound keeps the search off megabytes of base64. */
const maxHeaderChars = 256;

/** `data:<type>[;…];base64,<data>`, or undefined. */
export function fromDataUri(uri: string): InlineData | undefined {
  const start = uri.slice(0, maxHeaderChars);
  const comma = start.indexOf(",");
  const header = start.slice(0, Math.max(comma, 0)).toLowerCase();
  if (!header.startsWith("data:") || !header.endsWith(";base64")) return undefined;
  const mimeType = header.slice(5, header.indexOf(";"));
  return mimeType === "" ? undefined : { mimeType, data: uri.slice(comma + 1) };
}

/** Objects of a list that may be none. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The model's name in a path: operators may write the vendor's `models/` before it. */
export function withoutFolder(model: string): string {
  return model.startsWith("models/") ? model.slice("models/".length) : model;
}
